# SPDX-License-Identifier: GPL-2.0
"""saakm clean: give disk space back."""

import contextlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.locks import is_locked
from ..base.progress import meter
from ..builder.kernel import MODULES
from ..vm import exchange

# What the workshop makes in its cache, as ./saakm has it, too.
_ENVIRONMENT = re.compile(r"venv-.{12}(\.lock)?")
_OURS = re.compile(
    rf"{_ENVIRONMENT.pattern}|accel\.json|build|cargo|ccache|debian|debian-.*\.tar|docs|guests|lint"
    r"|logs|mutate|peers|programs|qemu|series|sim|tests|trees|\.(CACHEDIR\.TAG|accel\.json)\..*"
)

_MOUNTS = Path("/proc/self/mountinfo")


def clean(
    everything: Annotated[
        bool,
        typer.Option("--all", help="The whole cache: sources and compiler cache, too."),
    ] = False,
) -> None:
    """Remove builds from the cache; the next build starts anew.

    The cache is ~/.cache/saakm, or the directory that SAAKM_CACHE names: an absolute path, not below
    /tmp or what else a guest has of its own. It is marked by a file CACHEDIR.TAG. A directory
    without that mark is not touched, nor one in which a guest runs or something is built; what
    SaaKM has not made stays.
    """
    victims = _victims(everything)
    if victims:
        _refuse_what_is_not_ours()
        _refuse_while_in_use()
        _refuse_mounts(victims)
    with meter("counting"):
        sizes = {path: _disk_usage(path) for path in victims}
    freed = sum(sizes.values())
    # Of the environments one has the code that runs here: after it, nothing of rich can be loaded.
    environments = [path for path in victims if _ENVIRONMENT.fullmatch(path.name)]
    with meter("removing (MiB)", max(freed // 2**20, 1)) as progress:
        for path in victims:
            if path not in environments:
                progress.describe(path.name)
                _remove(path)
                progress.advance(sizes[path] / 2**20)
    for path in environments:
        with contextlib.suppress(OSError):  # one that is half removed is made anew
            (path / "ready").unlink()
        _remove(path)
    strangers = (
        [path for path in _entries() if not _OURS.fullmatch(path.name)] if everything else []
    )
    for path in strangers:
        print(f"kept {path}: it is not SaaKM's")
    if everything and paths.CACHE.exists() and not strangers:
        # Last, so that one that is interrupted can be repeated.
        (paths.CACHE / cache.MARK).unlink()
        with contextlib.suppress(OSError):  # a link or a disk of its own stays
            paths.CACHE.rmdir()
    print(f"freed {freed / 2**30:.1f} GiB")


def _victims(everything: bool) -> list[Path]:
    if not everything:
        found = [paths.BUILD, paths.CARGO, paths.GUESTS, paths.LOGS]
    else:
        found = [path for path in _entries() if _OURS.fullmatch(path.name)]
    return [path for path in found if path.exists() or path.is_symlink()]


def _entries() -> list[Path]:
    found = sorted(paths.CACHE.iterdir()) if paths.CACHE.exists() else []
    return [path for path in found if path.name not in (cache.MARK, "lost+found")]


def _refuse_what_is_not_ours() -> None:
    if not cache.is_marked():
        raise SaakmError(
            f"{paths.CACHE} is not emptied",
            f"it has no {cache.MARK} by which SaaKM marks its caches: it may be somebody else's",
            "check SAAKM_CACHE; ./saakm marks the cache of an earlier version when it uses it, for "
            "example by ./saakm doctor",
        )


def _refuse_while_in_use() -> None:
    locks = [*paths.BUILD.glob("*/lock"), *paths.TREES.glob("*/lock")]
    locks += paths.BUILD.glob(f"*/{MODULES}/*/lock")
    locks += [paths.CACHE / name / "lock" for name in ("cargo", "qemu", "mutate", "series")]
    used = [*exchange.living(), *(lock.parent for lock in locks if is_locked(lock))]
    if used:
        raise SaakmError(
            f"{paths.CACHE} is in use",
            f"a guest runs or something is built in {', '.join(map(str, used))}",
            "wait for it or end it, then the same again",
        )


def _refuse_mounts(victims: list[Path]) -> None:
    """What is mounted there is somebody's who did not mean it to go."""
    lines = _MOUNTS.read_text().splitlines()
    # As there, \\040 is a blank.
    mounted = [Path(line.split()[4].encode().decode("unicode_escape")) for line in lines]
    gone = [victim.resolve() for victim in victims if not victim.is_symlink()]
    for place in mounted:
        if any(victim in (place, *place.parents) for victim in gone):
            raise SaakmError(
                f"{place} is not emptied",
                "something is mounted there",
                f"umount {place}, then the same again",
            )


def _remove(path: Path) -> None:
    """A link goes, what it leads to stays."""
    try:
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            shutil.rmtree(path)
        print(f"removed {path}", flush=True)
    except OSError as error:
        raise SaakmError(
            f"cannot remove {path}", str(error), "mend that, then the same again"
        ) from error


def _disk_usage(path: Path) -> int:
    """Counts as du(1) does: blocks, and hard links once."""
    done = subprocess.run(
        ["du", "-s", "-B1", str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[0])
