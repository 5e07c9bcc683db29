# SPDX-License-Identifier: GPL-2.0
"""trace-cmd's trace.dat, read by trace-cmd."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from .printing import lines_of, require
from .report_text import LOST, WHOLE_TRACE_CMD, numbered
from .source import Numbered, Source, cut_off

MAGIC = b"\x17\x08\x44tracing"
# Raw fields, the context of each event, and all digits of its time.
_REPORT = ["trace-cmd", "report", "-R", "-l", "-t", "-i"]
_COUNTER = re.compile(r"^(overrun|commit overrun|dropped events): ([1-9]\d*)$", re.M)
_CPU = re.compile(r"^CPU: (\d+)$", re.M)


def read(path: Path) -> Source:
    require("trace-cmd", "trace-cmd", path)

    def events() -> Iterator[Numbered]:
        _refuse_lost(path)
        found = 0
        with _report(path) as lines:
            for found, event in numbered(lines, source):
                yield found, event
        if not found:  # trace-cmd says nothing of a file whose end is missing
            raise cut_off(
                f"{path}: byte {path.stat().st_size:,}",
                "trace-cmd finds no scheduler event",
                "the file is cut off there, or none was recorded",
                "copy it again, or record again: trace-cmd record -e sched COMMAND",
            )

    source = Source(str(path), events, partial(_where, path), WHOLE_TRACE_CMD)
    return source


def _report(path: Path) -> AbstractContextManager[Iterable[str]]:
    return lines_of([*_REPORT, str(path)], path, WHOLE_TRACE_CMD)


def _refuse_lost(path: Path) -> None:
    """What the kernel counted until the end of the recording, CPU by CPU."""
    stats = subprocess.run(
        ["trace-cmd", "report", "--stat", "-i", str(path)],
        capture_output=True, text=True, errors="replace",
    ).stdout  # fmt: skip
    for block in re.split(r"(?m)^(?=CPU: \d+$)", stats):
        cpu, lost = _CPU.search(block), _COUNTER.search(block)
        if cpu and lost:
            raise cut_off(
                _first_loss(path) or f"{path}: CPU {cpu[1]}, at its beginning or end",
                f"{int(lost[2]):,} events of CPU {cpu[1]} are lost",
                f"the kernel's buffer was full ({lost[1]})",
                WHOLE_TRACE_CMD,
            )


def _first_loss(path: Path) -> str:
    """Where events are missing between others; nothing marks it at the beginning and the end."""
    with _report(path) as lines:
        for number, line in enumerate(lines, 1):
            if LOST.search(line):
                return _where(path, number)
    return ""


def _where(path: Path, number: int) -> str:
    return f"{path}: line {number:,} of '{' '.join(_REPORT)} {path.name}'"
