# SPDX-License-Identifier: GPL-2.0
"""Judges the order of each thread's events and states, by the kernel's trace."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...trace.events import Event

# The states in which a thread's handlers are called.
STATE_IN: dict[str, set[str]] = {
    "new_prepare": {"NOT_QUEUED"},
    "new_place": {"NOT_QUEUED"},
    "new_end": {"READY"},
    "unblock_prepare": {"BLOCKED", "RUNNING", "READY_TICK"},
    "unblock_place": {"BLOCKED"},
    "unblock_end": {"READY"},
    "requeue": {"RUNNING", "READY_TICK"},
    "block": {"READY", "RUNNING", "READY_TICK", "DELAYED"},
    "block_delay": {"RUNNING", "READY_TICK"},
    "unblock_delayed": {"READY", "RUNNING", "READY_TICK"},
    "yield": {"RUNNING", "READY_TICK"},
    "tick": {"RUNNING"},
    "used": {"RUNNING", "READY_TICK"},
    "running": {"RUNNING"},
    "wakeup_preempt": {"READY", "DELAYED"},
    "attr_changed": {"READY", "RUNNING", "READY_TICK", "DELAYED"},
    # READY: to another queue of the same core.
    "moved": {"MIGRATING", "READY"},
    "terminate": {"READY", "RUNNING", "READY_TICK", "BLOCKED"},
}
# Without a requeue of its own a policy's unblock_place answers that, too.
_REQUEUED = {
    "unblock_place": {"BLOCKED", "RUNNING", "READY_TICK"},
    "unblock_prepare": STATE_IN["unblock_prepare"],
}
_PLACES = ("new_place", "unblock_place", "requeue")
_SHOWN = 8


@dataclass
class _Life:
    state: str = "NOT_QUEUED"
    cpu: int = -1
    ends: int = 0
    past: list[str] = field(default_factory=list)


def judge_order(events: Iterable[Event]) -> tuple[str, list[str]]:
    """What was looked at, and what is wrong; the last mark names the policy."""
    events = list(events)
    marks = [e.values[0].split() for e in events if e.name == "tracing_mark_write"]
    policy = next((int(mark[1]) for mark in reversed(marks) if mark[0] == "policy"), None)
    ours = [e for e in events if _policy_of(e) == policy] if policy else []
    if not ours:
        return "", ["the trace has no events of the policy"]
    has_requeue = any(e.name == "saakm_call" and e.values[1] == "requeue" for e in ours)
    allowed = STATE_IN if has_requeue else STATE_IN | _REQUEUED
    lives: dict[int, _Life] = defaultdict(_Life)
    wrong: list[str] = []
    for event in ours:
        pid = _pid_of(event)
        if pid:
            why = _step(lives[pid], event, allowed)
            wrong += [_tell(pid, why, lives[pid].past)] if why else []
    wrong += [
        _tell(pid, f"it ended {life.ends} times, and is {life.state}", life.past)
        for pid, life in lives.items()
        if life.state not in ("NOT_QUEUED", "TERMINATED")
    ]
    return f"{len(ours)} events and transitions of {len(lives)} threads", wrong


def _policy_of(event: Event) -> int | None:
    if event.name == "saakm_call":
        return int(event.values[0])
    return int(event.values[2]) if event.name == "saakm_transition" else None


def _pid_of(event: Event) -> int:
    return int(event.values[2] if event.name == "saakm_call" else event.values[1])


def _step(life: _Life, event: Event, allowed: dict[str, set[str]]) -> str:
    """What is wrong with this event in this life, or nothing."""
    if event.name == "saakm_call":
        return _call(life, event.values[1], allowed)
    _, _, _, before, after, cpu, handler = event.values
    life.past.append(f"{before} -> {after} on CPU {cpu} in {handler}")
    known, life.state = life.state, after
    came_from, life.cpu = life.cpu, cpu
    if before != known and not (known == "TERMINATED" and before == "NOT_QUEUED"):
        return f"it was {known} and became {after} as if it had been {before}"
    if after == "READY" and before != "MIGRATING" and handler not in (*_PLACES, "none"):
        return f"it became READY in {handler}, which does not place threads"
    if after == "RUNNING" and before == "READY" and cpu != came_from:
        return f"it was READY on CPU {came_from} and runs on CPU {cpu}"
    return ""


def _call(life: _Life, handler: str, allowed: dict[str, set[str]]) -> str:
    life.past.append(handler)
    state = life.state
    if handler in ("new_prepare", "new_place") and state == "TERMINATED":
        state = "NOT_QUEUED"
        life.ends = 0
    if handler == "terminate":
        life.ends += 1
        if life.ends > 1:
            return "terminate came twice"
    if handler in allowed and state not in allowed[handler]:
        return f"{handler} was called while it was {state}"
    return ""


def _tell(pid: int, why: str, past: list[str]) -> str:
    return f"thread {pid}: {why}; before that: {', '.join(past[-_SHOWN:])}"
