# SPDX-License-Identifier: GPL-2.0
"""Tables as in the commit messages of kernel schedulers.

    hackbench-process-pipe (s)
                        fair               fifo
    Amean  1   0.266 (  0.00%)    0.215 * 19.07%*
    Stddev 1   0.011 (  0.00%)    0.009 ( 18.18%)

Better is positive. Stars instead of brackets: more than noise.
"""

import math
from collections.abc import Sequence

from . import stats
from .figures import Figure, tables

_DIGITS = 5  # that count


def plain(found: Sequence[Figure], names: Sequence[str], intervals: bool = True) -> str:
    """`intervals`: with rows that say where the means lie, which commit messages have not."""
    return "\n\n".join(
        table(title, group, names, intervals) for title, group in tables(found).items()
    )


def table(title: str, group: Sequence[Figure], names: Sequence[str], intervals: bool = True) -> str:
    names = [name for name in names if any(name in figure.values for figure in group)]
    rows = [_mean(figure, names) for figure in group]
    rows += [_interval(figure, names) for figure in group] if intervals else []
    rows += [_stddev(figure, names) for figure in group]
    kind, label = (max(len(row[n]) for row in rows) for n in (0, 1))
    width = max(len(name) for name in names)
    width = max([width, *(len(cell) for row in rows for cell in row[2])])
    lines = [f"{title} ({group[0].unit}, {group[0].meaning})"]
    lines.append(" " * (kind + label + 1) + "".join(f"  {name:>{width}}" for name in names))
    for what, point, cells in rows:
        lines.append(
            f"{what:<{kind}} {point:<{label}}" + "".join(f"  {cell:>{width}}" for cell in cells)
        )
    return "\n".join(line.rstrip() for line in lines)


Row = tuple[str, str, list[str]]


def _mean(figure: Figure, names: Sequence[str]) -> Row:
    cells = []
    base = _base(figure, names)
    for name in names:
        if name not in figure.values:
            cells.append(_none())
            continue
        difference = figure.difference(base, name)
        sure = name != base and difference.verdict in (stats.WON, stats.LOST)
        cells.append(number(figure.summary(name).mean) + per_cent(difference.percent, sure))
    return stats.mean_name(figure.better), figure.label, cells


def _stddev(figure: Figure, names: Sequence[str]) -> Row:
    base = _base(figure, names)
    zero, like = figure.stddev(base), figure.summary(base).mean
    cells = []
    for name in names:
        if name not in figure.values:
            cells.append(_none())
            continue
        value = figure.stddev(name)
        cells.append(number(value, like) + per_cent(stats.gain(zero, value, "lower")))
    return "Stddev", figure.label, cells


def _interval(figure: Figure, names: Sequence[str]) -> Row:
    cells = []
    for name in names:
        if name not in figure.values:
            cells.append(_none())
            continue
        summary = figure.summary(name)
        cells.append(f"{number(summary.low, summary.mean)} .. {number(summary.high, summary.mean)}")
    return "CI95", figure.label, cells


def _base(figure: Figure, names: Sequence[str]) -> str:
    return next(name for name in names if name in figure.values)


def _none() -> str:
    return "-"


def number(value: float, like: float | None = None) -> str:
    """Prints the digits that tell runs apart; with `like`, as many decimals as that one has."""
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "inf"
    scale = abs(value if like is None else like)
    whole = math.floor(math.log10(scale)) + 1 if scale else _DIGITS
    return f"{value:.{min(max(_DIGITS - whole, 2 if whole < 7 else 0), 9)}f}"


def per_cent(percent: float, sure: bool = False) -> str:
    text = "      -" if math.isnan(percent) else f"{percent:6.2f}%"
    return f" *{text}*" if sure else f" ({text})"
