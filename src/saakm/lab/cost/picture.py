# SPDX-License-Identifier: GPL-2.0
"""Figures as a picture: a panel an operation, a bar a scheduler."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from .measure import Row
from .show import by_operation, compared_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3


def draw(rows: list[Row], paths: list[Path]) -> None:
    """Into each of the files; the name's end says in which format."""
    groups = by_operation(rows)
    height = 0.9 + 0.28 * max(len(group) for group in groups.values())
    figure, panels = canvas(len(groups), _COLUMNS, (4.2, height))
    for panel, (name, group) in zip(panels, groups.items()):
        _panel(panel, name, group)
    base = compared_with(rows).scheduler
    figure.suptitle(f"instructions an operation, and the difference to {base}")
    save(figure, paths)


def canvas(
    panels: int, most_columns: int, size: tuple[float, float]
) -> tuple["Figure", list["Axes"]]:
    """A figure with so many panels of that size, in inches."""
    # Slow to import, and seldom wanted.
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # The same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "saakm"
    columns = min(most_columns, panels)
    lines = math.ceil(panels / columns)
    figure, axes = pyplot.subplots(
        lines,
        columns,
        squeeze=False,
        layout="constrained",
        figsize=(size[0] * columns, size[1] * lines),
    )
    for empty in list(axes.flat)[panels:]:
        empty.set_axis_off()
    return figure, list(axes.flat)[:panels]


def save(figure: "Figure", paths: list[Path]) -> None:
    from matplotlib import pyplot

    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
    pyplot.close(figure)


def _panel(panel: "Axes", name: str, group: list[Row]) -> None:
    zero = compared_with(group)
    colors = [
        "tab:gray"
        if row is zero
        else "tab:green"
        if row.instructions <= zero.instructions
        else "tab:red"
        for row in group
    ]
    bars = panel.barh(
        [row.scheduler for row in group], [row.instructions for row in group], color=colors
    )
    labels = [
        f"{row.instructions:,.0f}"
        + ("" if row is zero else f"  {row.instructions / zero.instructions - 1:+.1%}")
        for row in group
    ]
    panel.bar_label(bars, labels, padding=3, fontsize=8)
    panel.set_title(name, loc="left", fontsize=10)
    panel.set_xlim(0, max(row.instructions for row in group) * 1.5)
    panel.invert_yaxis()
    panel.tick_params(labelsize=8)
    panel.xaxis.set_visible(False)
    for side in ("top", "right", "bottom"):
        panel.spines[side].set_visible(False)
