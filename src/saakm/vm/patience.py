# SPDX-License-Identifier: GPL-2.0
"""How long a guest has been at work: what its limits count, so that a busy host is no hang."""

import os
import time
from pathlib import Path

# For a host on which many others want the CPUs as well.
BUSY = 8.0


class Patience:
    """A clock for limits of one QEMU.

    It counts the seconds in which that had a CPU. One that does nothing at all is waited for
    `factor` times longer; with 1 the clock is the host's.
    """

    def __init__(self, pid: int, factor: float = BUSY) -> None:
        self._pid, self._factor = pid, factor
        self._begin, self._used = time.monotonic(), _cpu_seconds(pid)
        self._idle, self._looked, self._seen = 0.0, self._begin, self._used

    def spent(self) -> float:
        passed = time.monotonic() - self._begin
        if self._factor == 1:
            return passed
        return max(passed / self._factor, min(passed, _cpu_seconds(self._pid) - self._used))

    def idle(self) -> float:
        """Says for how long it has used no CPU time, while somebody kept looking: who is stopped himself,
        or waits for gdb, sees nothing of that."""
        now, used = time.monotonic(), _cpu_seconds(self._pid)
        self._idle = 0.0 if used > self._seen else self._idle + min(now - self._looked, 1.0)
        self._looked, self._seen = now, used
        return self._idle


def _cpu_seconds(pid: int) -> float:
    """What a process has used; 0 if it is gone."""
    try:
        # Its name, between parentheses, may hold anything; utime and stime are fields 14 and 15.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
