# SPDX-License-Identifier: GPL-2.0
"""Figures on a terminal."""

from itertools import groupby

from rich.bar import Bar
from rich.console import Console
from rich.table import Table

from .baseline import FLOOR, Change
from .goals import Verdict
from .measure import Row
from .operations import OPERATIONS

_BAR_WIDTH = 20


def compared_with(rows: list[Row]) -> Row:
    """The scheduler whose figure is 0 %."""
    return next((row for row in rows if row.scheduler == "sched_fifo"), rows[0])


def compared(row: Row, zero: Row | None) -> str:
    if row is zero or not zero:
        return f"{row.instructions:,.0f}"
    return f"{row.instructions:,.0f} ({row.instructions / zero.instructions - 1:+.1%})"


def by_operation(rows: list[Row]) -> dict[str, list[Row]]:
    order = list(OPERATIONS)
    ordered = sorted(rows, key=lambda row: order.index(row.operation))  # stable
    return {name: list(group) for name, group in groupby(ordered, lambda row: row.operation)}


def show(rows: list[Row], console: Console) -> None:
    base = compared_with(rows).scheduler
    several = len(rows[0].seeds) > 1
    table = Table(title=_title(rows[0]), title_justify="left")
    for column in ("operation", "scheduler"):
        table.add_column(column, no_wrap=True)
    if besides := any(row.loaded not in ([], [row.scheduler]) for row in rows):
        table.add_column("loaded")
    table.add_column("instructions", justify="right", no_wrap=True)
    if several:
        table.add_column("spread", justify="right")
    table.add_column(f"to {base}", justify="right", no_wrap=True)
    table.add_column("", width=_BAR_WIDTH)
    for name, group in by_operation(rows).items():
        zero, largest = compared_with(group), max(row.instructions for row in group)
        for row in group:
            table.add_row(
                name if row is group[0] else "",
                row.scheduler,
                *([" ".join(row.loaded)] if besides else []),
                f"{row.instructions:,.0f}",
                *([f"{row.spread:.2%}"] if several else []),
                "" if row is zero else f"{row.instructions / zero.instructions - 1:+.1%}",
                Bar(largest, 0, row.instructions, width=_BAR_WIDTH, color=_color(row, zero)),
            )
        table.add_section()
    console.print(table)
    for name in by_operation(rows):
        console.print(f"{name}: {OPERATIONS[name].what}", style="dim", highlight=False)


def show_verdicts(verdicts: list[Verdict], console: Console) -> None:
    if not verdicts:
        return
    table = Table(title="goals", title_justify="left")
    table.add_column("goal")
    table.add_column("measured", justify="right")
    table.add_column("")
    for v in verdicts:
        style = "green" if v.reached else "red"
        table.add_row(v.goal, v.measured, "reached" if v.reached else "missed", style=style)
    console.print(table)


def _title(row: Row) -> str:
    cpus = "1 CPU" if row.cpus == 1 else f"{row.cpus} CPUs"
    more = f", {row.runnable} more runnable threads" if row.runnable else ""
    return f"instructions an operation, {cpus}{more}"


def _color(row: Row, zero: Row) -> str:
    if row is zero:
        return "blue"
    return "green" if row.instructions <= zero.instructions else "red"


def show_changes(changes: list[Change], console: Console) -> None:
    """Of counts, or of ratios."""
    if not changes:
        return
    title = f"ratios to {FLOOR}'s, " if changes[0].is_ratio else ""
    table = Table(title=f"{title}against the baseline", title_justify="left")
    for column in ("operation", "scheduler", "baseline", "now", "change"):
        table.add_column(column, justify="left" if column[0] in "os" else "right")
    for change in sorted(changes, key=lambda change: -change.part):
        table.add_row(
            change.operation,
            change.scheduler,
            change.text(change.before),
            change.text(change.now),
            f"{change.part:+.2%}",
            style="red" if change.is_dearer else None,
        )
    console.print(table)
