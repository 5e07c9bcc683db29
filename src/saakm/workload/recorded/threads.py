# SPDX-License-Identifier: GPL-2.0
"""From scheduler events to what each thread did: by its own CPU time, not by the clock.

A thread's sleep ends by another thread if that one had the CPU when sched_waking was recorded, and was not
interrupted just then; a softirq counts as the thread that it runs on, since the packets that a thread
sends to its own machine are delivered there. Else it ends by an interrupt: it is a matter of time.

A wakeup that comes while the thread is still on its way to sleep is one as well: it would have slept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple, Optional

from ...trace.events import HARDIRQ, NMI, Event
from .source import Source

_READY = (0, 0x100, "R", "R+")
_DEAD = (0x10, 0x20, "X", "Z")
_PARKED_OR_IDLE = (0x80, 0x40, "I", "P")  # which only threads of the kernel are
_SOME, _MANY = 10, 20  # sleeps without a wakeup: so many, and one in so many of all
_STEP = 50_000
_NORMAL_PRIOS = frozenset(range(100, 140))


class State(Enum):
    NEW = "new"
    READY = "ready"
    RUNNING = "running"
    ASLEEP = "asleep"
    DEAD = "dead"


class Act(NamedTuple):
    """At `at_ns` of the thread's CPU time. `peer`: who wakes, is woken or born; None: an interrupt.

    `number` is how long it slept (wait: 0 if not at all) or the new nice value.
    """

    at_ns: int
    kind: Literal["wake", "wait", "fork", "exec", "nice"]
    peer: Optional["Thread"] = None
    number: int = 0


@dataclass(eq=False, slots=True)
class Thread:
    """`born_ns`: of one that was there already, when the recording begins."""

    pid: int
    born_ns: int
    state: State
    since_ns: int
    parent: Optional["Thread"] = None
    names: list[str] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    cpu_ns: int = 0
    cpu: int = -1
    prio: int | None = None  # the first; 100 to 139: nice
    nice_now: int = 0
    kernel: bool = False
    fresh: bool = True  # has not left a CPU yet
    early: bool = False  # woken before it had left its CPU

    def at(self, ns: int) -> int:
        """Its CPU time at this moment."""
        return self.cpu_ns + (ns - self.since_ns if self.state is State.RUNNING else 0)

    def named(self, name: object) -> None:
        if not self.names or self.names[-1] != name:
            self.names.append(str(name))

    @property
    def sleeps(self) -> int:
        return sum(act.kind == "wait" and act.number > 0 for act in self.acts)


@dataclass(frozen=True)
class Recorded:
    threads: list[Thread]  # in the order in which they appear: a parent before its children
    begin_ns: int
    end_ns: int
    births: int  # 0: none, or they are not recorded


def follow(source: Source, on_progress: Callable[[int], None] = lambda count: None) -> Recorded:
    """`on_progress` hears now and then how many events there were."""
    follower = _Follower(source)
    for count, (number, event) in enumerate(source.events()):
        follower.add(number, event)
        if count % _STEP == 0:
            on_progress(count)
    return follower.finish()


class _Follower:
    def __init__(self, source: Source):
        self._source = source
        self._threads: list[Thread] = []
        self._by_pid: dict[int, Thread] = {}
        self._on: dict[int, Thread | None] = {}  # by CPU; None: idle
        self._left: dict[int, tuple[int, Thread]] = {}  # CPUs whose recording seems to have ended
        self._begin_ns = self._ns = -1
        self._number = 0
        # By whom a number was taken of which the event of its execve() is to come, or was refused.
        self._executing: dict[Thread, Exception] = {}
        self._sleeps = self._unexplained = self._switches = self._births = 0
        self._handlers = {
            "sched_switch": self._switch,
            "sched_waking": self._waking,
            "sched_process_fork": self._fork,
            "sched_wakeup_new": self._wakeup_new,
            "sched_process_exec": self._exec,
        }

    def add(self, number: int, event: Event) -> None:
        if self._begin_ns < 0:
            self._begin_ns = event.ns
        if event.ns < self._ns:
            raise self._source.refuse(
                number,
                f"time goes backwards, from {_shown(self._ns)} to {_shown(event.ns)}",
                "the events are not in order, or the CPUs' clocks differ",
            )
        self._ns, self._number = event.ns, number
        if event.cpu in self._left:
            raise self._on_two(*self._left[event.cpu], event.cpu)
        if handler := self._handlers.get(event.name):
            handler(event)

    def finish(self) -> Recorded:
        if not self._switches:
            raise self._source.refuse(
                self._number,
                "no switch of threads is recorded",
                "without the event sched_switch nobody knows who ran",
            )
        if self._unexplained > _SOME and self._unexplained * _MANY > self._sleeps:
            raise self._source.refuse(
                self._number,
                f"{self._unexplained:,} of {self._sleeps:,} sleeps end, and nobody knows by whom",
                "the event sched_waking is missing",
            )
        for error in self._executing.values():
            raise error
        for thread in self._threads:
            if thread.state is State.RUNNING:
                thread.cpu_ns = thread.at(self._ns)
                thread.state = State.READY
        return Recorded(self._threads, self._begin_ns, self._ns, self._births)

    # --- who there is ---

    def _known(self, pid: int, state: State) -> Thread:
        """One that appears for the first time was there when the recording began."""
        thread = self._by_pid.get(pid)
        return thread or self._new(pid, self._begin_ns, state)

    def _new(self, pid: int, born_ns: int, state: State, parent: Thread | None = None) -> Thread:
        thread = Thread(pid, born_ns, state, born_ns, parent)
        if parent:
            normal = parent.prio in _NORMAL_PRIOS
            thread.prio = 120 + parent.nice_now if normal else parent.prio
            thread.nice_now = parent.nice_now
        thread.kernel = pid == 2 or bool(parent and parent.pid == 2)
        self._by_pid[pid] = thread
        self._threads.append(thread)
        return thread

    def _current(self, cpu: int, pid: int) -> Thread | None:
        """`pid` counts as long as nothing is known of this CPU: it has run since the beginning."""
        if cpu not in self._on:
            self._on[cpu] = None
            if pid:
                if pid in self._by_pid:  # before, it was elsewhere
                    self._by_pid[pid].since_ns = self._ns
                thread = self._known(pid, State.READY)
                thread.state, thread.cpu = State.RUNNING, cpu
                self._on[cpu] = thread
        return self._on[cpu]

    # --- events ---

    def _switch(self, event: Event) -> None:
        self._switches += 1
        prev_comm, prev, prev_prio, state, next_comm, following, prio = event.values
        left = self._current(event.cpu, prev)
        if (left.pid if left else 0) != prev:
            error = self._source.refuse(
                self._number,
                f"'{prev_comm}' ({prev}) leaves CPU {event.cpu}, which it never came to",
                f"thread {left.pid} had it" if left else "that was idle",
            )
            if not left or not self._executes(left, prev, state, error):
                raise error
        if left:
            left.named(prev_comm)
            self._leave(left, state, event.ns)
            self._note_prio(left, prev_prio)
            left.fresh = False
        self._on[event.cpu] = None
        if following:
            came = self._known(following, State.READY)
            came.named(next_comm)
            self._come(came, event.cpu, event.ns)
            self._note_prio(came, prio)

    def _executes(self, left: Thread, prev: int, state: object, error: Exception) -> bool:
        """Has a thread that is not its process's first the number of that one already?

        de_thread() of fs/exec.c exchanges the two numbers, which may be seen before sched_process_exec: of
        the one that executes, when the other has ended; of the first one, which ends just then.
        """
        known = self._by_pid.get(prev)
        if known and known.state is not State.DEAD:
            if state not in _DEAD:
                return False
            thread, number = known, left.pid
        else:
            thread, number = left, prev
        if thread.pid != number:
            self._executing[thread] = error
            self._becomes(thread, number)
        return True

    def _becomes(self, thread: Thread, pid: int) -> None:
        thread.pid = pid
        self._by_pid[pid] = thread

    def _leave(self, thread: Thread, state: object, ns: int) -> None:
        thread.cpu_ns = thread.at(ns)
        thread.since_ns = ns
        if state in _READY:
            thread.state = State.READY
        elif state in _DEAD:
            thread.state = State.DEAD
        else:
            thread.state = State.ASLEEP
            thread.kernel |= state in _PARKED_OR_IDLE
            self._sleeps += 1

    def _come(self, thread: Thread, cpu: int, ns: int) -> None:
        if thread.state is State.DEAD:
            raise self._source.refuse(
                self._number, f"thread {thread.pid} runs, which has ended", "its birth is missing"
            )
        if thread.state is State.RUNNING:
            # perf stops recording CPU by CPU: so it is, if the other one says nothing any more.
            self._left[thread.cpu] = self._number, thread
            self._on.pop(thread.cpu, None)
            thread.cpu_ns = thread.at(ns)
        elif thread.state is State.ASLEEP:
            # Else it did not sleep in truth: Linux 6.12 says so of one that has a signal to take.
            self._unexplained += not thread.early
        thread.state, thread.since_ns, thread.cpu = State.RUNNING, ns, cpu
        thread.early = False
        self._on[cpu] = thread

    def _on_two(self, number: int, thread: Thread, cpu: int) -> Exception:
        return self._source.refuse(
            number,
            f"thread {thread.pid} comes to CPU {thread.cpu}, and has not left CPU {cpu}",
            "events are missing, or the CPUs' clocks differ",
        )

    def _note_prio(self, thread: Thread, prio: int) -> None:
        """What a thread has set until it leaves its CPU for the first time it has from its beginning."""
        if thread.prio is None or thread.fresh:
            thread.prio = prio
            thread.nice_now = prio - 120 if prio in _NORMAL_PRIOS else 0
        elif {prio, thread.prio} <= _NORMAL_PRIOS and prio - 120 != thread.nice_now:
            thread.nice_now = prio - 120
            thread.acts.append(Act(thread.cpu_ns, "nice", number=thread.nice_now))

    def _waking(self, event: Event) -> None:
        comm, pid = event.values[:2]
        waker = self._current(event.cpu, event.pid)
        if event.flags & (HARDIRQ | NMI):
            waker = None
        woken = self._known(pid, State.ASLEEP)
        woken.named(comm)
        if woken is waker or woken.state is State.DEAD:
            return
        slept_ns = event.ns - woken.since_ns if woken.state is State.ASLEEP else 0
        if waker:
            waker.acts.append(Act(waker.at(event.ns), "wake", woken))
        if waker or slept_ns:
            woken.acts.append(Act(woken.at(event.ns), "wait", waker, slept_ns))
        if woken.state is State.ASLEEP:
            woken.state, woken.since_ns = State.READY, event.ns
        else:
            woken.early = True

    def _fork(self, event: Event) -> None:
        _, parent, child_comm, child_pid = event.values
        self._born(self._current(event.cpu, parent), child_pid, child_comm, event.ns)

    def _wakeup_new(self, event: Event) -> None:
        comm, pid = event.values[:2]
        child = self._by_pid.get(pid)
        if not child or child.state is not State.NEW:  # its fork is not recorded
            child = self._born(self._current(event.cpu, event.pid), pid, comm, event.ns)
        child.state, child.since_ns = State.READY, event.ns

    def _born(self, parent: Thread | None, pid: int, comm: object, ns: int) -> Thread:
        self._births += 1
        child = self._new(pid, ns, State.NEW, parent)
        child.named(comm)
        if parent:
            parent.acts.append(Act(parent.at(ns), "fork", child))
        return child

    def _exec(self, event: Event) -> None:
        pid, old_pid = event.values[1:]
        if not (thread := self._current(event.cpu, old_pid)):
            return
        # A thread that is not its process's first gets the number of that one.
        self._becomes(thread, pid)
        self._executing.pop(thread, None)
        thread.acts.append(Act(thread.at(event.ns), "exec"))


def _shown(ns: int) -> str:
    return f"{ns / 1e9:.9f} s"
