# SPDX-License-Identifier: GPL-2.0
"""Directories in the cache that live as long as the command that made them.

Each has a lock that its owner holds: process numbers would not tell who is alive,
because several containers, each with its own, may use one cache. Several machines may, too,
and not every file system tells one of them of another's locks: so the lock says which machine,
since which boot, and what another one has left is left to it.
"""

import atexit
import contextlib
import fcntl
import functools
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ..base import cache, paths
from ..base.locks import is_locked

_LOCK = "owner.lock"
# Of another machine's, and of earlier versions', which held no lock, nobody here knows whether
# they are in use: for as long as a command may take, they are.
_STALE_SECONDS = 7 * 24 * 3600.0
_held: dict[Path, TextIO] = {}


def new_exchange() -> Path:
    """The directory of one guest, by which others find it."""
    cache.make(paths.GUESTS)
    with _registry():
        _sweep()
        directory = Path(tempfile.mkdtemp(prefix="guest-", dir=paths.GUESTS))
        _held[directory] = (directory / _LOCK).open("w")
        fcntl.flock(_held[directory], fcntl.LOCK_EX)
        print(_machine(), file=_held[directory], flush=True)
    return directory


def drop_exchange(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    if lock := _held.pop(directory, None):
        lock.close()


@atexit.register
def _drop_all() -> None:
    for directory in list(_held):
        drop_exchange(directory)


def living() -> list[Path]:
    """Returns those whose owner lives, on whichever machine."""
    return [path for path in _all() if is_locked(path / _LOCK) or _may_be_in_use(path)]


@contextlib.contextmanager
def _registry() -> Iterator[None]:
    """One at a time: a directory that is just being made has no lock yet."""
    with (paths.GUESTS / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep() -> None:
    """Remove what commands left behind that were killed outright."""
    for path in _all():
        if not is_locked(path / _LOCK) and not _may_be_in_use(path):
            shutil.rmtree(path, ignore_errors=True)


def _all() -> list[Path]:
    found = paths.GUESTS.iterdir() if paths.GUESTS.exists() else []
    return [path for path in found if path.is_dir() and not path.is_symlink()]


def _may_be_in_use(directory: Path) -> bool:
    """Though no lock is seen."""
    try:
        age = time.time() - directory.stat().st_mtime
        return _owner(directory) != _machine() and age < _STALE_SECONDS
    except FileNotFoundError:  # its owner has just removed it
        return False


def _owner(directory: Path) -> str:
    try:
        return (directory / _LOCK).read_text().strip()
    except FileNotFoundError:
        return ""


@functools.cache
def _machine() -> str:
    """Containers have names of their own; the boot is that of all that run on one kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
