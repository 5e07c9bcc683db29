# SPDX-License-Identifier: GPL-2.0
"""Keeps two saakm commands from building in one directory at once."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from . import cache


@contextmanager
def locked(path: Path) -> Iterator[None]:
    while True:
        cache.make(path.parent)
        try:
            file = path.open("w")
        except FileNotFoundError:  # whoever had the lock removed the directory just now
            continue
        with file:
            _wait_for(file, path)
            if _is_still(file, path):
                yield
                return


def _wait_for(file: IO[str], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"saakm: another saakm is at work on {path.parent}; waiting for it", file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)


def _is_still(file: IO[str], path: Path) -> bool:
    """Whoever had the lock may have removed the file, or the directory."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def locked_now(path: Path) -> Iterator[bool]:
    """Whether it could be locked at once; changes nothing of the file and makes none."""
    try:
        file = path.open()
    except OSError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = _is_still(file, path)
        except OSError:
            ours = False
        yield ours


def is_locked(path: Path) -> bool:
    """Whether somebody is at work there now."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
