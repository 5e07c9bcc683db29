# SPDX-License-Identifier: GPL-2.0
"""A scenario's way through both, and what came of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...base.files import write_text
from ...builder.ready import build_all
from ...vm.guest import Guest
from ...vm.machine import Machine
from ...vm.topology import Topology
from . import in_guest
from .compare import Comparison, compare
from .in_guest import Played, play
from .player import build_player
from .scenario import Scenario
from .simulated import Simulated, simulate
from .story import Story

CONFIG = "base"
_TRIES = 3
# What the simulator says of threads that nobody can wake: sim/core/account.c
_WAITING = "and nobody is left who could wake them"


@dataclass
class Result:
    """`faults`: why it could not be run, or what went wrong besides."""

    scenario: Scenario
    played: Played | None = None
    simulated: Simulated | None = None
    comparison: Comparison | None = None
    tries: int = 0
    faults: list[str] = field(default_factory=list)

    def judge(self) -> None:
        if self.played and self.simulated:
            self.comparison = compare(
                self.played.story, self.simulated.story, self.scenario.near_ns
            )

    @property
    def agrees(self) -> bool:
        return not self.faults and not (self.comparison and self.comparison.difference)

    def keep(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for side, one in (("kernel", self.played), ("simulator", self.simulated)):
            if one:
                write_text(directory / f"{self.scenario.name}.{side}.trace", one.trace)
                write_text(directory / f"{self.scenario.name}.{side}.story", written(one.story))


def written(story: Story) -> str:
    lines = []
    for whom, steps in [
        *story.threads.items(),
        *((f"CPU {n}", s) for n, s in sorted(story.cpus.items())),
    ]:
        lines += [whom, *(f"  {step}" for step in steps)]
    return "\n".join(lines) + "\n"


def guest_machine(topology: Topology) -> Machine:
    arguments = ("no_timer_check", *in_guest.ARGUMENTS)
    return Machine(topology, deterministic=True, append=arguments)


@contextmanager
def guest_for(topology: Topology) -> Iterator[Guest]:
    with Guest(build_all(CONFIG).kernel, guest_machine(topology)) as guest:
        yield guest


def run_simulated(result: Result) -> None:
    result.simulated = simulate(result.scenario)
    found = result.simulated.outcome.simulation
    expected = {one.whom for one in result.scenario.actions if one.verb == "eject"}
    for policy in found.ejected:
        if policy.name not in expected and policy.ejected:
            result.faults.append(f"the simulator ejected {policy.name}: {policy.ejected.reason}")
    # That some wait for ever is meant: an exit wakes threads of the kernel's own.
    said = [warning for warning in found.warnings if _WAITING not in warning]
    result.faults += [f"the simulator complained: {warning}" for warning in said]


def run_in_guest(guest: Guest, result: Result) -> None:
    """Up to three times: threads of the kernel's own, which nobody can forbid, may come in between."""
    begin = len(guest.console())
    first_pid = result.simulated.first_pid if result.simulated else 0
    while result.tries < _TRIES:
        result.tries += 1
        result.played = play(guest, build_player(), result.scenario, first_pid)
        result.judge()
        if not result.comparison or not result.comparison.difference:
            break
    assert result.played
    result.faults += [f"the kernel complained: {splat}" for splat in guest.splats(begin)]
    result.faults += result.played.refused


def verdict(result: Result) -> str:
    """For the terminal."""
    name = result.scenario.name
    lines = [f"{name}: {'agrees' if result.agrees else 'DIFFERS'}" if result.comparison else name]
    if result.comparison:
        lines[0] += (
            f", {result.comparison.steps} steps, at most {result.comparison.late_ns / 1000:.0f} us apart"
        )
        if result.tries > 1:
            lines[0] += f", at try {result.tries}"
        if result.comparison.difference:
            lines.append(str(result.comparison.difference))
    return "\n".join([*lines, *result.faults])
