# SPDX-License-Identifier: GPL-2.0
"""Programs of threads as data. program_text.py says what each operation means."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["mutex", "pimutex", "cond", "barrier", "semaphore", "pipe", "timer", "cgroup"]
Base = Literal["number", "self", "loop", "pick"]
Drawn = Literal["fixed", "uniform", "exponential", "bimodal"]
PolicyKind = Literal["main", "saakm", "fair", "batch", "idle", "rt", "rr", "any", "none"]
ROOT = "root"  # the cgroup that is there


@dataclass(frozen=True)
class Object:
    """An array of `count` objects; `size` is what its kind has: parties, initial value, capacity, weight.

    `parent`: of a cgroup, the array above, whose members take turns.
    """

    kind: Kind
    name: str
    count: int = 1
    size: int = 0
    parent: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Term:
    """Of an index: a number, or what `base` says, divided and multiplied."""

    base: Base
    number: int = 0
    divide: int = 1
    times: int = 1


@dataclass(frozen=True)
class Ref:
    """One of an array of objects, or of a group's threads; without a term the first, or all threads."""

    name: str
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Sum:
    """A number that is the sum of the terms: a CPU's."""

    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Time:
    """Nanoseconds, drawn anew each time. `numbers` are those that the text form shows."""

    drawn: Drawn
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Policy:
    """`name` is that of a policy of SaaKM, `priority` a real-time one; `any` and `none`: of some operations."""

    kind: PolicyKind = "main"
    name: str = ""
    priority: int = 0


@dataclass(frozen=True)
class CpuList:
    """Ranges of CPUs, rising; none: all CPUs."""

    ranges: tuple[tuple[int, int], ...] = ()

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)


Operand = int | str | Ref | Sum | Time | Policy | CpuList


@dataclass(frozen=True)
class Op:
    """`line` is where the user's file says so, for errors that are found later."""

    name: str
    operands: tuple[Operand, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Group:
    name: str
    ops: tuple[Op, ...]
    instances: int = 1
    start_ns: int = 0
    policy: Policy = Policy()
    nice: int = 0
    cpus: CpuList = CpuList()
    inherit: bool = False
    reset: bool = False
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Program:
    """`duration_ns` is how long the workload's file wants to be run: no part of the text form."""

    groups: tuple[Group, ...]
    objects: tuple[Object, ...] = ()
    marks: tuple[str, ...] = ()
    duration_ns: int | None = field(default=None, compare=False)

    @property
    def threads(self) -> int:
        """How many begin by themselves."""
        return sum(group.instances for group in self.groups)
