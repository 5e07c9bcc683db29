# SPDX-License-Identifier: GPL-2.0
"""Where the threads of a command ran, from the kernel's own scheduler events: any class's."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..model import placement
from .cut import Cut
from .events import Event
from .waits import READY_STATES, percentiles_us

EVENTS = (
    "sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_process_fork",
)  # fmt: skip


@dataclass
class _Thread:
    first_ns: int = 0  # begin of its first turn
    last_ns: int = 0  # end of its last
    cpu: int = -1  # where that was
    cpu_ns: Counter[int] = field(default_factory=Counter)  # by virtual cache


class Placements:
    """Give it all events in order, then finish().

    `root`: whoever starts the command, and does not count itself. Its children must be born while
    it is recorded.
    """

    def __init__(self, root: int, cut: Cut) -> None:
        self._root, self._cut = root, cut
        self._ours: dict[int, _Thread] = {}  # by PID, as long as nobody else has that
        self._all: list[_Thread] = []
        self._running: dict[int, tuple[int, int]] = {}  # by CPU: who, since when
        self._turns_ns: list[int] = []
        self._migrations: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._end_ns = 0
        self._do: dict[str, Callable[[Event], None]] = {
            "sched_switch": self._switch,
            "sched_process_fork": self._fork,
            "sched_wakeup": self._wakeup,
            "sched_migrate_task": self._migrate,
        }

    def add(self, event: Event) -> None:
        self._end_ns = event.ns
        self._counts["events"] += 1
        if do := self._do.get(event.name):
            do(event)

    def finish(self) -> placement.Placement:
        for cpu, (pid, since) in self._running.items():
            if thread := self._ours.get(pid):
                self._ran(thread, cpu, since, self._end_ns)
        ran = [thread for thread in self._all if thread.cpu >= 0]
        total = sum((thread.cpu_ns for thread in ran), Counter[int]())
        most = sum(max(thread.cpu_ns.values()) for thread in ran)
        p50, p99 = percentiles_us(self._turns_ns, (50, 99))
        return placement.Placement(
            threads=len(ran),
            life_s=sum(thread.last_ns - thread.first_ns for thread in ran) / 1e9,
            cpu_s=total.total() / 1e9,
            turns=self._counts["turns"],
            migrations={name: self._migrations[name] for name in self._cut.distances},
            moves=self._counts["moves"],
            residency=most / total.total() if total.total() else 0.0,
            by_vllc={group: total[n] / 1e9 for n, group in enumerate(self._cut.groups)},
            turn_us_mean=sum(self._turns_ns) / max(len(self._turns_ns), 1) / 1000,
            turn_us_p50=p50,
            turn_us_p99=p99,
            preempted=self._counts["preempted"],
            wakeups=self._counts["wakeups"],
            wakeups_on_idle=self._counts["on idle"],
            events=self._counts["events"],
        )

    def _fork(self, event: Event) -> None:
        _, parent, _, child = event.values
        self._ours.pop(child, None)  # a number may have been another's
        if parent == self._root or parent in self._ours:
            self._ours[child] = thread = _Thread()
            self._all.append(thread)

    def _switch(self, event: Event) -> None:
        _, prev, _, state, _, following, _ = event.values
        _, since = self._running.get(event.cpu, (prev, event.ns))
        self._running[event.cpu] = following, event.ns
        if thread := self._ours.get(prev):
            self._ran(thread, event.cpu, since, event.ns)
            self._turns_ns.append(event.ns - since)
            self._counts["preempted"] += state in READY_STATES
        if thread := self._ours.get(following):
            self._begins(thread, event)

    def _begins(self, thread: _Thread, event: Event) -> None:
        self._counts["turns"] += 1
        if thread.cpu < 0:
            thread.first_ns = event.ns
        elif thread.cpu != event.cpu:
            self._migrations[self._cut.distance(thread.cpu, event.cpu)] += 1
        thread.cpu = event.cpu

    def _ran(self, thread: _Thread, cpu: int, since: int, until: int) -> None:
        thread.last_ns = until
        thread.cpu_ns[self._cut.vllcs[cpu]] += until - since

    def _wakeup(self, event: Event) -> None:
        _, pid, _, target = event.values
        if pid not in self._ours:
            return
        who, _ = self._running.get(target, (0, 0))  # a CPU without events has idled so far
        if who == pid:
            return  # it had not left its CPU: nobody placed it
        self._counts["wakeups"] += 1
        self._counts["on idle"] += who == 0

    def _migrate(self, event: Event) -> None:
        self._counts["moves"] += event.values[1] in self._ours
