# SPDX-License-Identifier: GPL-2.0
"""Fetches a newer QEMU from the backports of the machine's own Debian mirror into the cache.

Everything that it needs lies beside it; the machine's packages stay as they are.
"""

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..base import apt, own_apt, paths
from ..base.files import read_json, write_text
from ..base.locks import locked
from ..base.own_apt import NotFetched, OwnApt, Source
from ..base.progress import meter

_DIRECTORY = paths.CACHE / "qemu"
_FAILED = _DIRECTORY / "failed.json"
_TRIED_AGAIN_AFTER = 24 * 3600.0
_LOG = paths.LOGS / "qemu.log"
_PACKAGE = "qemu-system-x86"
_PROGRAM = "qemu-system-x86_64"
_LIBRARIES = "x86_64-linux-gnu"
# The libraries that the machine lacks are only here.
_WRAPPER = """\
#!/bin/sh
# {package} {version}
here=${{0%/*}}
export LD_LIBRARY_PATH="$here/usr/lib/{libraries}:$here/lib/{libraries}"
exec "$here/usr/bin/{program}" "$@"
"""


def fetched() -> Path | None:
    """The program that an earlier command has fetched."""
    found = sorted(_DIRECTORY.glob(f"[0-9]*/{_PROGRAM}"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def failure() -> str:
    """Why an earlier command could not, if it is too early to try again."""
    match read_json(_FAILED):
        case {"why": str(why), "at": float(at)} if 0 <= time.time() - at < _TRIED_AGAIN_AFTER:
            return why
    return ""


def fetch() -> Path:
    """A program that runs. Some 25 MB are downloaded; 100 MB stay in the cache."""
    try:
        with locked(_DIRECTORY / "lock"):
            # Another command may have been faster.
            if (found := fetched()) and _boots(found):
                return found
            return _fetch()
    except (NotFetched, OSError) as error:
        # A cache that cannot be written remembers nothing.
        with contextlib.suppress(OSError):
            write_text(_FAILED, json.dumps({"why": str(error), "at": time.time()}))
        raise NotFetched(str(error)) from error


def _fetch() -> Path:
    codename = own_apt.codename("backports of it")
    for left in _DIRECTORY.glob(".*"):  # of one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with (
        meter("fetching a newer QEMU from Debian's backports (%)", total_comes=True) as progress,
        tempfile.TemporaryDirectory(dir=_DIRECTORY, prefix=".") as scratch,
    ):
        packages = _download(Path(scratch), codename, apt.follow(progress, installs=False))
        tree = Path(scratch) / "tree"
        for package in packages:
            own_apt.run(["dpkg", "-x", str(package), str(tree)])
        version = _version(packages)
        wrapper = tree / _PROGRAM
        words = {"program": _PROGRAM, "package": _PACKAGE, "libraries": _LIBRARIES}
        wrapper.write_text(_WRAPPER.format(version=version, **words))
        wrapper.chmod(0o755)
        # Where this is, QEMU looks below it for all that it would look for in /, and only there:
        # modules of another version, which may be installed, end it.
        (tree / "usr/bin/qemu-bundle").symlink_to("../..")
        if not _boots(wrapper):
            raise NotFetched(f"{_PACKAGE} {version} does not run here")
        # Else a power failure could leave the new name with nothing in it.
        subprocess.run(["sync", "--file-system", str(tree)])
        target = _DIRECTORY / version
        shutil.rmtree(target, ignore_errors=True)
        tree.rename(target)
        return target / _PROGRAM


def _download(scratch: Path, codename: str, on_line: Callable[[str], None]) -> list[Path]:
    """The package and whatever it needs and this machine has not, at the versions it needs."""
    backports = f"{codename}-backports"
    sources = [
        Source(uri, (name, backports) if name == codename else (name,))
        for uri, name in own_apt.mirror(codename)
    ]
    own = OwnApt(scratch, sources, _LOG)
    own.update()
    install = ["install", "-y", "--download-only", "--no-install-recommends"]
    own.download([*install, "--target-release", backports, _PACKAGE], on_line)
    return sorted(own.archives.glob("*.deb"))


def _version(packages: list[Path]) -> str:
    (package,) = (path for path in packages if path.name.startswith(f"{_PACKAGE}_"))
    # Without the epoch: a colon cannot stand in a path of the cache.
    return own_apt.run(["dpkg-deb", "-f", str(package), "Version"]).strip().rpartition(":")[2]


def _boots(program: Path) -> bool:
    """It boots as far as its firmware, which it does not without a library, a module or a file."""
    machine = "-M q35 -accel tcg -nic none -display none -S -monitor stdio"
    command = [str(program), *machine.split()]
    try:
        done = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
