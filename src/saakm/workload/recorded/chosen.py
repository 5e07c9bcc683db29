# SPDX-License-Identifier: GPL-2.0
"""Which threads of a recording are replayed."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from ..errors import BadWorkload, quoted
from .source import Source
from .threads import Recorded, Thread

# perf's child is called perf-exec until it becomes the command.
_RECORDERS = {"perf", "perf-exec", "trace-cmd"}
# Of a thread that was there before nobody knows the parent: kthreadd's children are known by name.
_KERNEL = re.compile(
    r"k(worker|softirqd|swapd|compactd|hugepaged|auditd|hungtaskd|devtmpfs|threadd|damond|blockd)"
    r"|(migration|cpuhp|idle_inject|irq|jbd2|scsi_eh)[/_]|rcu[a-z]*(_|/)|ext4-|oom_reaper|watchdogd"
)
_SHOWN = 20


def choose(recorded: Recorded, source: Source, only: str | None) -> list[Thread]:
    """`only`: a pattern of names. Else those of the recorded command, if it is known which that is;
    else all but the kernel's and the recorder's own."""
    threads = recorded.threads
    if only is not None:
        found = [one for one in threads if any(fnmatchcase(name, only) for name in one.names)]
        if not found:
            raise _refuse(threads, source, f"no thread is called {quoted(only)}")
        return found
    found = (
        _with_children(threads, lambda one: one.pid == source.pid)
        or [one for one in threads if one.pid in source.pids]
        or (_with_children(threads, _was_recorder) if recorded.births else [])
        or [one for one in threads if not _is_kernel(one) and not _is_recorder(one)]
    )
    if not found:
        raise _refuse(threads, source, "it has no threads but the kernel's and the recorder's")
    return found


def _with_children(threads: list[Thread], is_first: Callable[[Thread], bool]) -> list[Thread]:
    found: dict[Thread, None] = {}
    for one in threads:  # parents come first
        if is_first(one) or one.parent in found:
            found[one] = None
    return list(found)


def _is_recorder(thread: Thread) -> bool:
    return bool(thread.names) and set(thread.names) <= _RECORDERS


def _was_recorder(thread: Thread) -> bool:
    """Until it became the command, by exec."""
    return thread.names[:1] != thread.names[-1:] and thread.names[0] in _RECORDERS


def _is_kernel(thread: Thread) -> bool:
    return thread.kernel or any(map(_KERNEL.match, thread.names))


def _refuse(threads: list[Thread], source: Source, why: str) -> BadWorkload:
    names = sorted({name for one in threads for name in one.names})
    more = ", ..." if len(names) > _SHOWN else ""
    return BadWorkload(
        f"{source.file}: no threads to replay",
        why,
        f"choose by name, as {source.file}:only=NAME (* and ? stand for more): "
        + ", ".join(names[:_SHOWN])
        + more,
    )
