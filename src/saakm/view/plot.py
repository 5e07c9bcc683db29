# SPDX-License-Identifier: GPL-2.0
"""Plots: a canvas of panels, and files that are the same for the same figures."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import BadInput
from ..base.files import check_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's, which the colour-blind can tell apart; black text stays readable on them.
COLORS = ("#999999", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
_FORMATS = (".svg", ".png")


def color(name: str, names: Sequence[str]) -> str:
    """The same in every picture of these schedulers."""
    return COLORS[list(names).index(name) % len(COLORS)]


def canvas(
    panels: int, most_columns: int, size: tuple[float, float]
) -> tuple["Figure", list["Axes"]]:
    """A figure with so many panels, each of `size` in inches."""
    # Slow to import, and seldom wanted.
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Else an SVG has other identifiers each time.
    matplotlib.rcParams["svg.hashsalt"] = "saakm"
    # A dollar in a name is a dollar.
    matplotlib.rcParams["text.parse_math"] = False
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


def without_frame(panel: "Axes", *sides: str) -> None:
    for side in sides:
        panel.spines[side].set_visible(False)


def plain_numbers(axis: "Axis") -> None:
    """As people write them: on a logarithmic axis matplotlib has formulas, which canvas() turns off."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(lambda value, _: "")


def prepare(paths: Sequence[Path]) -> None:
    """Refuses what save() could not write, before anybody measures for an hour."""
    for path in paths:
        if path.suffix not in _FORMATS:
            named = path if path.name else Path("picture")
            raise BadInput(
                f"{path} names no kind of picture",
                f"its end says which, and there are {', '.join(_FORMATS)}",
                f"for instance {named.with_suffix('.svg')}",
            )
        check_output(path)


def save(figure: "Figure", paths: Sequence[Path]) -> None:
    """Writes each of the files; the name's end says in which format. The figure is closed."""
    from matplotlib import pyplot

    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
    pyplot.close(figure)
