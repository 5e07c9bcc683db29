# SPDX-License-Identifier: GPL-2.0
"""Finds in which functions an operation executes its instructions, and who called the kernel's."""

import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rich.console import Console

from ...base import paths
from ...base.errors import SaakmError
from ...builder.about import About
from ...builder.programs import compile_plugin
from ...model.cost_rows import FunctionRow
from ...view.terminal import figure
from ...view.terminal import table as terminal_table
from ...vm import appliance
from . import symbols
from .measure import Conditions, counted, guest_of, refuse_features, results, time_limit
from .symbols import Symbols
from .target import Target

# As in guest/cost/cost.h.
_MARKS = "arm=51ab0003,begin=51ab0001,end=51ab0002"
_SLOWER = 10


@dataclass(frozen=True)
class Profile:
    """Instructions of an operation, by the functions that were under way, outermost first."""

    scheduler: str
    operation: str
    stacks: dict[tuple[str, ...], float]

    @property
    def instructions(self) -> float:
        return sum(self.stacks.values())

    @cached_property
    def functions(self) -> dict[str, float]:
        """Each by itself, most first."""
        found: defaultdict[str, float] = defaultdict(float)
        for stack, value in self.stacks.items():
            found[stack[-1]] += value
        return _most_first(found)

    @cached_property
    def parts(self) -> dict[str, float]:
        """The kernel, modules, BPF programs, and programs in user space."""
        found: defaultdict[str, float] = defaultdict(float)
        for name, value in self.functions.items():
            found[symbols.part_of(name)] += value
        return _most_first(found)

    @cached_property
    def with_callees(self) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for stack, value in self.stacks.items():
            for name in set(stack):
                found[name] += value
        return _most_first(found)


def _most_first(found: dict[str, float]) -> dict[str, float]:
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def profile(
    target: Target, scheduler: str, operation: str, conditions: Conditions, seed: int
) -> Profile:
    if operation == "newidle":
        raise SaakmError(
            "newidle has no marks at its end",
            "it ends inside of the kernel",
            "saakm cost --where --op sleep: newidle is its first part",
        )
    guest = guest_of(target, scheduler, [operation], conditions)
    with tempfile.TemporaryDirectory(prefix="saakm-where-") as scratch:
        counts = Path(scratch) / "counts"
        plugin = compile_plugin(paths.GUEST_FILES / "where")
        machine = replace(guest.machine, seed=seed, plugin=f"{plugin},out={counts},{_MARKS}")
        text = appliance.run(
            replace(guest, machine=machine, arguments=(*guest.arguments, "symbols=1")),
            timeout=_SLOWER * time_limit(scheduler, [operation], conditions),
        )
        refuse_features(conditions, text)
        results(scheduler, [operation], text)
        lines = counts.read_text().splitlines()
    stacks = by_stack(lines, symbols.of_guest(target.vmlinux, guest.files, text))
    if operation == "tick":
        stacks.pop((symbols.MEASURED,), None)  # what the ticks interrupt
    times = counted(operation, text)
    return Profile(scheduler, operation, {stack: count / times for stack, count in stacks.items()})


def by_stack(lines: list[str], known: Symbols) -> Counter[tuple[str, ...]]:
    """Counts the plugin's lines: each has the calls under way, the instruction, how often."""
    stacks: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        places, count = line.split()
        stacks[tuple(known.name(int(place, 16)) for place in places.split(";"))] += int(count)
    return stacks


def as_rows(profiles: list[Profile], about: About) -> list[FunctionRow]:
    return [
        FunctionRow(
            scheduler=p.scheduler,
            operation=p.operation,
            function=name,
            instructions=round(value, 2),
            with_callees=round(p.with_callees[name], 2),
            kernel=about.release,
            preemption=about.preemption,
        )
        for p in profiles
        for name, value in p.functions.items()
    ]


def from_rows(rows: list[FunctionRow]) -> list[Profile]:
    """Who called the functions is not in them."""
    found: dict[tuple[str, str], dict[tuple[str, ...], float]] = {}
    for row in rows:
        found.setdefault((row.scheduler, row.operation), {})[row.function,] = row.instructions
    return [Profile(*key, stacks) for key, stacks in found.items()]


def by_operation(profiles: list[Profile]) -> dict[str, list[Profile]]:
    operations = dict.fromkeys(p.operation for p in profiles)
    return {name: [p for p in profiles if p.operation == name] for name in operations}


def parts(profiles: list[Profile]) -> list[list[str]]:
    """Has a row for each part, with its instructions under each scheduler."""
    names = dict.fromkeys(name for p in profiles for name in p.parts)
    return [[name, *(_number(p.parts.get(name, 0)) for p in profiles)] for name in names]


def table(profiles: list[Profile], top: int) -> list[list[str]]:
    """Has a row for each function, with its instructions under each scheduler; the last is all."""
    names: defaultdict[str, float] = defaultdict(float)
    for p in profiles:
        for name, value in p.functions.items():
            names[name] = max(names[name], value)
    shown = list(_most_first(names))[:top]
    rest = [p.instructions - sum(p.functions.get(name, 0) for name in shown) for p in profiles]
    return [
        *([name, *(_number(p.functions.get(name, 0)) for p in profiles)] for name in shown),
        [f"({len(names) - len(shown)} others)", *map(_number, rest)],
        ["all", *(_number(p.instructions) for p in profiles)],
    ]


def show(profiles: list[Profile], top: int, console: Console) -> None:
    """A table an operation, a column a scheduler."""
    for operation, chosen in by_operation(profiles).items():
        columns = [figure(p.scheduler) for p in chosen]
        shown = terminal_table(f"{operation}: instructions by function", "function", *columns)
        *functions, total = table(chosen, top)
        for line in functions:
            shown.add_row(*line)
        shown.add_section()
        for line in parts(chosen):
            shown.add_row(*line)
        shown.add_section()
        shown.add_row(*total)
        console.print(shown)


def _number(value: float) -> str:
    return f"{value:,.1f}" if value >= 0.05 else ""
