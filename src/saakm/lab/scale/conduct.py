# SPDX-License-Identifier: GPL-2.0
"""Simulates machines of all sizes, each in a process of its own, in rounds."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...base.progress import meter
from ...builder.policies import find_policy
from ...model.experiment import Scale
from ...model.scale_rows import ScaleRow
from ...model.schema import fit, parse_json
from ...model.simulation import Simulation
from ...sim.build import build
from ...sim.costs import MEASURED, text_for
from ...sim.kbuild import Module, read_module
from ...sim.kinds import Recipe
from ...sim.machine import nr_cpus, parse_machine
from ...sim.scenario import Scenario
from ...workload.program_text import to_text
from ...workload.registry import load
from .process import Taken, run_alone

_NS = 1_000_000_000
# Small machines are simulated for longer, or the start of the process would be what is measured.
_BUSY_CPU_SECONDS, _LONGEST_S = 256, 64
# As the workload has them by default.
RUN_NS, SLEEP_NS = 1_250_000, 10_000_000
_EVENTS_A_BUSY_CPU_SECOND, _USUAL_RATE = 3_200, 3_000_000
# A thread that is mostly asleep is what fills a CPU to so much.
_THREADS_A_CPU = 1 + SLEEP_NS / RUN_NS


@dataclass(frozen=True)
class Point:
    policy: str
    cpus: int
    threads: int
    threads_a_cpu: int = 0

    @property
    def busy(self) -> float:
        """CPUs that are, on average."""
        return min(self.cpus, self.threads / _THREADS_A_CPU)

    @property
    def seconds(self) -> int:
        """To simulate."""
        return max(1, min(_LONGEST_S, round(_BUSY_CPU_SECONDS / self.busy)))

    @property
    def usual(self) -> float:
        """Seconds of the host, for an estimate."""
        events = _EVENTS_A_BUSY_CPU_SECOND * self.busy * self.seconds
        return 0.05 + events / _USUAL_RATE


def points(spec: Scale) -> list[Point]:
    """The curve over CPUs, then that over threads."""
    found = [
        Point(policy, cpus, spec.threads_a_cpu * cpus, spec.threads_a_cpu)
        for cpus in spec.cpus
        for policy in spec.policies
    ]
    return found + [
        Point(policy, spec.on_cpus, threads) for threads in spec.threads for policy in spec.policies
    ]


def check(spec: Scale) -> None:
    """Refuses names of no policy before anything is built."""
    for policy in spec.policies:
        _module(policy)


def rows(spec: Scale) -> list[ScaleRow]:
    """Rounds are around all, so that a busy minute of the host is none of one machine's alone."""
    wanted = points(spec)
    commands = [command(point, spec.seed) for point in wanted]
    taken: list[list[Taken]] = [[] for _ in wanted]
    usual = sum(point.usual for point in wanted)
    with meter("simulating", usual * spec.rounds, usual_pace=1) as progress:
        for number in range(spec.rounds):
            for point, words, found in zip(wanted, commands, taken):
                progress.describe(
                    f"{point.policy}, {point.cpus:,} CPUs, {point.threads:,} threads, "
                    f"round {number + 1}"
                )
                found.append(run_alone(words))
                progress.advance(point.usual)
    return [_row(point, found, spec.seed) for point, found in zip(wanted, taken)]


def machine_of(cpus: int) -> str:
    """Two threads a core, 64 cores a last-level cache and socket, as far as that goes."""
    threads = 2 if cpus >= 16 else 1
    sockets = max(1, cpus // 128)
    return f"{sockets}s{cpus // threads // sockets}c" + (f"{threads}t" if threads > 1 else "")


def command(point: Point, seed: int) -> list[str]:
    """With what scheduling costs, as saakm cost has measured it, and with no checks."""
    module, machine = _module(point.policy), parse_machine(machine_of(point.cpus))
    scenario = Scenario(
        topology=machine,
        program=to_text(load(f"churn:threads={point.threads}", machine.cpus)),
        seed=seed,
        end_ns=point.seconds * _NS,
        costs=text_for(MEASURED, module.name),
        settings=("check_transitions=0",),
    )
    return [str(build([module], Recipe(nr_cpus=nr_cpus(machine)))), *scenario.arguments()]


def _module(policy: str) -> Module:
    source = find_policy(policy)
    if not source:
        raise SaakmError(
            f"'{policy}' cannot be simulated",
            "it is the kernel's own scheduler, which the simulator has only in rough, beside policies",
            "name policies, as fifo",
        )
    return read_module(Path(source))


def _row(point: Point, taken: Sequence[Taken], seed: int) -> ScaleRow:
    found = [fit(parse_json(one.printed.strip().rpartition("\n")[2]), Simulation) for one in taken]
    first = found[0]
    if any(one.hash != first.hash for one in found):
        raise SaakmError(
            f"runs of {point.policy} on {point.cpus} CPUs differ",
            f"their hashes: {', '.join(one.hash for one in found)}",
            "the simulator is at fault: each seed has to repeat",
        )

    def median(value: Callable[[Taken], float]) -> float:
        return statistics.median(map(value, taken))

    return ScaleRow(
        policy=point.policy,
        cpus=point.cpus,
        threads=point.threads,
        threads_a_cpu=point.threads_a_cpu,
        simulated_s=first.end_ns / _NS,
        events=first.events,
        switches=first.switches,
        cpu_s=median(lambda one: one.cpu_s),
        wall_s=median(lambda one: one.wall_s),
        peak_kib=max(one.peak_kib for one in taken),
        rounds=len(taken),
        hash=first.hash,
        seed=seed,
    )
