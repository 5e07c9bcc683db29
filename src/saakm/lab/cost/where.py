# SPDX-License-Identifier: GPL-2.0
"""Finds in which functions of the kernel an operation executes its instructions, and who called them."""

import bisect
import re
import subprocess
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
from .measure import Conditions, counted, guest_of, refuse_features, results, time_limit
from .target import Target

# As in guest/cost/cost.h.
_MARKS = "arm=51ab0003,begin=51ab0001,end=51ab0002"
_SLOWER = 10
_USER = "(user space)"
_UNKNOWN = "(no symbol)"
_SYMBOL = re.compile(r"^SYMBOL ([0-9a-f]+) [tTwW] (\S+)\s+\[(\w+)\]", re.M)
# Beyond it, an address belongs to something else that has no name.
_LARGEST_FUNCTION = 1 << 16


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
    def with_callees(self) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for stack, value in self.stacks.items():
            for name in set(stack):
                found[name] += value
        return _most_first(found)


def _most_first(found: dict[str, float]) -> dict[str, float]:
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


class Symbols:
    """The names of addresses."""

    def __init__(self, named: dict[int, str]):
        self._named = named
        self._starts = sorted(named)

    def name(self, address: int) -> str:
        if not address:
            return _USER
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or address - self._starts[at] > _LARGEST_FUNCTION:
            return _UNKNOWN
        return self._named[self._starts[at]]


def kernel_symbols(vmlinux: Path) -> dict[int, str]:
    listed = subprocess.run(["nm", str(vmlinux)], capture_output=True, text=True, check=True)
    named: dict[int, str] = {}
    for line in listed.stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        # Markers such as __pfx_ and section ends share addresses with functions.
        if kind in "tTwW" and not name.startswith(("__pfx_", "__cfi_", ".L")):
            named.setdefault(int(address, 16), name)
    return named


def guest_symbols(text: str) -> dict[int, str]:
    """Returns those of modules and BPF programs, as the guest has loaded them."""
    return {
        int(address, 16): f"{name} [{module}]" for address, name, module in _SYMBOL.findall(text)
    }


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
    stacks = by_stack(lines, Symbols(kernel_symbols(target.vmlinux) | guest_symbols(text)))
    if operation == "tick":
        stacks.pop((_USER,), None)  # what the ticks interrupt
    times = counted(operation, text)
    return Profile(scheduler, operation, {stack: count / times for stack, count in stacks.items()})


def by_stack(lines: list[str], symbols: Symbols) -> Counter[tuple[str, ...]]:
    """Counts the plugin's lines: each has the calls under way, the instruction, how often."""
    stacks: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        places, count = line.split()
        stacks[tuple(symbols.name(int(place, 16)) for place in places.split(";"))] += int(count)
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
        columns = (figure(p.scheduler) for p in chosen)
        shown = terminal_table(f"{operation}: instructions by function", "function", *columns)
        *functions, total = table(chosen, top)
        for line in functions:
            shown.add_row(*line)
        shown.add_section()
        shown.add_row(*total)
        console.print(shown)


def _number(value: float) -> str:
    return f"{value:,.1f}" if value >= 0.05 else ""
