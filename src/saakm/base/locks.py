# SPDX-License-Identifier: GPL-2.0
"""Keeps two saakm commands from building in one directory at once."""

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import cache


@contextmanager
def locked(path: Path) -> Iterator[None]:
    cache.make(path.parent)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"saakm: another saakm is at work on {path.parent}; waiting for it", file=sys.stderr
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


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
