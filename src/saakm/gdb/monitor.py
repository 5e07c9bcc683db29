# SPDX-License-Identifier: GPL-2.0
"""Talks to the monitor that each guest's QEMU has on a socket."""

import socket
from pathlib import Path

_PROMPT = b"(qemu) "


def tell(exchange: Path, command: str, timeout: float = 10.0) -> None:
    """One command; returns when it is executed. An OSError means that nobody executes it."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(timeout)
        monitor.connect(str(exchange / "monitor"))
        _until_prompt(monitor)
        monitor.sendall(command.encode() + b"\n")
        _until_prompt(monitor)


def _until_prompt(monitor: socket.socket) -> None:
    said = b""
    while not said.endswith(_PROMPT):
        more = monitor.recv(4096)
        if not more:
            raise ConnectionError("the guest has ended")
        said += more
