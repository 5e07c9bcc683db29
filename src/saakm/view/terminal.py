# SPDX-License-Identifier: GPL-2.0
"""Tables on a terminal."""

from rich.console import Console
from rich.table import Column, Table

_LOG_WIDTH = 140


def widened(console: Console) -> Console:
    """A log has no width; a column that is cut off in it is lost."""
    if not console.is_terminal:
        console.width = max(console.width, _LOG_WIDTH)
    return console


def table(title: str, *columns: Column | str) -> Table:
    """A column that is a mere name holds text, which may be wrapped."""
    return Table(*columns, title=title or None, title_justify="left")


def label(header: str) -> Column:
    """Holds names, which are never wrapped: somebody may type them."""
    return Column(header, no_wrap=True)


def name(header: str) -> Column:
    """Holds names of any length, which are folded where a table has no room for them."""
    return Column(header, overflow="fold")


def figure(header: str) -> Column:
    """Holds numbers, which are aligned."""
    return Column(header, justify="right", no_wrap=True)
