# SPDX-License-Identifier: GPL-2.0
"""How many lines the same scheduler takes here and in sched_ext."""

import re
from pathlib import Path

from ..base import paths
from ..view import markdown

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Where both sides are. The pairs decide alike: tests/guest/test_peers.py.
PAIRS = {
    "one FIFO for all CPUs": ("docs/examples/global/global.c", "peers/scx_global.bpf.c"),
    "FIFO": ("policies/fifo/fifo.c", "peers/scx_fifo.bpf.c"),
    "FIFO that steals": ("docs/examples/steal/steal.c", "peers/scx_steal.bpf.c"),
    "round robin that steals": ("policies/rr/rr.c", "peers/scx_rr.bpf.c"),
    "strict priority": ("policies/prio/prio.c", "peers/scx_prio.bpf.c"),
    "two-level feedback queue": ("docs/examples/mlfq/mlfq.c", "peers/scx_mlfq.bpf.c"),
    "weighted fair": ("policies/vtime/vtime.c", "peers/scx_vtime.bpf.c"),
}


# The kernel's part by what it is for; `*`: all that no other group names.
GROUPS = {
    "core": "class.c elect.c delay.c charge.c state.c task.c balance.c runqueue.c topology.c policy.c",
    "services": "slice.c defaults.c services.c cgroup.c replace.c server.c floor.c"
    " shared.c idle.c process.c",
    "safety": "misuse.c violation.c eject.c watchdog.c history.c dump.c safety.h context.h",
    "interfaces": "names.c error.c observe.c procfs.c sysfs.c debugfs.c oops.c events/saakm.h",
    "headers": "*",
}
_WHAT = {
    "core": "what schedules",
    "services": "slices, defaults, weights, shared queues, replacement, shares for all",
    "safety": "checks, ejection, the watchdog, how things came about",
    "interfaces": "/proc, /sys, tracepoints, oopses",
    "headers": "what policies, the core and the class's files share; Makefile",
}


def lines_of_code(path: Path) -> int:
    """Counts the lines of a C file that are neither blank nor comments."""
    text = _COMMENT.sub("", path.read_text())
    return sum(1 for line in text.splitlines() if line.split("//")[0].strip())


def class_files() -> dict[str, list[Path]]:
    """All files of the kernel's part, but for documentation, configurations and patches."""
    own = paths.LINUX / "kernel/sched/saakm"
    files = {*own.iterdir(), *(paths.LINUX / "include").rglob("*.h")}
    groups = {
        group: [file for file in files for name in names.split() if str(file).endswith(f"/{name}")]
        for group, names in GROUPS.items()
    }
    groups["headers"] = [*files.difference(*groups.values())]
    return groups


def class_lines() -> dict[str, int]:
    return {group: sum(map(lines_of_code, files)) for group, files in class_files().items()}


def class_table() -> str:
    counted = class_lines()
    rows = [[group, str(lines), _WHAT[group]] for group, lines in counted.items()]
    rows.append(["all", f"{sum(counted.values()):,}", ""])
    return markdown.table(["group", "lines", "what it is for"], rows)


def table() -> str:
    rows = [
        [what, *(f"[{lines_of_code(paths.REPO / file)}](../../{file})" for file in files)]
        for what, files in PAIRS.items()
    ]
    return markdown.table(["scheduler", "here", "sched_ext"], rows)
