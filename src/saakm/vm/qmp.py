# SPDX-License-Identifier: GPL-2.0
"""Talks QMP to the monitor that each guest's QEMU has on a socket."""

import asyncio
import socket
from pathlib import Path
from typing import Any

from qemu.qmp import QMPClient, QMPError

_SOCKET = "monitor"


def options(exchange: Path) -> list[str]:
    """Returns options for QEMU's command line."""
    return ["-qmp", f"unix:{exchange / _SOCKET},server=on,wait=off"]


def check(exchange: Path) -> None:
    """An OSError means that QEMU does not listen."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(str(exchange / _SOCKET))


def tell(exchange: Path, command: str, timeout: float = 10.0, **arguments: Any) -> Any:
    """One command; what it returns. An OSError means that nobody executes it."""
    try:
        return asyncio.run(asyncio.wait_for(_tell(exchange, command, arguments), timeout))
    except (QMPError, EOFError) as error:
        raise ConnectionError(f"QEMU does not execute {command}: {error}") from error


async def _tell(exchange: Path, command: str, arguments: dict[str, Any]) -> Any:
    client = QMPClient()
    await client.connect(str(exchange / _SOCKET))
    try:
        return await client.execute(command, arguments)
    finally:
        await client.disconnect()
