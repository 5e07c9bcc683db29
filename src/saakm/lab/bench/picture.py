# SPDX-License-Identifier: GPL-2.0
"""Box plots: a panel a figure, a box a scheduler."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 4
# Okabe and Ito's, which the colour-blind can tell apart; black text stays readable on them.
COLORS = ("#999999", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")


def draw(found: Sequence[Figure], names: Sequence[str], paths: Sequence[Path]) -> None:
    """Into each of the files; the name's end says in which format."""
    # Slow to import, and seldom wanted.
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # The same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "saakm"
    columns = min(_COLUMNS, len(found))
    lines = math.ceil(len(found) / columns)
    height = 1.0 + 0.3 * len(names)
    figure, axes = pyplot.subplots(
        lines, columns, squeeze=False, layout="constrained", figsize=(3.6 * columns, height * lines)
    )
    panels = list(axes.flat)
    for panel, one in zip(panels, found):
        _panel(panel, one, [name for name in names if name in one.values], names)
    for panel in panels[len(found) :]:
        panel.set_axis_off()
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
    pyplot.close(figure)


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
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def color(name: str, names: Sequence[str]) -> str:
    """The same in every picture of these schedulers."""
    return COLORS[list(names).index(name) % len(COLORS)]
