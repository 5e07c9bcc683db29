# SPDX-License-Identifier: GPL-2.0
"""Keeps two saakm commands from building in one directory at once."""

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"saakm: another saakm is at work on {path.parent}; waiting for it", file=sys.stderr
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
