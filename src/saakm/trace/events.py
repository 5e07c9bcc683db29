# SPDX-License-Identifier: GPL-2.0
"""Scheduler events out of what `trace-cmd report -R` prints, in order of time.

Sched events may also come as tracefs prints them. It has states of ours by name: numbered_states().
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

# What is recorded; the guest enables them at boot.
SCHED_EVENTS = (
    "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task",
    "sched_process_fork", "sched_process_exec", "sched_process_exit",
)  # fmt: skip
SAAKM_EVENTS = ("saakm_transition", "saakm_call")
# Of a probe, which guest/record.py sets where an agent decides.
DECIDED = "saakm_decided"
# enum saakm_state
STATES = (
    "NOT_QUEUED", "READY", "RUNNING", "READY_TICK", "BLOCKED", "MIGRATING", "TERMINATED", "DELAYED",
)  # fmt: skip


def enabled_at_boot(names: Iterable[str]) -> str:
    """The kernel argument: QEMU before 8.1 mishandles code that is patched later, under load."""
    systems = (f"{name.split('_')[0]}:{name}" for name in names)
    return "trace_event=" + ",".join(systems)


# enum trace_flag_type, include/linux/trace_events.h, and the letters that tracefs shows for these.
HARDIRQ, SOFTIRQ, NMI = 0x08, 0x10, 0x40
_LETTERS = {"h": HARDIRQ, "s": SOFTIRQ, "H": HARDIRQ | SOFTIRQ, "z": NMI, "Z": NMI | HARDIRQ}


class Event(NamedTuple):
    """One event; `values` are as in _FIELDS, whole numbers as int.

    `flags` say in which context it was, as the kernel keeps them: 0 if nothing says it.
    """

    ns: int
    cpu: int
    pid: int  # whoever had the CPU
    name: str
    values: tuple[Any, ...]
    flags: int = 0


# Names are last or stand before a known word: they may hold blanks.
_FIELDS = {
    "sched_switch": r"prev_comm=(.*) prev_pid=(\S+) prev_prio=(\S+) prev_state=(\S+) "
    r"(?:==> )?next_comm=(.*) next_pid=(\S+) next_prio=(\S+)",
    "sched_waking": r"comm=(.*) pid=(\S+) prio=(\S+) target_cpu=(\S+)",
    "sched_wakeup": r"comm=(.*) pid=(\S+) prio=(\S+) target_cpu=(\S+)",
    "sched_wakeup_new": r"comm=(.*) pid=(\S+) prio=(\S+) target_cpu=(\S+)",
    "sched_migrate_task": r"comm=(.*) pid=(\S+) prio=(\S+) orig_cpu=(\S+) dest_cpu=(\S+)",
    "sched_process_fork": r"(?:parent_)?comm=(.*) (?:parent_)?pid=(\S+) child_comm=(.*) child_pid=(\S+)",
    "sched_process_exec": r"filename=(.*) pid=(\S+) old_pid=(\S+)",
    "sched_process_exit": r"comm=(.*) pid=(\S+) prio=(\S+)",
    "saakm_transition": r"comm=(.*) pid=(\S+) policy=(\S+) prev=(\S+) next=(\S+) cpu=(\S+) "
    r"handler=(\S+)",
    "saakm_call": r"policy=(\S+) handler=(\S+) pid=(\S+) flags=(\S+) cpu=(\S+)",
    DECIDED: r".*\bpid=(\S+) error=(\S+)",
    "tracing_mark_write": r"(.*)",
}
_PATTERNS = {name: re.compile(fields) for name, fields in _FIELDS.items()}
# "comm-pid [cpu] flags time: name: values", or, as `trace-cmd report -l` has it, "comm-pid cpu-flags ...".
_LINE = re.compile(
    r".*-(\d+) +(?:\[(\d+)\](?: (\S+))?|(\d+)-(0x[0-9a-f]+)) +(\d+)(?:\.(\d+))?: +(\w+): +(.*)"
)


def parse_events(lines: Iterable[str]) -> Iterator[Event]:
    """Other lines and other events are passed over."""
    for line in lines:
        if event := parse_event(line):
            yield event


def parse_event(line: str) -> Event | None:
    match = _LINE.match(line)
    if not match or match[8] not in _PATTERNS:
        return None
    pid, cpu, letters, latency_cpu, flags, seconds, fraction, name, rest = match.groups()
    fields = _PATTERNS[name].match(rest)
    if not fields:
        raise ValueError(f"an event of an unknown form: {line.strip()}")
    # Of a clock that it does not know trace-cmd prints nanoseconds.
    ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0")) if fraction else int(seconds)
    context = int(flags, 16) if flags else _context(letters or "")
    values = tuple(map(_value, fields.groups()))
    return Event(ns, int(cpu or latency_cpu), int(pid), name, values, context)


def _context(letters: str) -> int:
    """Of "d.h1." and the like; a number is one of ours."""
    found = 0
    for letter in letters:
        found |= _LETTERS.get(letter, 0)
    return found


def _value(text: str) -> int | str:
    if text.isdecimal():
        return int(text)
    try:
        return int(text, 0)  # -1, 0x20
    except ValueError:
        return text


def numbered_states(event: Event) -> Event:
    """The same with numbers, as trace-cmd has them."""
    if event.name != "saakm_transition":
        return event
    values = event.values
    states = (STATES.index(state) if state in STATES else state for state in values[3:5])
    return event._replace(values=(*values[:3], *states, *values[5:]))
