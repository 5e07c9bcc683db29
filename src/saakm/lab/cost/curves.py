# SPDX-License-Identifier: GPL-2.0
"""Figures along an axis: as a table, and as curves over a logarithmic scale."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ...base import paths
from ...model.cost_rows import Row
from ...view.plot import canvas, plain_numbers, save, without_frame
from ...view.terminal import figure, name, table
from .axes import AXES, axis_of
from .printed import by_operation, show_kernel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3


def table_of(rows: list[Row]) -> tuple[list[int], dict[str, dict[int, float]]]:
    """Returns, for one operation, the values of the axis and each scheduler's figures."""
    value = AXES[axis_of(rows)].value
    figures: dict[str, dict[int, float]] = {}
    for row in rows:
        figures.setdefault(row.scheduler, {})[value(row)] = row.instructions
    return sorted({value(row) for row in rows}), figures


def described(scheduler: str) -> str:
    """Adds what kind of runqueue a policy has."""
    code = "".join(file.read_text() for file in (paths.POLICIES / scheduler).glob("*.c"))
    # Who names none has what the class keeps by default.
    queues = sorted(set(re.findall(r"\bSAAKM_RQ_([A-Z]+)\b", code))) or ["FIFO"]
    return f"{scheduler} ({', '.join(queues)})" if code else scheduler


def show(rows: list[Row], console: Console) -> None:
    for operation, group in by_operation(rows).items():
        if not axis_of(group):
            continue
        values, figures = table_of(group)
        columns = (figure(f"{value:,}") for value in values)
        title = f"{operation}: instructions by {AXES[axis_of(group)].what}"
        shown = table(title, name("scheduler"), *columns)
        for scheduler, points in figures.items():
            shown.add_row(
                described(scheduler), *(f"{points[v]:,.0f}" if v in points else "" for v in values)
            )
        console.print(shown)
    show_kernel(rows, console)


def draw(rows: list[Row], paths: list[Path]) -> None:
    axis = AXES[axis_of(rows)]
    groups = {name: group for name, group in by_operation(rows).items() if axis_of(group)}
    picture, panels = canvas(len(groups), _COLUMNS, (4.8, 3.8))
    names = list(dict.fromkeys(row.scheduler for row in rows))
    for panel, (operation, group) in zip(panels, groups.items()):
        _panel(panel, operation, group, names)
    handles = {str(line.get_label()): line for panel in panels for line in panel.get_lines()}
    picture.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles), 6),
        frameon=False,
        fontsize=9,
    )
    picture.suptitle(f"instructions an operation, by {axis.what}")
    save(picture, paths)


def _panel(panel: "Axes", operation: str, group: list[Row], names: list[str]) -> None:
    values, figures = table_of(group)
    for scheduler, points in figures.items():
        # The same colour in every panel.
        panel.plot(
            list(points),
            list(points.values()),
            marker="o",
            markersize=4,
            color=f"C{names.index(scheduler)}",
            label=described(scheduler),
        )
    panel.set_xscale("log", base=10 if values[-1] > 100 else 2)
    panel.set_xticks(values, [f"{value:,}" for value in values], fontsize=8)
    panel.minorticks_off()
    top = max(max(points.values()) for points in figures.values())
    low = min(min(points.values()) for points in figures.values())
    # From zero, as bars; a curve that leaves the others behind by far needs the logarithm.
    if top > 5 * low:
        panel.set_yscale("log")
        plain_numbers(panel.yaxis)
    else:
        panel.set_ylim(0, top * 1.1)
    panel.set_title(operation, loc="left", fontsize=10)
    panel.grid(alpha=0.3)
    without_frame(panel, "top", "right")
