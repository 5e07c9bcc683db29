# SPDX-License-Identifier: GPL-2.0
"""Curves out of characters, for a terminal."""

from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"


def curve(values: Sequence[float], width: int, height: int = 1) -> list[str]:
    """Lines from the top; the latest value stands at the right end, zero at the bottom.

    A value takes a column. Of more values than columns the latest are shown.
    """
    shown = list(values)[-width:]
    top = max(shown, default=0.0)
    eighths = [round(value / top * height * 8) if top > 0 else 0 for value in shown]
    # What is there at all is seen.
    eighths = [max(n, 1) if value > 0 else n for n, value in zip(eighths, shown)]
    lines = []
    for row in reversed(range(height)):
        cells = "".join(_BLOCKS[min(max(n - row * 8, 0), 8)] for n in eighths)
        lines.append(cells.rjust(width))
    return lines


def bar(part: float, width: int) -> str:
    """Is as long as `part` of the width, to an eighth of a character."""
    n = round(min(max(part, 0.0), 1.0) * width * 8)
    rest = "▏▎▍▌▋▊▉"[n % 8 - 1] if n % 8 else ""
    return "█" * (n // 8) + rest
