# SPDX-License-Identifier: GPL-2.0
"""Another simulator beside this one, in the same minutes.

It is a program like the prototype's: it takes cpus=N smt=N llc=N node=N threads=N ms=N seed=N run=NS
sleep=NS, and prints a line with the words `events N` and `switches N`.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...base.progress import meter
from ...model.schema import fit, parse_json
from ...model.simulation import Simulation
from ...sim.machine import options, parse_machine
from .conduct import RUN_NS, SLEEP_NS, Point, command, machine_of
from .process import Taken, run_alone

_COUNTS = re.compile(r"\bevents (\d+)\b.*?\bswitches (\d+)\b")


@dataclass(frozen=True)
class Measured:
    """One program in one machine: counts of a run, and medians of its rounds."""

    name: str
    policy: str
    events: int
    switches: int
    cpu_s: float
    wall_s: float
    peak_kib: int

    @property
    def events_a_second(self) -> float:
        return self.events / self.cpu_s

    @property
    def switches_a_second(self) -> float:
        return self.switches / self.cpu_s


def compare(
    points: Sequence[Point], programs: dict[str, Path], rounds: int, seed: int
) -> list[Measured]:
    """Ours and, for policies that have one in `programs`, theirs, by turns."""
    runs = []
    for point in points:
        runs.append((point, "saakm sim", command(point, seed)))
        if program := programs.get(point.policy):
            runs.append((point, program.name, _theirs(program, point, seed)))
    taken: list[list[Taken]] = [[] for _ in runs]
    total = rounds * sum(point.usual for point, _, _ in runs)
    with meter("simulating", total, usual_pace=1) as progress:
        for _ in range(rounds):
            for (point, name, words), found in zip(runs, taken):
                progress.describe(f"{name}, {point.policy}")
                found.append(run_alone(words))
                progress.advance(point.usual)
    return [_measured(point, name, found) for (point, name, _), found in zip(runs, taken)]


def _theirs(program: Path, point: Point, seed: int) -> list[str]:
    machine = options(parse_machine(machine_of(point.cpus)))
    return [
        str(program.resolve()),
        *machine,
        f"threads={point.threads}",
        f"ms={point.seconds * 1000}",
        f"seed={seed}",
        f"run={RUN_NS}",
        f"sleep={SLEEP_NS}",
    ]


def _measured(point: Point, name: str, taken: list[Taken]) -> Measured:
    events, switches = _counts(name, taken[0].printed)
    return Measured(
        name=name,
        policy=point.policy,
        events=events,
        switches=switches,
        cpu_s=statistics.median(one.cpu_s for one in taken),
        wall_s=statistics.median(one.wall_s for one in taken) / point.seconds,
        peak_kib=max(one.peak_kib for one in taken),
    )


def _counts(name: str, printed: str) -> tuple[int, int]:
    if found := _COUNTS.search(printed):
        return int(found[1]), int(found[2])
    try:
        ours = fit(parse_json(printed.strip().rpartition("\n")[2]), Simulation)
    except ValueError as error:
        raise SaakmError(
            f"{name} did not say what it has done",
            f"it printed: {printed.strip()[-300:] or 'nothing'}",
            "a line with `events N` and `switches N` is wanted",
        ) from error
    return ours.events, ours.switches
