# SPDX-License-Identifier: GPL-2.0
"""The cache as a whole: where it may be, the mark that says that it is ours, and its faults."""

import errno
import os
import re
from pathlib import Path

from . import paths
from .errors import SaakmError
from .files import replacing

MARK = "CACHEDIR.TAG"
_OURS = "\n# This is the cache of SaaKM"
# What guest/init mounts something of the guest's own over: the host's files there are not seen.
HIDDEN = tuple(map(Path, ("/dev", "/proc", "/run", "/sys", "/tmp", "/var/tmp")))
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


def refuse_unusable() -> None:
    """What ./saakm refuses as well, for those who start Python themselves."""
    if not paths.CACHE.is_absolute():
        raise SaakmError(
            f"'{paths.CACHE}' cannot be the cache",
            "it is a relative path, another place for each directory",
            "give an absolute path in SAAKM_CACHE",
        )
    if re.search(r"[\s:,'\"]", str(paths.CACHE)):
        raise SaakmError(
            f"'{paths.CACHE}' cannot be the cache",
            "make and QEMU do not take blanks, colons, commas and quotes in paths",
            "give another path in SAAKM_CACHE",
        )


def make(directory: Path) -> Path:
    """A directory in the cache; a cache that is new or empty is marked first."""
    if paths.CACHE in (directory, *directory.parents) and not is_marked():
        paths.CACHE.mkdir(parents=True, exist_ok=True)
        # Of others, nobody knows here whose they are: ./saakm does.
        if not any(paths.CACHE.iterdir()):
            mark()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def mark() -> None:
    with replacing(paths.CACHE / MARK) as scratch:
        scratch.write_bytes((paths.PACKAGE / MARK).read_bytes())


def is_marked() -> bool:
    """Other programs leave a file of this name, too: the text counts."""
    try:
        return _OURS in (paths.CACHE / MARK).read_text(errors="replace")
    except OSError:
        return False


def hidden_by_guest(path: Path) -> Path | None:
    """The directory by which a guest hides `path`, which may be a link to or through it."""
    for form in (Path(os.path.abspath(path)), path.resolve()):
        for directory in HIDDEN:
            if directory in (form, *form.parents):
                return directory
    return None


def refuse_hidden() -> None:
    """Refuses before anything is built for a guest that could not boot."""
    if hidden := hidden_by_guest(paths.CACHE):
        raise SaakmError(
            f"no guest can boot from the cache {paths.CACHE}",
            f"a guest has its own {hidden}, and does not see the host's",
            "give a directory elsewhere in SAAKM_CACHE, or unset it",
        )


def if_full(said: str) -> str:
    """What to do about it if a program has said that the disk is full; else nothing."""
    if os.strerror(errno.ENOSPC) not in said:
        return ""
    return f"free space, or give another disk in SAAKM_CACHE; the cache is {paths.CACHE}"


def explain(error: OSError) -> SaakmError | None:
    """A full disk or a cache that cannot be written, in words; None for all else."""
    file = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None
    if error.errno in _FULL:
        return SaakmError(
            "the disk is full",
            f"{file or 'writing'}: {error.strerror}",
            f"free space where the output goes; or, for the cache, {paths.CACHE}, give another disk "
            "in SAAKM_CACHE",
        )
    if error.errno in _NOT_WRITABLE and file and _concerns_cache(file):
        return SaakmError(
            f"cannot write to the cache {paths.CACHE}",
            f"{file}: {error.strerror}",
            "mend that, or give another directory in SAAKM_CACHE",
        )
    return None


def _concerns_cache(file: Path) -> bool:
    """It is inside, or a directory on the way there, that could not be made."""
    return paths.CACHE in (file, *file.parents) or file in paths.CACHE.parents
