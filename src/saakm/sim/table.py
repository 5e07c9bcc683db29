# SPDX-License-Identifier: GPL-2.0
"""The result of a simulation on a terminal."""

from rich.console import Console

from ..model.simulation import Distribution, Group, Simulation
from ..view.terminal import figure, name, table
from ..view.text import counted
from .durations import shown, shown_count
from .run import Outcome

# Short, or a terminal of 80 columns has no room for the figures.
_COUNTS = ("threads", "runtime", "switches", "preempted", "migrated", "rounds")
_TIMES = ("count", "mean", "p50", "p99", "max")
_WAITS = "CPU wait"
# With less there is no room for figures, which nobody can guess: the terminal has to wrap lines.
_NARROWEST = 80


def show(outcome: Outcome, title: str, console: Console) -> None:
    """Two tables, which fit in a terminal of 80 columns as one would not."""
    console.width = max(console.width, _NARROWEST)
    found = outcome.simulation
    several = len({group.policy for group in found.groups}) > 1
    counts = table(title, name("group"), *map(figure, _COUNTS))
    times = table("times", name("group"), name("of what"), *map(figure, _TIMES))
    for group in found.groups:
        whose = f"{group.name} ({group.policy})" if several else group.name
        counts.add_row(whose, *_counts(group))
        for what, distribution in {_WAITS: group.waits, **group.marks}.items():
            if distribution.count:
                times.add_row(group.name, what, *_times(distribution))
    console.print(counts)
    if times.rows:
        console.print(times)
    for line in _totals(outcome):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _counts(group: Group) -> list[str]:
    numbers = (group.switches, group.preemptions, group.migrations, group.iterations)
    return [shown_count(group.threads), shown(group.run_ns), *map(shown_count, numbers)]


def _times(of: Distribution) -> list[str]:
    mean = round(of.sum_ns / of.count)
    return [shown_count(of.count), *map(shown, (mean, of.p50_ns, of.p99_ns, of.max_ns))]


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
