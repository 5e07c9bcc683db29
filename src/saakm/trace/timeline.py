# SPDX-License-Identifier: GPL-2.0
"""What the pictures and the summary need, gathered event by event."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from .decisions import Decisions
from .events import STATES, Event
from .gaps import Gaps
from .waits import Waits, percentiles_us

_READY = STATES.index("READY")


@dataclass
class Timeline:
    """`threads` are those that the policy had, by pid; without a policy all but idle and kernel's.

    `root`, `starter`: as of Gaps.
    """

    policy_id: int
    cpus: int
    root: int = 0
    starter: int = 0
    begin_ns: int = 0
    end_ns: int = 0
    names: dict[int, str] = field(default_factory=dict)
    threads: set[int] = field(default_factory=set)
    runs: list[tuple[int, int, int, int]] = field(default_factory=list)  # pid, cpu, begin, end
    migrations: Counter[tuple[int, int]] = field(default_factory=Counter)  # by (from, to)
    queue: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    calls: Counter[str] = field(default_factory=Counter)  # by handler
    counts: Counter[str] = field(default_factory=Counter)  # by event
    switches: int = 0  # that gave a CPU to one of `threads`

    def __post_init__(self) -> None:
        self._running: dict[int, tuple[int, int]] = {}  # by CPU: pid, since
        self.gaps = Gaps(self.root, self.cpus, self.starter)
        self.decisions = Decisions(self.policy_id)
        self._waits = Waits(self._ours)
        self._moves: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._ready = [0] * self.cpus
        self._ready_on: dict[int, int] = {}

    def add(self, event: Event) -> None:
        self.begin_ns = self.begin_ns or event.ns
        self.end_ns = event.ns
        self.counts[event.name] += 1
        for watching in (self._waits, self.gaps, self.decisions):
            watching.add(event)
        handler = getattr(self, f"_{event.name}", None)
        if handler:
            handler(event)

    def finish(self) -> None:
        for cpu, (pid, since) in self._running.items():
            self._ran(pid, cpu, since, self.end_ns)
        self.gaps.finish()
        # A thread is moved before it is placed: not every one was known by then.
        for pid, moves in self._moves.items():
            if self._ours(pid):
                self.migrations.update(moves)

    def _ours(self, pid: int) -> bool:
        return pid in self.threads if self.policy_id else pid != 0

    def _ran(self, pid: int, cpu: int, since: int, until: int) -> None:
        if self._ours(pid):
            self.runs.append((pid, cpu, since, until))

    def _sched_switch(self, event: Event) -> None:
        prev_comm, prev, _, state, next_comm, following, _ = event.values
        self.names[prev], self.names[following] = prev_comm, next_comm
        _, since = self._running.get(event.cpu, (prev, self.begin_ns))
        self._ran(prev, event.cpu, since, event.ns)
        self._running[event.cpu] = following, event.ns
        if self._ours(following):
            self.switches += 1

    def _sched_migrate_task(self, event: Event) -> None:
        _, pid, _, origin, target = event.values
        self._moves[pid][origin, target] += 1

    def _saakm_transition(self, event: Event) -> None:
        comm, pid, policy, _, state, cpu, _ = event.values
        if policy != self.policy_id:
            return
        self.names[pid] = comm
        self.threads.add(pid)
        was = self._ready_on.pop(pid, None)
        if was is not None:
            self._count_ready(was, -1, event.ns)
        if state == _READY:
            self._ready_on[pid] = cpu
            self._count_ready(cpu, 1, event.ns)

    def _count_ready(self, cpu: int, change: int, ns: int) -> None:
        self._ready[cpu] += change
        self.queue[cpu].append((ns, self._ready[cpu]))

    def _saakm_call(self, event: Event) -> None:
        policy, handler, *_ = event.values
        if policy == self.policy_id:
            self.calls[handler] += 1

    @property
    def first_ns(self) -> int:
        """When one of the threads ran first: what a command loads before that tells nothing."""
        return min((begin for _, _, begin, _ in self.runs), default=self.begin_ns)

    def cpu_ns(self) -> Counter[int]:
        """CPU time by pid."""
        total: Counter[int] = Counter()
        for pid, _, begin, end in self.runs:
            total[pid] += end - begin
        return total

    @property
    def latencies_ns(self) -> list[int]:
        return self._waits.wakeup_ns

    def percentile_us(self, percent: float) -> float:
        return percentiles_us(self.latencies_ns, [percent])[0]
