# SPDX-License-Identifier: GPL-2.0
"""Figures on a terminal."""

from itertools import groupby

from rich.bar import Bar
from rich.console import Console
from rich.table import Column

from ...model.cost_rows import Row
from ...view.terminal import figure, label, name, table
from .baseline import FLOOR, Change
from .goals import Verdict
from .operations import OPERATIONS, meaning

_BAR_WIDTH = 20


def compared_with(rows: list[Row]) -> Row:
    """The scheduler whose figure is 0 %."""
    return next((row for row in rows if row.scheduler == "sched_fifo"), rows[0])


def compared(row: Row, zero: Row | None) -> str:
    if row is zero or not zero:
        return f"{row.instructions:,.0f}"
    return f"{row.instructions:,.0f} ({row.instructions / zero.instructions - 1:+.1%})"


def by_operation(rows: list[Row]) -> dict[str, list[Row]]:
    """In the usual order; last, what only a later version knows."""
    order = list(dict.fromkeys([*OPERATIONS, *(row.operation for row in rows)]))
    ordered = sorted(rows, key=lambda row: order.index(row.operation))  # stable
    return {name: list(group) for name, group in groupby(ordered, lambda row: row.operation)}


def show(rows: list[Row], console: Console) -> None:
    base = compared_with(rows).scheduler
    several = len(rows[0].seeds) > 1
    besides = any(row.besides for row in rows)
    shown = table(
        _title(rows[0]),
        label("operation"),
        name("scheduler"),
        *(["loaded"] if besides else []),
        figure("instructions"),
        *([figure("spread")] if several else []),
        Column(f"to {base}", justify="right", overflow="fold"),  # it may be a path
        Column("", width=_BAR_WIDTH),
    )
    for operation, group in by_operation(rows).items():
        zero, largest = compared_with(group), max(row.instructions for row in group)
        for row in group:
            shown.add_row(
                operation if row is group[0] else "",
                row.scheduler,
                *([" ".join(row.loaded)] if besides else []),
                f"{row.instructions:,.0f}",
                *([f"{row.spread:.2%}"] if several else []),
                "" if row is zero else f"{row.instructions / zero.instructions - 1:+.1%}",
                Bar(largest, 0, row.instructions, width=_BAR_WIDTH, color=_color(row, zero)),
            )
        shown.add_section()
    console.print(shown)
    show_kernel(rows, console)
    for operation in by_operation(rows):
        console.print(f"{operation}: {meaning(operation)}", style="dim", highlight=False)


def show_kernel(rows: list[Row], console: Console) -> None:
    if said := kernel_of(rows[0]):
        console.print(said, highlight=False)


def show_verdicts(verdicts: list[Verdict], console: Console) -> None:
    if not verdicts:
        return
    shown = table("goals", "goal", figure("measured"), "")
    for v in verdicts:
        style = "green" if v.reached else "red"
        shown.add_row(v.goal, v.measured, "reached" if v.reached else "missed", style=style)
    console.print(shown)


def _title(row: Row) -> str:
    cpus = "1 CPU" if row.cpus == 1 else f"{row.cpus} CPUs"
    more = f", {row.runnable} more runnable threads" if row.runnable else ""
    features = f", {','.join(row.features)}" if row.features else ""
    return f"instructions an operation, {cpus}{more}{features}"


def kernel_of(row: Row) -> str:
    """Empty in files that do not say it."""
    return f"Linux {row.kernel}, {row.preemption}" if row.kernel else ""


def _color(row: Row, zero: Row) -> str:
    if row is zero:
        return "blue"
    return "green" if row.instructions <= zero.instructions else "red"


def show_changes(changes: list[Change], console: Console) -> None:
    """Shows changes of counts, or of ratios."""
    if not changes:
        return
    what = f"ratios to {FLOOR}'s, " if changes[0].is_ratio else ""
    names, figures = map(label, ("operation", "scheduler")), ("baseline", "now", "change")
    shown = table(f"{what}against the baseline", *names, *map(figure, figures))
    for change in sorted(changes, key=lambda change: -change.part):
        shown.add_row(
            change.operation,
            change.scheduler,
            change.text(change.before),
            change.text(change.now),
            f"{change.part:+.2%}",
            style="red" if change.is_regression else None,
        )
    console.print(shown)
