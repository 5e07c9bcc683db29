# SPDX-License-Identifier: GPL-2.0
"""How long rt-app's own steps take in the guests' runs that `saakm timing --keep DIR` has kept:

    PYTHONPATH=src python -m saakm.lab.timing.measure DIR

What simulated.py has as constants comes from here, under fifo, which preempts nobody. `own steps` are
from getting a CPU to leaving it, less `run`: the simulator's cost of a switch is in them.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, median

from ...base.errors import SaakmError
from ...trace.events import Event, parse_events
from ...workload.program import Time
from .case import Case, read_all
from .simulated import LOOP_NS, RTAPP


def forks_ns(events: Iterable[Event]) -> list[int]:
    """From one thread's birth to the next."""
    forks = [e for e in events if e.name == "sched_process_fork" and e.values[0] == RTAPP]
    return [after.ns - before.ns for before, after in zip(forks, forks[1:])]


def stays_ns(events: Iterable[Event]) -> dict[int, list[int]]:
    """By thread: how long it had a CPU from one sleep to the next."""
    since: dict[int, int] = {}
    had: dict[int, int] = {}
    found: dict[int, list[int]] = {}
    for event in events:
        if event.name != "sched_switch":
            continue
        _, prev, _, state, _, following, _ = event.values
        if prev in since:
            had[prev] = had.get(prev, 0) + event.ns - since.pop(prev)
            if state == "S":
                found.setdefault(prev, []).append(had.pop(prev))
        since[following] = event.ns
    return found


def wakeups_ns(events: Iterable[Event]) -> list[int]:
    """From where a CPU wakes a thread for another one, which idles, to where that has it."""
    found: list[int] = []
    idle: set[int] = set()
    woken: dict[int, tuple[int, int]] = {}
    for event in events:
        if event.name == "sched_wakeup" and event.values[3] in idle - {event.cpu}:
            woken[event.values[3]] = event.values[1], event.ns
        elif event.name == "sched_switch":
            pid, ns = woken.pop(event.cpu, (0, 0))
            if pid and pid == event.values[5]:
                found.append(event.ns - ns)
            (idle.discard if event.values[5] else idle.add)(event.cpu)
    return found


def _runs_and_sleeps(case: Case) -> list[int]:
    """How long each thread runs, in whole loops, where it does nothing but that and sleep."""
    shown = [tuple(op.name for op in group.ops) for group in case.program.groups]
    if set(shown) != {("loop", "run", "sleep", "iteration", "end")}:
        return []
    runs = (group.ops[1].operands[0] for group in case.program.groups)
    return [run.numbers[0] // LOOP_NS * LOOP_NS for run in runs if isinstance(run, Time)]


def measured(directory: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"fork": [], "first steps": [], "own steps": [], "wakeup": []}
    for case in read_all():
        file = directory / f"{case.name}.fifo.trace"
        if not file.exists():
            continue
        events = list(parse_events(file.read_text(errors="replace").splitlines()))
        ours = [
            e.values[3] for e in events if e.name == "sched_process_fork" and e.values[0] == RTAPP
        ]
        stays = stays_ns(events)
        found["fork"] += forks_ns(events)
        found["wakeup"] += wakeups_ns(events)
        found["first steps"] += [stays[pid][0] for pid in ours]
        for pid, run_ns in zip(ours, _runs_and_sleeps(case)):
            # The first sleeps are those of the start.
            found["own steps"] += [stay - run_ns for stay in stays[pid][3:-3]]
    if not found["fork"]:
        raise SaakmError(f"{directory} has no run under fifo", "", "saakm timing --keep makes some")
    return found


if __name__ == "__main__":
    for name, values in measured(Path(sys.argv[1])).items():
        middle, mean = median(values) / 1000, fmean(values) / 1000
        print(f"{name}: {middle:.1f} us in the median of {len(values):,}, {mean:.1f} in the mean")
