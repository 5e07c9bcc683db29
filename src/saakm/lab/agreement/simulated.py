# SPDX-License-Identifier: GPL-2.0
"""Scenarios in the simulator."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...builder.policies import find_policy
from ...sim import scenario as sim_scenario
from ...sim.build import build
from ...sim.costs import MEASURED, text_for
from ...sim.kbuild import read_module
from ...sim.kinds import Compiler, Kind, Recipe
from ...sim.machine import nr_cpus
from ...sim.run import Outcome, run
from ...trace.events import Event, parse_events
from .scenario import Scenario
from .story import Story, Window, tell

LAUNCHER = "launcher"
# Instructions of pthread_create() in the player.
FORK = "40000"


@dataclass(frozen=True)
class Simulated:
    """`first_pid`: number of the workload's first thread."""

    story: Story
    first_pid: int
    outcome: Outcome
    trace: str


def simulate(scenario: Scenario) -> Simulated:
    modules = []
    for name in scenario.policies:
        source = find_policy(name)
        if not source:
            raise SaakmError(
                f"there is no policy '{name}'", "the simulator has none", "name another"
            )
        modules.append(read_module(source))
    recipe = Recipe(Kind.PLAIN, Compiler.GCC, nr_cpus(scenario.topology))
    with tempfile.TemporaryDirectory(prefix="saakm-agreement-") as scratch:
        file = Path(scratch) / "events"
        outcome = run(build(modules, recipe), _scenario(scenario), file)
        trace = file.read_text(errors="replace")
    events = list(parse_events(trace.splitlines()))
    begin_ns, names = _births(events)
    story = tell(events, names, Window(begin_ns, scenario.from_ns, scenario.for_ns))
    return Simulated(story, min(names, default=0), outcome, trace)


def _scenario(scenario: Scenario) -> sim_scenario.Scenario:
    return sim_scenario.Scenario(
        topology=scenario.topology,
        program=scenario.text,
        seed=1,
        end_ns=scenario.for_ns,
        costs=_costs(scenario.policy),
        params=(
            *(f"{scenario.policy}.{text}" for text in scenario.params),
            *(f"at={one.at_ns}:{one.verb}:{one.whom}" for one in scenario.actions),
        ),
    )


def _costs(policy: str) -> str:
    """As measured, but a fork makes a thread here, as the player does it, and no process; and QEMU has no caches."""
    rows = dict(line.split() for line in text_for(MEASURED, policy).splitlines())
    rows |= {name: "0" for name in rows if name.startswith("migration_")}
    rows["fork"] = FORK
    return "".join(f"{name} {value}\n" for name, value in rows.items())


def _births(events: list[Event]) -> tuple[int, dict[int, str]]:
    """When the workload begins, and its threads' names by their numbers."""
    begin_ns, names = 0, dict[int, str]()
    born: Counter[str] = Counter()
    parents: set[int] = set()
    for event in events:
        if event.name != "sched_process_fork":
            continue
        _, parent, comm, child = event.values
        if comm == LAUNCHER and not parents:
            begin_ns = event.ns
            parents.add(child)
        elif parent in parents:
            names[child] = f"{comm[:15]}/{born[comm]}"
            born[comm] += 1
            parents.add(child)
    return begin_ns, names
