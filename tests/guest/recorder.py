# SPDX-License-Identifier: GPL-2.0
"""Reads what modules/recorder wrote down, and checks each thread's life against the rules.

The rules are those of include/linux/saakm.h: which event may follow which. They
are written down here once more on purpose.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from saakm.lab.check.order import STATE_IN
from saakm.vm.guest import Guest

from .support import joined, run_ok

EVENTS = "/sys/kernel/debug/recorder/events"
STATES = [
    "NOT_QUEUED",
    "READY",
    "RUNNING",
    "READY_TICK",
    "BLOCKED",
    "MIGRATING",
    "TERMINATED",
    "DELAYED",
]
CHOICE, SYNC, EXEC, OUSTED, YIELD, TICK, FORK, FORCED = (1 << n for n in range(8))
THREADS, CORES, SCHEDULE, POLICY, USED = (1 << n for n in range(5))


@dataclass(frozen=True)
class Event:
    name: str
    time_ns: int
    core: int
    pid: int
    state: int
    flags: int
    prev_cpu: int
    waker_cpu: int
    seen: int
    on_cpu: int  # where the handler ran, whichever core the event is about

    def __str__(self) -> str:
        state = STATES[self.state] if self.state >= 0 else "-"
        return (
            f"{self.time_ns / 1e6:12.3f} ms  {self.name:16} core {self.core:2} thread {self.pid:5} "
            f"{state:10} flags {self.flags:#04x} prev {self.prev_cpu} waker {self.waker_cpu} seen {self.seen} "
            f"on CPU {self.on_cpu}"
        )


def parse(text: str) -> list[Event]:
    lines = text.splitlines()[1:]
    assert not lines or lines[-1] != "overflow", "the recorder's memory was too small for this test"
    return [Event(name, *map(int, numbers)) for name, *numbers in map(str.split, lines)]


@dataclass(frozen=True)
class Record:
    """The events of one scenario, and who is who in it."""

    events: list[Event]
    names: dict[str, int]

    def of(self, name: str) -> list[Event]:
        """The events of the thread that the program calls `name`."""
        return [e for e in self.events if e.pid == self.names[name]]

    def only(self, *names: str) -> list[Event]:
        return [e for e in self.events if e.name in names]


def record(guest: Guest, command: str, *parameters: str, timeout: float = 40.0) -> Record:
    """Runs `command POLICY_ID` beside the recorder; every thread's life is checked."""
    ko = guest.kernel.modules / "recorder" / "recorder.ko"
    output = run_ok(
        guest,
        f"""
insmod {ko} {" ".join(parameters)} || exit 1
id=$(awk '$2 == "recorder" {{ print $1 }}' /proc/saakm/policies)
{command} $id || {{ status=$?; echo ===; cat {EVENTS}; exit $status; }}
# The dead tell of their end after those who wait for them go on.
{joined("recorder", 0)}
echo ===
cat {EVENTS}
""",
        timeout,
    )
    told, _, events = output.partition("===\n")
    names = {name: int(tid) for name, tid in map(str.split, told.splitlines())}
    found = Record(parse(events), names)
    check_lives(found.events)
    return found


# --- the rules ---

# From a state of ours: event -> next state. `new` and `woken` end a *_place.
_LIFE: dict[str, dict[str, str]] = {
    "joined": {"setparam_attr": "joined", "new_prepare": "joined", "new_place": "new"},
    "new": {"new_end": "ready"},
    "ready": {
        "wakeup_preempt": "ready",
        "moved": "ready",
        "running": "running",
        "unblock_delayed": "ready",  # it was ousted while it stayed
        "attr_changed": "ready",
        "setparam_attr": "ready",
        "block": "blocked",
        "terminate": "gone",
    },
    "running": {
        "tick": "running",
        "used": "running",
        "yield": "running",
        "attr_changed": "running",
        "setparam_attr": "running",
        "unblock_prepare": "running",  # in execve()
        "requeue": "ready",
        "block_delay": "sleeps",
        "block": "blocked",
        "terminate": "gone",
    },
    # It stays queued, or is blocked at once.
    "sleeps": {
        "wakeup_preempt": "sleeps",
        "attr_changed": "sleeps",
        "setparam_attr": "sleeps",
        "unblock_delayed": "ready",
        "block": "blocked",
    },
    "blocked": {
        "unblock_prepare": "blocked",
        "setparam_attr": "blocked",
        "unblock_place": "woken",
        "terminate": "gone",
    },
    "woken": {"unblock_end": "ready"},
    # It may join again.
    "gone": {"setparam_attr": "joined"},
}

# Flags that an event may carry at all.
_FLAGS: dict[str, int] = {
    "new_prepare": CHOICE | SYNC | FORK,
    "new_place": CHOICE | SYNC | FORK,
    "new_end": CHOICE | SYNC | FORK,
    "wakeup_preempt": CHOICE | SYNC | FORK | OUSTED,
    "moved": 0,
    "unblock_prepare": CHOICE | SYNC | EXEC,
    "unblock_place": CHOICE | SYNC | OUSTED,
    "unblock_end": CHOICE | SYNC | OUSTED,
    "requeue": YIELD | TICK | FORCED,
    "block": OUSTED | YIELD | FORCED,
    "block_delay": YIELD | FORCED,
    "unblock_delayed": 0,
    "yield": YIELD,
}


def check_lives(events: list[Event]) -> None:
    """Every thread's events come in an order that the rules allow."""
    state: dict[int, str] = {}
    history: dict[int, list[Event]] = {}
    for event in events:
        if not event.pid:
            continue
        past = history.setdefault(event.pid, [])
        past.append(event)
        now = state.get(event.pid, "joined")
        if event.name not in _LIFE[now]:
            _wrong(f"{event.name} is no event for a thread that is {now}", past)
        state[event.pid] = _LIFE[now][event.name]
        _check_event(event, past)


def _check_event(event: Event, past: list[Event]) -> None:
    allowed = STATE_IN.get(event.name)
    if allowed and STATES[event.state] not in allowed:
        _wrong(f"{event.name} in the state {STATES[event.state]}", past)
    if event.name in _FLAGS and event.flags & ~_FLAGS[event.name]:
        _wrong(f"{event.name} with flags {event.flags:#x}", past)
    if event.name in ("new_place", "unblock_place") and event.core < 0:
        _wrong(f"{event.name} on no core", past)
    first = next((e for e in past if e.seen >= 0), None)
    if first and first.seen:
        _wrong("the thread's data was not zero when it joined", past)


def _wrong(what: str, past: list[Event]) -> None:
    lines = "\n".join(map(str, past[-25:]))
    pytest.fail(f"{what}; the thread's last events:\n{lines}", pytrace=False)


def expect(condition: object, what: str, events: list[Event]) -> None:
    if not condition:
        lines = "\n".join(map(str, events[-60:]))
        pytest.fail(f"expected {what}; {len(events)} events, the last:\n{lines}", pytrace=False)


def names(events: list[Event], skip: tuple[str, ...] = ("tick", "wakeup_preempt")) -> list[str]:
    return [e.name for e in events if e.name not in skip]


def times(events: list[Event], name: str, where: Callable[[Event], bool] = lambda e: True) -> int:
    return sum(e.name == name and where(e) for e in events)
