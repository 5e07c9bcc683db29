# SPDX-License-Identifier: GPL-2.0
"""A program that is run by itself, and what it takes of the host."""

import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError

_LOOK_S = 0.005
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.M)


@dataclass(frozen=True)
class Taken:
    """`peak_kib`: the most memory seen, in looks 5 ms apart."""

    cpu_s: float
    wall_s: float
    peak_kib: int
    printed: str


def run_alone(command: Sequence[str]) -> Taken:
    """Of its own process: what getrusage() calls the most of a child's memory is Python's at first."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            peak = _watch(child.pid)
            wall = time.monotonic() - began
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read()
    if child.returncode:
        raise SaakmError(
            f"{Path(command[0]).name} has failed",
            said.strip()[-2000:] or f"its status is {child.returncode}",
            f"the command was: {shlex.join(command)}",
        )
    return Taken(usage.ru_utime + usage.ru_stime, wall, peak, printed)


def _watch(pid: int) -> int:
    """Until it has ended, but is not yet waited for."""
    peak = 0
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while True:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
        peak = max(peak, int(found[1]) if found else 0)
        if os.waitid(os.P_PID, pid, flags):
            return peak
        time.sleep(_LOOK_S)
