# SPDX-License-Identifier: GPL-2.0
"""Modules of checkouts and of policies that are gone, which would stay in the cache for ever.

KERNEL/saakm-modules/CHECKOUT/POLICY: each says whose it is, and is named for that. What is gone here
may be there in another container with the same cache: nothing goes that somebody has used within a
day. Nor does anything of which that is not certain, for whatever reason.
"""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import time
from pathlib import Path

from ..base import paths
from ..base.files import is_whole, write_text
from ..base.locks import locked_now

LOCK = "lock"  # each use of the modules changes its time
SOURCE = "saakm.source"  # in a module's directory: the path of what it is built of
STAMP = "saakm.stamp"
_CHECKOUT = "saakm.checkout"  # in a checkout's: its path
_UNUSED_SECONDS = 24 * 3600
# What is being removed, or was when that was interrupted.
_GOING = ".going."
_WAS_GOING = re.compile(rf"\.[0-9a-z_-]+{re.escape(_GOING)}[0-9a-f]{{16}}")


def hashed_name(source: Path) -> str:
    """Of the directory of a module whose source is not the checkout's."""
    return f"{source.name}-{hashlib.sha256(str(source).encode()).hexdigest()[:12]}"


def claim(modules: Path) -> None:
    """Notes that this checkout's modules are in that directory."""
    if not (modules / _CHECKOUT).exists():
        write_text(modules / _CHECKOUT, str(paths.REPO))


def remove(modules: Path) -> None:
    """What is of no use any more, among this checkout's modules, which are locked, and beside them."""
    root = modules.parent
    for directory in [*_directories(modules), *_directories(root)]:
        if _WAS_GOING.fullmatch(directory.name):
            shutil.rmtree(directory, ignore_errors=True)
    for directory in _directories(modules):
        if _is_gone_module(directory) and _is_old(directory):
            _remove(directory)
    for directory in _directories(root):
        if _is_gone_checkout(directory):
            _remove_unused(directory, directory / LOCK)
        elif _is_of_an_earlier_version(directory):
            _remove_unused(directory, root / LOCK)


def _remove_unused(directory: Path, lock: Path) -> None:
    """Who waits for the lock meanwhile finds no directory, and makes another one."""
    with locked_now(lock) as is_ours:
        if is_ours and _is_old(lock):
            _remove(directory)


def _directories(place: Path) -> list[Path]:
    try:
        return [path for path in place.iterdir() if path.is_dir() and not path.is_symlink()]
    except OSError:
        return []


def _is_gone_module(directory: Path) -> bool:
    source = _noted(directory / SOURCE)
    return (
        source is not None
        and directory.name in (source.name, hashed_name(source))
        and _is_gone(source)
    )


def _is_gone_checkout(directory: Path) -> bool:
    checkout = _noted(directory / _CHECKOUT)
    return (
        checkout is not None
        and directory.name == paths.checkout_key(checkout)
        and _is_gone(checkout)
    )


def _is_of_an_earlier_version(directory: Path) -> bool:
    """It had all modules here: what our stamp vouches for is ours."""
    return any(is_whole(directory / STAMP, module) for module in directory.glob("*.ko"))


def _noted(note: Path) -> Path | None:
    """What the note names; None if it is not there or makes no sense."""
    if not os.path.isfile(note):
        return None
    try:
        named = Path(note.read_text().rstrip("\n"))
    except (OSError, ValueError):
        return None
    return named if named.is_absolute() else None


def _is_gone(path: Path) -> bool:
    """What may not be looked at is not known to be gone."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _UNUSED_SECONDS
    except OSError:
        return False


def _remove(directory: Path) -> None:
    """In one step for others."""
    going = directory.with_name(f".{directory.name}{_GOING}{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        directory.rename(going)
        shutil.rmtree(going, ignore_errors=True)
        directory.with_name(f"{directory.name}.log").unlink(missing_ok=True)
