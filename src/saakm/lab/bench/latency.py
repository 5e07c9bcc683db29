# SPDX-License-Identifier: GPL-2.0
"""How long the threads of a workload waited for a CPU.

Only threads count that descend from the process that was started under the
scheduler. In an emulated machine these are wall times of its emulation.
"""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ...base.errors import SaakmError
from ...model.results import Latency, Percentiles
from ...trace.events import Event, parse_events
from ...trace.waits import Waits, percentiles_us

PERCENTILES = (50, 90, 99, 99.9)
# trace-cmd says so where a buffer of a CPU was full.
LOST = re.compile(r"^CPU:?\s*(\d+)\s.*EVENTS")


def of_file(path: Path, root: int) -> Latency:
    """Percentiles in microseconds, of the descendants of the process `root`."""
    if not path.exists():
        raise SaakmError("left no trace", f"there is no {path}", "")
    done = subprocess.run(
        ["trace-cmd", "report", "-R", "-t", "-i", str(path)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    path.unlink()
    if done.returncode:
        raise SaakmError("left a trace that cannot be read", done.stderr.strip()[-500:], "")
    events, begin_ns = complete(done.stdout.splitlines())
    waits = of_descendants(events, root)
    return Latency(
        wakeup_us=summary(waits.wakeup_ns),
        queue_us=summary(waits.queue_ns),
        # The ring buffer keeps what is newest.
        from_s=round(begin_ns / 1e9, 6),
        complete=begin_ns == 0,
    )


def summary(waits_ns: list[int]) -> Percentiles:
    if not waits_ns:
        return Percentiles(n=0)
    p50, p90, p99, p99_9 = (round(us, 2) for us in percentiles_us(waits_ns, PERCENTILES))
    most = round(max(waits_ns) / 1000, 2)
    return Percentiles(n=len(waits_ns), p50=p50, p90=p90, p99=p99, p99_9=p99_9, max=most)


def complete(lines: Iterable[str]) -> tuple[list[Event], int]:
    """The events since no CPU's are missing, and how long after the first that is; 0: all."""
    events: list[Event] = []
    complete_from: dict[int, int] = {}
    lost: set[int] = set()
    for line in lines:
        if match := LOST.match(line):
            lost.add(int(match[1]))
        for event in parse_events([line]):
            if event.cpu in lost:
                complete_from[event.cpu] = event.ns
                lost.discard(event.cpu)
            events.append(event)
    begin = max(complete_from.values(), default=0)
    kept = [event for event in events if event.ns >= begin or event.name == "sched_process_fork"]
    return kept, begin - events[0].ns if begin else 0


def of_descendants(events: Iterable[Event], root: int) -> Waits:
    ours = {root}
    waits = Waits(ours.__contains__)
    for event in events:
        if event.name == "sched_process_fork" and event.values[1] in ours:
            ours.add(event.values[3])
        waits.add(event)
    return waits
