# SPDX-License-Identifier: GPL-2.0
"""Modules of checkouts and of policies that are gone, which would stay in the cache for ever.

KERNEL/saakm-modules/CHECKOUT/POLICY: each says whose it is. What is gone here may be there in another
container with the same cache: nothing goes that somebody has used within a day.
"""

import shutil
import time
from pathlib import Path

from ..base import paths
from ..base.files import write_text
from ..base.locks import is_locked

LOCK = "lock"  # each use of the modules changes its time
SOURCE = "saakm.source"  # in a module's directory: the path of what it is built of
_CHECKOUT = "saakm.checkout"  # in a checkout's: its path
_UNUSED_SECONDS = 24 * 3600


def claim(modules: Path) -> None:
    """Notes that this checkout's modules are in that directory."""
    if not (modules / _CHECKOUT).exists():
        write_text(modules / _CHECKOUT, str(paths.REPO))


def remove(modules: Path) -> None:
    """What is of no use any more, among this checkout's modules and beside them."""
    for directory in _directories(modules):
        if _is_gone(directory / SOURCE) and _is_old(directory):
            _remove(directory)
    for directory in _directories(modules.parent):
        lock = directory / LOCK
        if not (directory / _CHECKOUT).exists() and not lock.exists():
            lock = modules.parent / LOCK  # of an earlier version, which had all modules there
        elif not _is_gone(directory / _CHECKOUT):
            continue
        if _is_old(lock) and not is_locked(lock):
            _remove(directory)


def _directories(place: Path) -> list[Path]:
    return [path for path in place.iterdir() if path.is_dir()]


def _is_gone(note: Path) -> bool:
    """Whether what the note names is not there; without a note nobody knows."""
    return note.exists() and not Path(note.read_text()).exists()


def _is_old(path: Path) -> bool:
    return not path.exists() or time.time() - path.stat().st_mtime > _UNUSED_SECONDS


def _remove(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.with_name(f"{directory.name}.log").unlink(missing_ok=True)
