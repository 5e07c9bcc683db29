# SPDX-License-Identifier: GPL-2.0
"""What scheduler events say of the threads of one run of rt-app: how often they got a CPU, and how long they waited for it.

The events are the same on both sides, and so is what is made of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ...trace.events import Event
from ...trace.waits import Waits, percentiles_us

# Then rt-app's main thread tells the others to end, which the simulator's does not.
_MARGIN_NS = 50_000_000
_START_NS = 50_000_000
_RUNNABLE = ("R", "R+", 0, 0x100)


@dataclass(frozen=True)
class Figures:
    """`interruptions`: how often a thread of the kernel's own took the CPU and gave it back; they count nowhere else."""

    switches: int
    waits: int
    wait_us_p50: float
    wait_us_p99: float
    interruptions: int


@dataclass(frozen=True)
class Foreign:
    """A thread of the kernel's own, or several one after the other, had a CPU; `at_ns` counts from the beginning."""

    at_ns: int
    cpu: int
    for_ns: int


@dataclass(frozen=True)
class Run:
    """`begin_ns`: when the first thread begins, in the events' time. `first_pid` is its number."""

    begin_ns: int
    first_pid: int
    figures: Figures
    foreign: tuple[Foreign, ...]


def read(events: list[Event], parent: str, duration_ns: int) -> Run:
    """`parent`: what is called that forks the threads."""
    ours = _children(events, parent)
    begin_ns = _begin(events, ours)
    # The first thread's delay is part of the duration.
    born = _fork_of(events, ours[0])
    length_ns = duration_ns - (begin_ns - born.ns) - _MARGIN_NS
    window = [event for event in events if event.ns - begin_ns < length_ns]
    foreign = _foreign(window, {*ours, born.values[1]}, begin_ns)
    return Run(begin_ns, ours[0], _count(window, set(ours), begin_ns), foreign)


def _children(events: Iterable[Event], parent: str) -> list[int]:
    """In the order of their births."""
    return [e.values[3] for e in events if e.name == "sched_process_fork" and e.values[0] == parent]


def _fork_of(events: Iterable[Event], pid: int) -> Event:
    return next(e for e in events if e.name == "sched_process_fork" and e.values[3] == pid)


def _begin(events: Iterable[Event], ours: list[int]) -> int:
    """The first thread wakes up after its delay, which is longer than the start of all takes."""
    born_ns = _fork_of(events, ours[0]).ns if ours else 0
    for event in events:
        late = event.ns > born_ns + _START_NS
        if late and event.name == "sched_wakeup" and event.values[1] in ours[:1]:
            return event.ns
    raise ValueError('the first thread has never begun: it needs a "delay" of 100000 or more')


def _foreign(events: Iterable[Event], known: set[int], begin_ns: int) -> tuple[Foreign, ...]:
    found = []
    since: dict[int, int] = {}
    for event in events:
        if event.name != "sched_switch":
            continue
        following = event.values[5]
        if following and following not in known:
            since.setdefault(event.cpu, event.ns)
        elif (began_ns := since.pop(event.cpu, 0)) > begin_ns:
            found.append(Foreign(began_ns - begin_ns, event.cpu, event.ns - began_ns))
    return tuple(found)


def _count(events: Iterable[Event], ours: set[int], begin_ns: int) -> Figures:
    waits = Waits(ours.__contains__)
    switches = interruptions = 0
    interrupted: dict[
        int, Event
    ] = {}  # by CPU: where a thread of the kernel's own has come between
    for event in events:
        if event.name == "sched_switch":
            _, prev, _, state, _, following, _ = event.values
            if prev in ours and state in _RUNNABLE and following and following not in ours:
                interrupted[event.cpu] = event
                continue
            if event.cpu in interrupted:
                if following and following not in ours:
                    continue
                before = interrupted.pop(event.cpu)
                if following == before.values[1]:
                    interruptions += event.ns >= begin_ns
                    continue
                event = before._replace(ns=event.ns, values=(*before.values[:5], *event.values[5:]))
            switches += following in ours and event.ns >= begin_ns
        waits.add(event)
        if event.ns < begin_ns:
            waits.queue_ns.clear()
    p50, p99 = percentiles_us(waits.queue_ns, (50, 99))
    return Figures(switches, len(waits.queue_ns), p50, p99, interruptions)
