# SPDX-License-Identifier: GPL-2.0
"""The result of a simulation on a terminal."""

from dataclasses import dataclass

from rich.console import Console

from ..model.simulation import Deciding, Distribution, Group, Simulation
from ..view.terminal import figure, name, table
from ..view.text import counted
from .durations import shown, shown_count
from .run import Outcome

# Short, or a terminal of 80 columns has no room for the figures.
_COUNTS = ("threads", "runtime", "switches", "preempted", "migrated", "rounds")
_TIMES = ("count", "mean", "p50", "p99", "max")
_IN_NS = ("runtime", *_TIMES[1:])
_WAITS = "CPU wait"
# With less there is no room for figures, which nobody can guess: the terminal has to wrap lines.
_NARROWEST = 80
# Of more there is one line for all.
_FEW_AGENTS = 8


@dataclass(frozen=True)
class Before:
    """Another run, which this one is compared with, and what it is called."""

    simulation: Simulation
    called: str

    def group(self, name: str) -> Group | None:
        return next((one for one in self.simulation.groups if one.name == name), None)

    def is_same(self, found: Simulation) -> bool:
        known = self.simulation
        return (known.hash, known.events, known.end_ns) == (found.hash, found.events, found.end_ns)


def show(outcome: Outcome, title: str, console: Console, before: Before | None = None) -> None:
    """Two tables, which fit in a terminal of 80 columns as one would not."""
    console.width = max(console.width, _NARROWEST)
    found = outcome.simulation
    several = len({group.policy for group in found.groups}) > 1
    counts = table(title, name("group"), *map(figure, _COUNTS))
    times = table("times", name("group"), name("of what"), *map(figure, _TIMES))
    compared = before if before and not before.is_same(found) else None
    for group in found.groups:
        whose = f"{group.name} ({group.policy})" if several else group.name
        counts.add_row(whose, *map(_shown, _COUNTS, _counts(group)))
        known = compared.group(group.name) if compared else None
        if compared and known:
            counts.add_row(f"vs {compared.called}", *map(_change, _counts(group), _counts(known)))
        for what, distribution in {_WAITS: group.waits, **group.marks}.items():
            if not distribution.count:
                continue
            times.add_row(group.name, what, *map(_shown, _TIMES, _times(distribution)))
            if compared and (old := _distribution(known, what)):
                times.add_row(
                    f"vs {compared.called}", "", *map(_change, _times(distribution), _times(old))
                )
    console.print(counts)
    if times.rows:
        console.print(times)
    for line in [*_totals(outcome), *_against(before, found)]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _counts(group: Group) -> list[int]:
    numbers = [group.switches, group.preemptions, group.migrations, group.iterations]
    return [group.threads, group.run_ns, *numbers]


def _times(of: Distribution) -> list[int]:
    return [of.count, round(of.sum_ns / of.count), of.p50_ns, of.p99_ns, of.max_ns]


def _distribution(group: Group | None, what: str) -> Distribution | None:
    found = {_WAITS: group.waits, **group.marks}.get(what) if group else None
    return found if found and found.count else None


def _shown(column: str, number: int) -> str:
    return shown(number) if column in _IN_NS else shown_count(number)


def _change(now: int, before: int) -> str:
    if now == before:
        return "="
    if not before:
        return "new"
    part = 100 * (now - before) / before
    return f"{part:+,.0f}%" if abs(part) >= 9.95 else f"{part:+.1f}%"


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
        *_agents(found.agents),
    ]


def _agents(agents: list[Deciding]) -> list[str]:
    if len(agents) > _FEW_AGENTS:
        return [_decided(f"{len(agents)} agents", agents)]
    return [_decided(f"agent of CPUs {agent.cpus}", [agent]) for agent in agents]


def _decided(who: str, agents: list[Deciding]) -> str:
    starts = sum(agent.starts for agent in agents)
    return (
        f"{who}: {counted(sum(agent.events for agent in agents), 'event')}, "
        f"{counted(sum(agent.decisions for agent in agents), 'decision')}, "
        f"{counted(sum(agent.rounds for agent in agents), 'round')}, "
        f"ran for {shown(sum(agent.run_ns for agent in agents))}"
        + (f", started {starts} times" if starts > len(agents) else "")
    )


def _against(before: Before | None, found: Simulation) -> list[str]:
    if not before:
        return []
    if before.is_same(found):
        return [f"{before.called} ran exactly like this, event by event"]
    known = before.simulation
    return [
        f"{before.called}: {shown(known.end_ns)} simulated ({_change(found.end_ns, known.end_ns)} since), "
        f"CPUs idle {_part(known.idle_ns, known)}, costs of scheduling {_part(known.cost_ns, known)}"
    ]


def _part(ns: int, found: Simulation) -> str:
    return f"{ns / max(found.end_ns * found.cpus, 1):.1%}"
