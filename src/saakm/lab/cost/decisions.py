# SPDX-License-Identifier: GPL-2.0
"""What a decision in user space adds to one of the kernel's: of agents beside the policy fifo."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from ...builder import agents
from ...model.cost_rows import Row
from ...view.terminal import figure, label, table

BASE = "fifo"
# Of one operation: threads that the agent is asked about. All are on one CPU, which is not idle
# when they wake up, so that the kernel places none by itself.
PER_OPERATION = {"pipe": 2, "futex": 2, "eventfd": 2, "yield": 1, "crowd": 1}


@dataclass(frozen=True)
class Decision:
    scheduler: str
    operation: str
    cpus: int
    runnable: int
    instructions: float


def decisions(rows: Sequence[Row]) -> list[Decision]:
    def conditions(row: Row) -> tuple[object, ...]:
        return row.operation, row.cpus, row.runnable, row.scale, *row.seeds

    base = {conditions(row): row.instructions for row in rows if row.scheduler == BASE}
    return [
        Decision(row.scheduler, row.operation, row.cpus, row.runnable,
                 (row.instructions - base[conditions(row)]) / PER_OPERATION[row.operation])
        for row in rows
        if agents.is_user(row.scheduler) and row.operation in PER_OPERATION
        and conditions(row) in base
    ]  # fmt: skip


def show(found: Sequence[Decision], console: Console) -> None:
    if not found:
        return
    names = map(label, ("operation", "scheduler"))
    shown = table(f"instructions that a decision adds to {BASE}'s", *names,
                  *map(figure, ("CPUs", "more threads", "instructions")))  # fmt: skip
    for one in found:
        numbers = (f"{one.cpus}", f"{one.runnable:,}", f"{one.instructions:,.0f}")
        shown.add_row(one.operation, one.scheduler, *numbers)
    console.print(shown)
