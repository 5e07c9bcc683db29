# SPDX-License-Identifier: GPL-2.0
"""The result of a simulation on a terminal."""

from rich.console import Console

from ..model.simulation import Distribution, Group, Simulation
from ..view.terminal import figure, label, table
from ..view.text import counted
from .durations import shown
from .run import Outcome

# Short, or a terminal of 80 columns has no room for the figures.
_COUNTS = ("threads", "CPU time", "switches", "preempted", "migrated", "rounds")
_TIMES = ("count", "mean", "p50", "p99", "max")
_WAITS = "wait for CPU"


def show(outcome: Outcome, title: str, console: Console) -> None:
    """Two tables, which fit in a terminal of 80 columns as one would not."""
    found = outcome.simulation
    several = len({group.policy for group in found.groups}) > 1
    names = ("group", "scheduler") if several else ("group",)
    counts = table(title, *map(label, names), *map(figure, _COUNTS))
    times = table("times", *map(label, ("group", "of what")), *map(figure, _TIMES))
    for group in found.groups:
        counts.add_row(group.name, *([group.policy] if several else []), *_counts(group))
        for name, distribution in {_WAITS: group.waits, **group.marks}.items():
            if distribution.count:
                times.add_row(group.name, name, *_times(distribution))
    console.print(counts)
    if times.rows:
        console.print(times)
    for line in _totals(outcome):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _counts(group: Group) -> list[str]:
    numbers = (group.switches, group.preemptions, group.migrations, group.iterations)
    return [f"{group.threads:,}", shown(group.run_ns), *(f"{number:,}" for number in numbers)]


def _times(of: Distribution) -> list[str]:
    mean = round(of.sum_ns / of.count)
    return [f"{of.count:,}", *map(shown, (mean, of.p50_ns, of.p99_ns, of.max_ns))]


def _totals(outcome: Outcome) -> list[str]:
    found, seconds = outcome.simulation, outcome.cpu_seconds
    moves = found.migrations
    return [
        f"{shown(found.end_ns)} simulated in {seconds:.2f} s of CPU time: {found.events:,} events, "
        f"{outcome.events_per_second:,} a second"
        + (" (interrupted: this is the beginning)" if found.interrupted else ""),
        f"{counted(found.switches, 'switch')}, {counted(found.wakeups, 'wakeup')}, "
        f"{counted(found.ticks, 'tick')}, {counted(found.forks, 'fork')}; "
        f"{counted(moves.total, 'migration')}: {moves.smt:,} within a core, {moves.llc:,} within a "
        f"cache, {moves.node:,} within a node, {moves.far:,} between nodes",
        f"CPUs idle {_part(found.idle_ns, found)}, costs of scheduling {_part(found.cost_ns, found)}; "
        f"hash {found.hash}",
    ]


def _part(ns: int, found: Simulation) -> str:
    return f"{ns / max(found.end_ns * found.cpus, 1):.1%}"
