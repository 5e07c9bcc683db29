# SPDX-License-Identifier: GPL-2.0
"""How long an agent takes to decide, seen from outside of it: events of the class, and one of a probe.

An event has been written when its thread becomes READY: the transition is the next that the handler
does. The decision has been carried out when the class's function that moves the thread out of the
queue of those who wait for one returns. The agent has no part in either.
"""

from collections import Counter
from dataclasses import dataclass, field

from .events import DECIDED, STATES, Event

_READY, _RUNNING, _MIGRATING = map(STATES.index, ("READY", "RUNNING", "MIGRATING"))


@dataclass
class Decisions:
    """Give it all events in order. `policy_id`: whose threads wait for decisions."""

    policy_id: int
    decision_ns: list[int] = field(default_factory=list)  # from event to decision
    run_ns: list[int] = field(default_factory=list)  # from decision to CPU
    undecided: Counter[int] = field(default_factory=Counter)  # got a CPU without one, by pid
    begin_ns: int = 0  # the first decision
    end_ns: int = 0  # the last one

    def __post_init__(self) -> None:
        self._asked: dict[int, int] = {}  # when, by pid
        self._decided: dict[int, int] = {}

    def add(self, event: Event) -> None:
        if event.name == DECIDED:
            self._decide(event)
        elif event.name == "saakm_transition" and event.values[2] == self.policy_id:
            self._change(event)

    @property
    def per_second(self) -> float:
        """From the first one to the last."""
        seconds = (self.end_ns - self.begin_ns) / 1e9
        return (len(self.decision_ns) - 1) / seconds if seconds else 0.0

    def _decide(self, event: Event) -> None:
        pid, error = event.values
        if error or pid not in self._asked:
            return  # stale, or of another policy
        self.decision_ns.append(event.ns - self._asked.pop(pid))
        self._decided[pid] = event.ns
        self.begin_ns = self.begin_ns or event.ns
        self.end_ns = event.ns

    def _change(self, event: Event) -> None:
        _, pid, _, before, state, *_ = event.values
        # Who is moved to another CPU waits on.
        if state == _READY and before != _MIGRATING:
            self._asked[pid] = event.ns
            self._decided.pop(pid, None)
        elif state == _RUNNING:
            self.undecided[pid] += self._asked.pop(pid, None) is not None
            if (decided := self._decided.pop(pid, None)) is not None:
                self.run_ns.append(event.ns - decided)
