# SPDX-License-Identifier: GPL-2.0
"""Judges where threads ran against what sched_setaffinity() had said, by the kernel's trace."""

from collections.abc import Iterable

from ...trace.events import Event


def judge_placement(events: Iterable[Event]) -> tuple[str, list[str]]:
    """What was looked at, and what is wrong."""
    may: dict[int, int] = {}
    changes = runs = 0
    wrong: list[str] = []
    for event in events:
        if event.name == "tracing_mark_write" and event.values[0].startswith("may "):
            _, pid, mask = event.values[0].split()
            may[int(pid)] = int(mask, 16)
            changes += 1
        elif event.name == "sched_switch" and event.values[5] in may:
            pid = event.values[5]
            runs += 1
            if not may[pid] >> event.cpu & 1:
                wrong.append(
                    f"thread {pid} was given CPU {event.cpu} at {event.ns / 1e9:.6f}; "
                    f"it may use {_cpus(may[pid])}"
                )
    if not runs:
        wrong.append("the trace shows none of the threads running")
    return f"{runs} times one of them got a CPU, with {changes // 2} changes", wrong


def _cpus(mask: int) -> str:
    return "CPU " + ", ".join(str(cpu) for cpu in range(mask.bit_length()) if mask >> cpu & 1)
