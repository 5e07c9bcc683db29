# SPDX-License-Identifier: GPL-2.0
"""The gaps between two threads of a command on a CPU, from scheduler events.

A gap is a time in which a CPU idles, or runs whoever decides in user space, though the thread that
it runs next waits already. What else a CPU runs, as the kernel's own threads, is no gap: that is
work of somebody's. Beside these, which each have a CPU, there is the time lost of all CPUs
together: at each moment as many CPUs as idle count, or run the agent, but not more than threads
wait; those that idle first, since an agent's turn may have been needed by others. A thread counts
as one that any CPU could run: events do not say which it may use. Interrupts have no events:
those that come while a CPU idles, or runs the agent, are in its gap.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from .events import Event
from .waits import READY_STATES

WORK, AGENT, IDLE, OTHER = "work", "agent", "idle", "other"
WAKINGS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
_KEPT = ("sched_switch", "sched_process_fork", *WAKINGS)


class Span(NamedTuple):
    """A CPU has had somebody, from the one moment to the other."""

    cpu: int
    pid: int
    kind: str
    begin_ns: int
    end_ns: int


class Gap(NamedTuple):
    cpu: int
    begin_ns: int
    end_ns: int
    idle_ns: int  # parts of it
    agent_ns: int

    @property
    def ns(self) -> int:
        return self.idle_ns + self.agent_ns


@dataclass
class Gaps:
    """Give it all events in order, then finish().

    `root`: the command's first process. `starter`: what started it and whoever decides, and does
    nothing while the command runs; 0: nobody decides in user space.
    """

    root: int
    cpus: int
    starter: int = 0
    names: dict[int, str] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    starts_ns: list[int] = field(
        default_factory=list
    )  # a CPU begins to run a thread of the command
    begin_ns: int = 0  # when the first of them did
    end_ns: int = 0  # when the last one left
    idle_ns: int = 0  # CPU time lost while a thread waited
    agent_ns: int = 0
    ours: set[int] = field(default_factory=set)  # the threads of the command

    def __post_init__(self) -> None:
        self._events: list[Event] = []

    def add(self, event: Event) -> None:
        if self.root and event.name in _KEPT:
            self._events.append(event)

    def finish(self) -> None:
        self.ours, deciding = self._families()
        self._make_spans(self.ours, deciding)
        work = [span for span in self.spans if span.kind == WORK]
        if not work:
            return
        self.begin_ns = min(span.begin_ns for span in work)
        self.end_ns = max(span.end_ns for span in work)
        _Sweep(self, self.ours).go(self._events)
        self._events.clear()

    @property
    def wanted_ns(self) -> int:
        """CPU time that the command's threads had, and what was lost while they waited for it."""
        had = sum(span.end_ns - span.begin_ns for span in self.spans if span.kind == WORK)
        return had + self.idle_ns + self.agent_ns

    def _families(self) -> tuple[set[int], set[int]]:
        ours, deciding = {self.root}, {self.starter} - {0}
        for event in self._events:
            if event.name != "sched_process_fork":
                continue
            _, parent, _, child = event.values
            if parent in ours:
                ours.add(child)
            elif parent in deciding and child not in ours:
                deciding.add(child)
        return ours, deciding

    def _make_spans(self, ours: set[int], deciding: set[int]) -> None:
        since: dict[int, tuple[int, int]] = {}  # by CPU: when whoever has it got it, and who
        first = self._events[0].ns if self._events else 0

        def end(cpu: int, ns: int) -> None:
            begin, pid = since[cpu]
            kind = IDLE if not pid else WORK if pid in ours else AGENT if pid in deciding else OTHER
            self.spans.append(Span(cpu, pid, kind, begin, ns))

        for event in self._events:
            if event.name == "sched_switch":
                prev_comm, prev, _, _, comm, following, _ = event.values
                self.names[prev], self.names[following] = str(prev_comm), str(comm)
                since.setdefault(event.cpu, (first, prev))
                end(event.cpu, event.ns)
                since[event.cpu] = event.ns, following
        for cpu in range(self.cpus):
            since.setdefault(cpu, (first, 0))
            end(cpu, self._events[-1].ns if self._events else 0)


class _Sweep:
    """Goes through the time once: who waits, and what each CPU does."""

    def __init__(self, gaps: Gaps, ours: set[int]) -> None:
        self._gaps, self._ours = gaps, ours
        self._now: dict[int, Span] = {}  # by CPU
        self._between: dict[int, list[Span]] = {cpu: [] for cpu in range(gaps.cpus)}
        self._left = dict.fromkeys(range(gaps.cpus), gaps.begin_ns)
        self._waiting: dict[int, int] = {}  # since when, by pid
        self._running: set[int] = set()
        self._at = 0

    def go(self, events: Iterable[Event]) -> None:
        by_cpu: dict[int, list[Span]] = {cpu: [] for cpu in range(self._gaps.cpus)}
        for span in reversed(self._gaps.spans):
            by_cpu[span.cpu].append(span)
        for cpu, spans in by_cpu.items():
            self._begin(cpu, spans.pop())
        for event in events:
            self._pass(event.ns)
            if event.name == "sched_switch":
                self._switch(event, by_cpu[event.cpu].pop())
            elif event.name in WAKINGS:
                pid = event.values[1]
                # Who is woken before it has left its CPU has not slept.
                if pid in self._ours and pid not in self._running:
                    self._waiting.setdefault(pid, event.ns)

    def _pass(self, ns: int) -> None:
        """All is as it was until now."""
        gaps = self._gaps
        if self._waiting and gaps.begin_ns <= self._at < gaps.end_ns:
            kinds = [span.kind for span in self._now.values()]
            idle = min(kinds.count(IDLE), len(self._waiting))
            agents = min(kinds.count(AGENT), len(self._waiting) - idle)
            gaps.idle_ns += idle * (ns - self._at)
            gaps.agent_ns += agents * (ns - self._at)
        self._at = ns

    def _switch(self, event: Event, following: Span) -> None:
        prev, state = event.values[1], event.values[3]
        if prev in self._ours:
            self._running.discard(prev)
            self._waiting.pop(prev, None)
            self._left[event.cpu] = event.ns
            if state in READY_STATES:
                self._waiting[prev] = event.ns
        else:
            self._between[event.cpu].append(self._now[event.cpu])
        self._begin(event.cpu, following)

    def _begin(self, cpu: int, span: Span) -> None:
        self._now[cpu] = span
        if span.kind != WORK:
            return
        since = self._waiting.pop(span.pid, span.begin_ns)
        self._running.add(span.pid)
        gaps, begin = self._gaps, max(since, self._left[cpu])
        gaps.starts_ns.append(span.begin_ns)
        spent = {IDLE: 0, AGENT: 0, OTHER: 0}
        for one in self._between[cpu]:
            spent[one.kind] += max(0, one.end_ns - max(one.begin_ns, begin))
        self._between[cpu].clear()
        if spent[IDLE] or spent[AGENT]:
            gaps.gaps.append(Gap(cpu, begin, span.begin_ns, spent[IDLE], spent[AGENT]))
