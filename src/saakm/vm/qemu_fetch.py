# SPDX-License-Identifier: GPL-2.0
"""Fetches a newer QEMU from the backports of the machine's own Debian mirror into the cache.

The machine's apt is only asked where its mirror is and what is installed: lists, sources
and archives are our own. apt checks Debian's signature as always.
"""

import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..base import apt, paths
from ..base.errors import SaakmError
from ..base.files import read_json, write_text
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter


class NotFetched(Exception):
    """Why not, in words."""


_DIRECTORY = paths.CACHE / "qemu"
_FAILED = _DIRECTORY / "failed.json"
_TRIED_AGAIN_AFTER = 24 * 3600.0
_LOG = paths.LOGS / "qemu.log"
_PACKAGE = "qemu-system-x86"
_PROGRAM = "qemu-system-x86_64"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
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
    codename = _codename()
    for left in _DIRECTORY.glob(".*"):  # of one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with (
        meter("fetching a newer QEMU from Debian's backports (%)", total_comes=True) as progress,
        tempfile.TemporaryDirectory(dir=_DIRECTORY, prefix=".") as scratch,
    ):
        packages = _download(Path(scratch), codename, apt.follow(progress, installs=False))
        tree = Path(scratch) / "tree"
        for package in packages:
            _run(["dpkg", "-x", str(package), str(tree)])
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


def _codename() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    if release.get("ID") != "debian" or not release.get("VERSION_CODENAME"):
        raise NotFetched("this is not Debian, which has backports of it")
    return release["VERSION_CODENAME"]


def _download(scratch: Path, codename: str, on_line: Callable[[str], None]) -> list[Path]:
    """The package and whatever it needs and this machine has not, at the versions it needs."""
    for name in ("lists/partial", "cache/archives/partial", "sources"):
        (scratch / name).mkdir(parents=True)
    uris = _mirror(codename)
    (scratch / "sources" / "debian.sources").write_text(
        "\n".join(
            f"Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: main\nSigned-By: {_KEYRING}\n"
            for uri, suites in uris
        )
    )
    settings = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": f"{scratch}/sources",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::State::Lists": f"{scratch}/lists",
        "Dir::Cache": f"{scratch}/cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "Acquire::http::Timeout": "20",
        "APT::Sandbox::User": "root",  # another user could not write here
        "Debug::NoLocking": "true",  # nothing of the machine's is written
    }
    command = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
    # A mirror may lack a suite, or not answer: whether that matters, the next command finds out.
    _, updating = _logged([*command, "update"])
    install = ["install", apt.OPTION, "-y", "--download-only", "--no-install-recommends"]
    install += ["--target-release", f"{codename}-backports", _PACKAGE]
    done, installing = _logged([*command, *install], on_line)
    if not done:
        raise NotFetched(f"apt-get: {updating or installing or 'it failed'}")
    return sorted((scratch / "cache/archives").glob("*.deb"))


def _mirror(codename: str) -> list[tuple[str, str]]:
    """Where the machine's apt gets this release from, and the suites that we want of it."""
    listed = _run(["apt-get", "-oDebug::NoLocking=true", "--print-uris", "update"])
    suites = re.findall(
        rf"^'(\S+)/dists/({codename}(?:-updates|-security)?)/InRelease'", listed, re.M
    )
    found = list(dict.fromkeys(suites))
    if not found:
        raise NotFetched(f"this machine's apt has no source of {codename}")
    if not _KEYRING.exists():
        raise NotFetched(f"{_KEYRING} is missing (package debian-archive-keyring)")
    backports = f"{codename}-backports"
    return [(uri, f"{name} {backports}" if name == codename else name) for uri, name in found]


def _version(packages: list[Path]) -> str:
    (package,) = (path for path in packages if path.name.startswith(f"{_PACKAGE}_"))
    # Without the epoch: a colon cannot stand in a path of the cache.
    return _run(["dpkg-deb", "-f", str(package), "Version"]).strip().rpartition(":")[2]


def _boots(program: Path) -> bool:
    """It boots as far as its firmware, which it does not without a library, a module or a file."""
    machine = "-M q35 -accel tcg -nic none -display none -S -monitor stdio"
    command = [str(program), *machine.split()]
    try:
        done = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=_environment())
    except FileNotFoundError as error:
        raise NotFetched(f"there is no program {command[0]}") from error
    if done.returncode:
        raise NotFetched(f"{command[0]}: {_complaint(done.stderr) or 'it failed'}")
    return done.stdout


def _logged(
    command: list[str], on_line: Callable[[str], None] = lambda line: None
) -> tuple[bool, str]:
    """Whether it succeeded, and its first complaint: warnings are no failures."""
    said: list[str] = []

    def listen(line: str) -> None:
        said.append(line)
        on_line(line)

    try:
        run_logged(command, _LOG, "apt-get", _environment(), None, listen, True, apt.STATUS)
    except SaakmError:
        return False, _complaint("".join(said))
    return True, _complaint("".join(said))


def _complaint(text: str) -> str:
    found = [line for line in text.splitlines() if line.startswith(("E: ", "W: ", "Err:"))]
    return found[0] if found else ""


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
