# SPDX-License-Identifier: GPL-2.0
"""Talks QMP to the monitor that each guest's QEMU has on a socket.

QEMU's QMP reference: https://www.qemu.org/docs/master/interop/qemu-qmp-ref.html
"""

import json
import socket
from pathlib import Path
from typing import Any, TextIO

_SOCKET = "monitor"


def options(exchange: Path) -> list[str]:
    """For QEMU's command line."""
    return ["-qmp", f"unix:{exchange / _SOCKET},server=on,wait=off"]


def check(exchange: Path) -> None:
    """An OSError means that QEMU does not listen."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(str(exchange / _SOCKET))


def tell(exchange: Path, command: str, timeout: float = 10.0, **arguments: Any) -> Any:
    """One command; what it returns. An OSError means that nobody executes it."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(timeout)
        monitor.connect(str(exchange / _SOCKET))
        with monitor.makefile("rw") as line:
            _read(line)  # the greeting
            _execute(line, "qmp_capabilities", {})
            return _execute(line, command, arguments)


def _execute(line: TextIO, command: str, arguments: dict[str, Any]) -> Any:
    line.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    line.flush()
    while True:
        answer = _read(line)
        if "error" in answer:
            raise ConnectionError(f"QEMU refuses {command}: {answer['error']['desc']}")
        if "return" in answer:
            return answer["return"]
        # Else it is an event, which nobody waits for.


def _read(line: TextIO) -> dict[str, Any]:
    text = line.readline()
    if not text:
        raise ConnectionError("the guest has ended")
    return json.loads(text)
