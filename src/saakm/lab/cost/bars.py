# SPDX-License-Identifier: GPL-2.0
"""Figures as a picture: a panel an operation, a bar a scheduler."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...model.cost_rows import Row
from ...view.plot import canvas, save, without_frame
from .printed import by_operation, compared_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3


def draw(rows: list[Row], paths: list[Path]) -> None:
    """Draws into each of the files; the name's end says in which format."""
    groups = by_operation(rows)
    height = 0.9 + 0.28 * max(len(group) for group in groups.values())
    figure, panels = canvas(len(groups), _COLUMNS, (4.2, height))
    for panel, (name, group) in zip(panels, groups.items()):
        _panel(panel, name, group)
    base = compared_with(rows).scheduler
    figure.suptitle(f"instructions an operation, and the difference to {base}")
    save(figure, paths)


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
    without_frame(panel, "top", "right", "bottom")
