# SPDX-License-Identifier: GPL-2.0
"""Box plots: a panel a figure, a box a scheduler."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...view.plot import canvas, color, save, without_frame
from .figures import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 4


def draw(found: Sequence[Figure], names: Sequence[str], paths: Sequence[Path]) -> None:
    """Draws into each of the files; the name's end says in which format."""
    height = 1.0 + 0.3 * len(names)
    picture, panels = canvas(len(found), _COLUMNS, (3.6, height))
    for panel, one in zip(panels, found):
        _panel(panel, one, [name for name in names if name in one.values], names)
    save(picture, paths)


def _panel(panel: "Axes", figure: Figure, present: list[str], names: Sequence[str]) -> None:
    boxes = panel.boxplot(
        [figure.values[name] for name in present],
        orientation="horizontal",
        tick_labels=present,
        patch_artist=True,
        widths=0.6,
        showfliers=False,
        medianprops={"color": "black"},
    )
    for name, box in zip(present, boxes["boxes"]):
        box.set_facecolor(color(name, names))
    for line, name in enumerate(present, 1):
        values = figure.values[name]
        panel.plot(values, [line] * len(values), ".", color="black", markersize=3, zorder=3)
    direction = "less" if figure.better == "lower" else "more"
    panel.set_title(figure.name, loc="left", fontsize=9)
    panel.set_xlabel(f"{figure.unit}, {direction} is better", fontsize=8)
    panel.invert_yaxis()
    panel.tick_params(labelsize=8)
    panel.locator_params(axis="x", nbins=4)
    without_frame(panel, "top", "right")
