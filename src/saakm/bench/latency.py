# SPDX-License-Identifier: GPL-2.0
"""How long the threads of a workload waited for a CPU, from the scheduler's tracepoints.

- wakeup latency: from sched_waking until the thread is switched to;
- run-queue wait: each time a thread was ready and did not run, also after it was preempted.

Only threads count that descend from the process that was started under the
scheduler. In an emulated machine these are wall times of its emulation.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import SaakmError

PERCENTILES = (50, 90, 99, 99.9)
_LINE = re.compile(r"^.*?\s\[(\d+)\]\s+(?:\S+\s+)?([\d.]+):\s+(\w+):\s+(.*)$")
_SWITCH = re.compile(r"(?:.*:|.*prev_pid=)(\d+)(?: \[\d+\] | .*prev_state=)(\S+) ==> (?:.*:|.*next_pid=)(\d+)")
_WAKE = re.compile(r"(?:.*:|.*\bpid=)(\d+)(?: \[| prio=)")
_FORK = re.compile(r"\bpid=(\d+).*child_pid=(\d+)")
_LOST = re.compile(r"^CPU:?\s*(\d+)\s.*EVENTS")
_READY_STATES = ("R", "R+")


@dataclass
class Waits:
    """In seconds, as the trace has them."""

    wakeup: list[float] = field(default_factory=list)
    queue: list[float] = field(default_factory=list)


def of_file(path: Path, root: int) -> dict[str, Any]:
    """Percentiles in microseconds, of the descendants of the process `root`."""
    if not path.exists():
        raise SaakmError("left no trace", f"there is no {path}", "")
    done = subprocess.run(["trace-cmd", "report", "-t", "-i", str(path)], capture_output=True,
                          text=True, errors="replace")
    path.unlink()
    if done.returncode:
        raise SaakmError("left a trace that cannot be read", done.stderr.strip()[-500:], "")
    events, begin = _events(done.stdout.splitlines())
    waits = _waits(events, root)
    return {"wakeup_us": summary(waits.wakeup), "queue_us": summary(waits.queue),
            # The ring buffer keeps what is newest: of a long run this is the end.
            "from_s": round(begin, 6), "complete": begin == 0.0}


def summary(waits: list[float]) -> dict[str, float]:
    if not waits:
        return {"n": 0}
    import numpy

    values = numpy.percentile(waits, PERCENTILES) * 1e6
    found = {f"p{percentile:g}": round(float(v), 2) for percentile, v in zip(PERCENTILES, values)}
    return {"n": len(waits), **found, "max": round(max(waits) * 1e6, 2)}


Event = tuple[float, str, str]


def _events(lines: Iterable[str]) -> tuple[list[Event], float]:
    """In order of time; and since when no CPU's events are missing, 0.0 for from the start."""
    events: list[Event] = []
    complete_from: dict[str, float] = {}
    lost: set[str] = set()
    for line in lines:
        if match := _LINE.match(line):
            cpu, when, name, rest = match.groups()
            if cpu in lost:
                complete_from[cpu] = float(when)
                lost.discard(cpu)
            events.append((float(when), name, rest))
        elif match := _LOST.match(line):
            lost.add(match[1].zfill(3))
    begin = max(complete_from.values(), default=0.0)
    start = events[0][0] if events else 0.0
    kept = [event for event in events if event[0] >= begin or event[1] == "sched_process_fork"]
    return kept, begin - start if begin else 0.0


def _waits(events: Iterable[Event], root: int) -> Waits:
    waits, ours = Waits(), {root}
    woken: dict[int, float] = {}
    ready: dict[int, float] = {}
    for when, name, rest in events:
        if name == "sched_process_fork":
            parent, child = _numbers(_FORK, rest)
            if parent in ours:
                ours.add(child)
        elif name == "sched_waking":
            woken.setdefault(_numbers(_WAKE, rest)[0], when)
        elif name in ("sched_wakeup", "sched_wakeup_new"):
            ready.setdefault(_numbers(_WAKE, rest)[0], when)
        elif name == "sched_switch":
            _switch(when, rest, ours, woken, ready, waits)
    return waits


def _switch(when: float, rest: str, ours: set[int], woken: dict[int, float],
            ready: dict[int, float], waits: Waits) -> None:
    match = _SWITCH.match(rest)
    previous, state, following = int(match[1]), match[2], int(match[3])
    # A thread that was woken before it had left the CPU never slept.
    woken.pop(previous, None)
    ready.pop(previous, None)
    if state in _READY_STATES:
        ready[previous] = when
    for since, list_of in ((woken, waits.wakeup), (ready, waits.queue)):
        begin = since.pop(following, None)
        if begin is not None and following in ours:
            list_of.append(when - begin)


def _numbers(pattern: re.Pattern, text: str) -> Iterator[int]:
    return [int(group) for group in pattern.search(text).groups()]
