# SPDX-License-Identifier: GPL-2.0
"""One run of gdb on one guest."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..base import paths
from ..base.errors import SaakmError
from ..builder.kernel import MODULES
from ..vm.qmp import tell
from ..vm.running import Running, hold, release
from .scripts import kernel_scripts

_LOAD = paths.PACKAGE / "gdb" / "inside" / "load.py"
# Before anything is read: no questions, no network.
_SETTINGS = (
    "set debuginfod enabled off",
    "set pagination off",
    "set confirm off",
    "set remotetimeout 60",  # of a guest on a busy machine
)


def debug(guest: Running, commands: Sequence[str], batch: bool) -> int:
    """gdb on our terminal; its exit status. The guest goes on afterwards."""
    build, exchange = Path(guest.build), Path(guest.exchange)
    environment = {**os.environ, "SAAKM_MODULES": str(build / MODULES)}
    environment["SAAKM_GDB_SCRIPTS"] = str(kernel_scripts(build))
    environment["SAAKM_SYMBOLS"] = str(exchange / "symbols")
    _listen(exchange)
    command = ["gdb", "-q", *(["-batch"] if batch else [])]
    for setting in _SETTINGS:
        command += ["-iex", setting]
    command += ["-ex", f"target remote {exchange}/gdb", "-x", str(_LOAD)]
    for one in commands:
        command += ["-ex", one]
    with (
        _ctrl_c_is_for_gdb(),
        subprocess.Popen([*command, str(build / "vmlinux")], env=environment) as gdb,
    ):
        hold(exchange, gdb.pid)
        try:
            return gdb.wait()
        finally:
            gdb.kill()
            release(exchange)


def _listen(exchange: Path) -> None:
    """QEMU's stub, which costs nothing until it is asked for."""
    try:
        # Of QMP's commands none does this.
        arguments: dict[str, Any] = {
            "command-line": f"gdbserver unix:{exchange}/gdb,server=on,wait=off"
        }
        tell(exchange, "human-monitor-command", **arguments)
    except OSError as error:
        raise SaakmError(
            "the guest does not answer",
            f"its monitor says: {error}",
            "it may just have ended: saakm gdb --list",
        ) from error


@contextlib.contextmanager
def _ctrl_c_is_for_gdb() -> Iterator[None]:
    """It stops the guest, not us."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
