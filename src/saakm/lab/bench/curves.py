# SPDX-License-Identifier: GPL-2.0
"""What workloads yield as their load grows: a row of a table over its points, a curve for each scheduler."""

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from ...view.plot import canvas, color, plain_numbers, save, without_frame
from .figures import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 2
_MARKERS = "os^vDPX*<>"

Row = list[tuple[int, Figure]]  # a point, and what was measured there


def rows(found: Sequence[Figure]) -> dict[str, Row]:
    """Those that were measured at several points, by the name that their labels share."""
    groups: dict[str, Row] = {}
    for figure in found:
        row, _, point = figure.label.rpartition("-")
        if point.isdecimal():
            groups.setdefault(f"{figure.title} {row}".strip(), []).append((int(point), figure))
    return {name: row for name, row in groups.items() if len(row) > 1}


def draw(chosen: dict[str, Row], paths: Sequence[Path]) -> None:
    """Draws a panel for each, into each of the files."""
    picture, panels = canvas(len(chosen), _COLUMNS, (5.4, 4.2))
    names = list(dict.fromkeys(n for row in chosen.values() for _, one in row for n in one.values))
    for panel, (title, row) in zip(panels, chosen.items()):
        _panel(panel, title, row, names)
    handles = {str(line.get_label()): line for panel in panels for line in panel.get_lines()}
    picture.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False,
        fontsize=9,
    )  # fmt: skip
    save(picture, paths)


def _panel(panel: "Axes", title: str, row: Row, names: Sequence[str]) -> None:
    points = [point for point, _ in row]
    for name in dict.fromkeys(name for _, figure in row for name in figure.values):
        means = {point: fmean(one.values[name]) for point, one in row if name in one.values}
        panel.plot(
            list(means), list(means.values()), color=color(name, names), label=name,
            marker=_MARKERS[names.index(name) % len(_MARKERS)], markersize=5,
            linestyle="-" if names.index(name) < len(_MARKERS) // 2 else "--",
        )  # fmt: skip
    panel.set_xticks(points)
    low, top = (
        of(fmean(values) for _, one in row for values in one.values.values()) for of in (min, max)
    )
    # A logarithmic axis has numbers at powers of ten only: are there two of them?
    if low > 0 and floor(log10(top)) > ceil(log10(low)):
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, top * 1.1 or 1)
    plain_numbers(panel.yaxis)
    panel.set_ylabel(row[0][1].unit)
    panel.set_title(title, loc="left", fontsize=10)
    panel.grid(alpha=0.3)
    without_frame(panel, "top", "right")
