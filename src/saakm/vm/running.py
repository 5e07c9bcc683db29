# SPDX-License-Identifier: GPL-2.0
"""The guests that run now, whoever started them."""

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from ..base.files import write_text
from .qmp import check, tell

_FILE = "guest.json"
# While it is there, the guest may stand still, and nobody shall think that it hangs.
_HELD = "held"
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Running:
    """A guest, as the command that booted it describes it to others."""

    pid: int  # of that command
    command: str
    config: str
    build: str
    exchange: str
    started: float  # seconds since 1970

    def __str__(self) -> str:
        age = time.time() - self.started
        return f"{self.pid}  {self.config}, up {age:.0f} s  {self.command}"


def announce(exchange: Path, config: str, build: Path) -> None:
    words = ["saakm", *sys.argv[1:]] if Path(sys.argv[0]).name == "__main__.py" else sys.argv
    it = Running(os.getpid(), " ".join(words), config, str(build), str(exchange), time.time())
    write_text(exchange / _FILE, json.dumps(asdict(it)))


def running_guests() -> list[Running]:
    """Returns those whose QEMU answers, oldest first."""
    found = []
    for file in paths.GUESTS.glob(f"*/{_FILE}"):
        with contextlib.suppress(OSError, ValueError):
            guest = Running(**json.loads(file.read_text()))
            check(Path(guest.exchange))
            found.append(guest)
    return sorted(found, key=lambda guest: guest.started)


def choose_guest(pid: int | None, patience: float = 0.0) -> Running:
    """The guest of process `pid`, or the only one; waits so many seconds for one to come."""
    deadline = time.monotonic() + patience
    while True:
        guests = running_guests()
        wanted = [guest for guest in guests if pid in (None, guest.pid)]
        if wanted or time.monotonic() > deadline:
            break
        time.sleep(_POLL_SECONDS)
    if len(wanted) == 1:
        return wanted[0]
    listed = "\n        ".join(map(str, guests))
    if not guests:
        raise SaakmError(
            "there is no guest to debug",
            "no saakm command of this user runs one now",
            "start one in another window: saakm shell fifo; or: saakm run fifo --gdb -- COMMAND",
        )
    if not wanted:
        raise SaakmError(
            f"no guest was started by process {pid}",
            f"running are:\n        {listed}",
            "name one of these",
        )
    raise SaakmError(
        f"{len(wanted)} guests are running",
        f"they are:\n        {listed}",
        f"name one by its first column: saakm gdb {wanted[-1].pid}",
    )


# --- standing still ---


def hold(exchange: Path, pid: int | None = None) -> None:
    """Says that the guest waits for a debugger, or that process `pid` is one."""
    (exchange / _HELD).write_text(str(pid or ""))


def release(exchange: Path) -> None:
    """The guest goes on, whatever the debugger left it at."""
    (exchange / _HELD).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it has ended meanwhile
        tell(exchange, "cont")


def is_held(exchange: Path) -> bool:
    try:
        pid = (exchange / _HELD).read_text()
    except OSError:
        return False
    return not pid or Path("/proc", pid).exists()
