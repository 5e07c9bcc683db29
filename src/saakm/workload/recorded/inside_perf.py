# SPDX-License-Identifier: GPL-2.0
"""`perf script` runs this: prints events as trace-cmd does, with the context, which perf itself does not show.

It must not import anything of saakm, as it runs in perf's own Python.
"""

from typing import Any

from perf_trace_context import common_flags

_VALUES = {
    "sched_switch": (
        "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio",
    ),
    "sched_waking": ("comm", "pid", "prio", "target_cpu"),
    "sched_wakeup_new": ("comm", "pid", "prio", "target_cpu"),
    "sched_process_fork": ("parent_comm", "parent_pid", "child_comm", "child_pid"),
    "sched_process_exec": ("filename", "pid", "old_pid"),
}  # fmt: skip


def trace_unhandled(event_name: str, context: Any, fields: dict[str, Any], *_: Any) -> None:
    """The name that perf calls, for each event, since none has a function of its own here."""
    name = event_name.partition("__")[2]
    if name not in _VALUES:
        return
    values = " ".join(f"{key}={fields[key]}" for key in _VALUES[name])
    time = f"{fields['common_s']}.{fields['common_ns']:09}"
    who = f"{fields['common_comm']}-{max(fields['common_pid'], 0)}"
    print(f"{who} {fields['common_cpu']}-{common_flags(context):#x} {time}: {name}: {values}")
