# SPDX-License-Identifier: GPL-2.0
"""Runs a program whose output goes to a log that is shown when it fails."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from . import cache
from .errors import SaakmError

TAIL_LINES = 40


def tail(path: Path, lines: int = TAIL_LINES) -> str:
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def run_logged(
    args: list[str],
    log: Path,
    what: str,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    append: bool = False,
    leave_out: re.Pattern[str] | None = None,
) -> None:
    """Raises with the log's end when the program fails or is not there.

    `leave_out`: of lines that only `on_line` is to hear of.
    """
    cache.make(log.parent)
    with log.open("a" if append else "w") as out:
        try:
            child = subprocess.Popen(
                args,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=cwd,
                env={**os.environ, **(env or {})},
            )
        except FileNotFoundError as error:
            raise SaakmError(
                f"{what} failed",
                f"there is no program '{args[0]}'",
                "saakm doctor says what is missing",
            ) from error
        with child:
            assert child.stdout
            for line in child.stdout:
                if not leave_out or not leave_out.match(line):
                    out.write(line)
                if on_line:
                    on_line(line)
    if child.returncode:
        end = tail(log)
        raise SaakmError(
            f"{what} failed",
            f"'{args[0]}' ended with status {child.returncode}; the end of its log:\n{end}",
            cache.if_full(end) or f"read the whole log: {log}",
        )
