# SPDX-License-Identifier: GPL-2.0
"""What operations cost as something grows: threads, CPUs, policies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...base.errors import SaakmError
from ...model.cost_rows import Row
from ...model.fair_class import FAIR
from .measure import Conditions
from .operations import OPERATIONS, can_be_crowded


@dataclass(frozen=True)
class Axis:
    what: str
    values: tuple[int, ...]
    operations: tuple[str, ...]
    schedulers: tuple[str, ...]
    conditions: Callable[[Conditions, int], Conditions]
    value: Callable[[Row], int]


# Two threads take part in an operation; those beyond are --runnable.
_TWO = 2

AXES = {
    "runnable": Axis(
        "runnable threads on the CPU",
        (2, 10, 100, 1000, 10000),
        ("yield", "crowd", "pipe"),
        (FAIR, "sched_fifo", "scx_fifo", "fifo", "prio", "vtime"),
        lambda c, n: replace(c, runnable=n - _TWO),
        lambda row: row.runnable + _TWO,
    ),
    "cpus": Axis(
        "CPUs",
        (1, 2, 4, 8, 16, 32, 64),
        ("pipe", "pipe2", "yield"),
        (FAIR, "sched_fifo", "scx_fifo", "fifo"),
        lambda c, n: replace(c, cpus=n),
        lambda row: row.cpus,
    ),
    "policies": Axis(
        "policies loaded, all but one of them without threads",
        (1, 2, 4, 8),
        ("pipe", "yield"),
        ("fifo", "prio", "vtime"),
        lambda c, n: replace(c, bystanders=n - 1),
        lambda row: row.bystanders + 1,
    ),
}


def chosen_axis(name: str) -> Axis:
    if name not in AXES:
        raise SaakmError(
            f"there is no axis '{name}'", f"there are {', '.join(AXES)}", "saakm cost --axis NAME"
        )
    return AXES[name]


def chosen_values(axis: Axis, wanted: Sequence[int]) -> list[int]:
    values = sorted({*(wanted or axis.values)})
    least, most = axis.values[0], axis.values[-1]
    if values[0] < least or values[-1] > most:
        raise SaakmError(
            f"{axis.what}: {values} cannot be measured",
            f"{least} to {most} can",
            "saakm cost --axis NAME --values N[,N]",
        )
    return values


def points(
    axis: Axis,
    values: list[int],
    schedulers: list[str],
    operations: list[str],
    conditions: Conditions,
) -> Iterator[tuple[str, list[str], Conditions]]:
    """Boots: the cheap ones first, so that there is something to see soon."""
    for value in values:
        here = axis.conditions(conditions, value)
        for scheduler in schedulers:
            possible = [
                name
                for name in operations
                if OPERATIONS[name].cpus <= here.cpus
                and (not here.runnable or can_be_crowded(name, [scheduler]))
            ]
            if possible:
                yield scheduler, possible, here


def axis_of(rows: list[Row]) -> str:
    """Along which of them these rows were measured; empty: none."""
    for name, axis in AXES.items():
        if len({axis.value(row) for row in rows}) > 1:
            return name
    return ""
