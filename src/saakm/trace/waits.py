# SPDX-License-Identifier: GPL-2.0
"""How long threads waited for a CPU, from scheduler events in order of time.

- wakeup latency: from sched_waking, or the birth, until the thread is switched to;
- run-queue wait: each time a thread was ready and did not run, also after it was preempted.
"""

from collections.abc import Callable, Sequence

from .events import Event

# prev_state as numbers or letters: TASK_RUNNING, and the same after a preemption.
READY_STATES = (0, 0x100, "R", "R+")


class Waits:
    """Collects waits, in ns, of the threads that `ours` accepts when they get the CPU."""

    def __init__(self, ours: Callable[[int], bool]) -> None:
        self.wakeup_ns: list[int] = []
        self.queue_ns: list[int] = []
        self._ours = ours
        self._woken: dict[int, int] = {}
        self._ready: dict[int, int] = {}

    def add(self, event: Event) -> None:
        if event.name == "sched_switch":
            self._switch(event)
        elif event.name in ("sched_waking", "sched_wakeup_new"):
            self._woken.setdefault(event.values[1], event.ns)
        if event.name in ("sched_wakeup", "sched_wakeup_new"):
            self._ready.setdefault(event.values[1], event.ns)

    def _switch(self, event: Event) -> None:
        _, prev, _, state, _, following, _ = event.values
        # A thread that was woken before it had left the CPU never slept.
        self._woken.pop(prev, None)
        self._ready.pop(prev, None)
        if state in READY_STATES:
            self._ready[prev] = event.ns
        for since, waits in ((self._woken, self.wakeup_ns), (self._ready, self.queue_ns)):
            begin = since.pop(following, None)
            if begin is not None and self._ours(following):
                waits.append(event.ns - begin)


def percentiles_us(waits_ns: Sequence[int], percents: Sequence[float]) -> list[float]:
    """Zeros if there are no waits."""
    if not len(waits_ns):
        return [0.0] * len(percents)
    import numpy

    return [float(ns) / 1000 for ns in numpy.percentile(waits_ns, percents)]
