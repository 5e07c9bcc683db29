# SPDX-License-Identifier: GPL-2.0
"""How many lines the same scheduler takes here and in sched_ext."""

import re
from pathlib import Path

from ..base import paths
from ..view import markdown

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Where both sides are. The pairs decide alike: tests/guest/test_peers.py.
PAIRS = {
    "FIFO": ("policies/fifo/fifo.c", "peers/scx_fifo.bpf.c"),
    "FIFO that steals": ("docs/examples/steal/steal.c", "peers/scx_steal.bpf.c"),
    "round robin that steals": ("policies/rr/rr.c", "peers/scx_rr.bpf.c"),
    "weighted fair": ("policies/vtime/vtime.c", "peers/scx_vtime.bpf.c"),
}


def lines_of_code(path: Path) -> int:
    """Counts the lines of a C file that are neither blank nor comments."""
    text = _COMMENT.sub("", path.read_text())
    return sum(1 for line in text.splitlines() if line.split("//")[0].strip())


def table() -> str:
    rows = [
        [what, *(f"[{lines_of_code(paths.REPO / file)}](../../{file})" for file in files)]
        for what, files in PAIRS.items()
    ]
    return markdown.table(["scheduler", "here", "sched_ext"], rows)
