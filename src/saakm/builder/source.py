# SPDX-License-Identifier: GPL-2.0
"""Finds Linux 6.12 and unpacks it once into the cache."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from . import pinned
from .sync import forget, notes_are_damaged, owned_files

TARBALL = Path("/usr/src/linux-source-6.12.tar.xz")
SERIES = "6.12"
# As rsync says it: bytes, and per cent.
_COPIED = re.compile(r"^\s*[\d,.]+\s+(\d+)%")
_CHUNK = 1 << 20
# What it takes on the disk, as a multiple of the tarball.
_GROWS = 12
# What an in-tree build leaves behind, and make O= would refuse.
_BUILT = [".git/", "*.o", "*.ko", "*.cmd", "*.a", "*.mod", "/.config", "/vmlinux"]
_BUILT += ["/include/config/", "/include/generated/", "/arch/*/include/generated/"]


def default_tree() -> tuple[str, Path]:
    """The key and the directory of Debian's source, unpacked if need be."""
    if not TARBALL.exists():
        raise SaakmError(
            f"there is no {TARBALL}",
            "the package linux-source-6.12 is not installed",
            "apt-get install linux-source-6.12, or give --kernel-source DIR",
        )
    key = pinned.verified_hash(TARBALL)[:12]
    tree = paths.TREES / key / "linux"
    unpacked = tree.parent / "unpacked"
    # A build holds the lock for minutes: whoever only wants to know does not wait.
    if not unpacked.exists() or notes_are_damaged(tree):
        with locked(paths.TREES / key / "lock"):
            _unpack_if_needed(tree, unpacked)
    check_series(tree)
    return key, tree


def find_tree() -> Path | None:
    """Debian's source if it is unpacked; unpacks nothing."""
    if not TARBALL.exists():
        return None
    tree = paths.TREES / pinned.verified_hash(TARBALL)[:12] / "linux"
    return tree if (tree.parent / "unpacked").exists() else None


def _unpack_if_needed(tree: Path, unpacked: Path) -> None:
    # Without the notes nobody knows which files are Linux's.
    if unpacked.exists() and not notes_are_damaged(tree):
        return
    unpacked.unlink(missing_ok=True)
    forget(tree)
    unpack(TARBALL, tree)
    # All of it on the disk first: it is not looked at again.
    os.sync()
    unpacked.touch()


def copied_tree(source: Path) -> tuple[str, Path]:
    """A copy of the user's own tree, brought up to date but for what sync put there."""
    source = source.resolve()
    check_series(source)
    key = "dir-" + hashlib.sha256(str(source).encode()).hexdigest()[:12]
    tree = paths.TREES / key / "linux"
    cache.make(tree)
    with (
        locked(paths.TREES / key / "lock"),
        meter(f"copying {source} (%)", total_comes=True) as progress,
    ):
        if notes_are_damaged(tree):
            forget(tree)  # then all is fetched again
        exclude = [f"--exclude={pattern}" for pattern in _BUILT]
        exclude += [f"--exclude=/{name}" for name in sorted(owned_files(tree))]
        command = ["rsync", "-a", "--delete", "--info=progress2", "--no-inc-recursive", *exclude]

        def step(line: str) -> None:
            if match := _COPIED.match(line):
                progress.reach(int(match[1]), 100)

        log, what = paths.LOGS / "copy.log", f"copying {source}"
        command += [f"{source}/", f"{tree}/"]
        run_logged(command, log, what, on_line=step, leave_out=_COPIED)
    return key, tree


def check_series(tree: Path) -> str:
    """The tree's version; refuses anything but 6.12.y."""
    makefile = tree / "Makefile"
    text = makefile.read_text(errors="replace") if makefile.exists() else ""
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", text, re.M))
    if len(numbers) != 3:
        raise SaakmError(
            f"{tree} is not a kernel tree",
            "its Makefile does not say VERSION, PATCHLEVEL and SUBLEVEL",
            f"give the top directory of a Linux {SERIES}.y tree",
        )
    version = "{VERSION}.{PATCHLEVEL}.{SUBLEVEL}".format(**numbers)
    if not version.startswith(SERIES + "."):
        raise SaakmError(
            f"{tree} is Linux {version}",
            f"SaaKM's patches are for {SERIES}.y",
            f"give a Linux {SERIES}.y tree",
        )
    return version


def refuse_full_disk(place: Path, needed: float, what: str) -> None:
    """Refuses before tar complains of each of 80,000 files."""
    free = shutil.disk_usage(place).free
    if free < needed:
        raise SaakmError(
            f"cannot {what}",
            f"{place} has {free / 2**30:.1f} GiB free, and this takes {needed / 2**30:.1f} GiB",
            "free space, or give another disk in SAAKM_CACHE; saakm doctor says what all builds take",
        )


def unpack(tarball: Path, tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    refuse_full_disk(tree.parent, tarball.stat().st_size * _GROWS, f"unpack {tarball}")
    tree.mkdir(parents=True)
    command = ["tar", "-xJf", "-", "--strip-components=1", "-C", str(tree)]
    size_mb = tarball.stat().st_size / _CHUNK
    with (
        tarball.open("rb") as packed,
        meter(f"unpacking {tarball.name} (MB)", round(size_mb)) as progress,
        subprocess.Popen(command, stdin=subprocess.PIPE) as tar,
    ):
        try:
            assert tar.stdin
            while chunk := packed.read(_CHUNK):
                tar.stdin.write(chunk)
                progress.advance()
        except BrokenPipeError:
            pass  # tar says why on stderr, and its status is checked below
        if tar.stdin:
            tar.stdin.close()
    if tar.returncode:
        raise SaakmError(
            f"cannot unpack {tarball}",
            f"tar ended with status {tar.returncode}; its message is above",
            "check the disk's free space (saakm doctor), or reinstall the package that it is of",
        )
