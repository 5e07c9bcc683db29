# SPDX-License-Identifier: GPL-2.0
"""Which tarball of Linux is pinned, and what this machine has instead."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import read_json, write_text

FILE = paths.PACKAGE / "linux-source.txt"


PACKAGE = "linux-source-6.12"


@dataclass(frozen=True)
class Pin:
    package: str
    version: str
    sha256: str  # of the tarball; of one that we fetch ourselves: of the package
    suite: str = ""  # that we fetch it from

    @property
    def series(self) -> str:
        return self.package.rpartition("-")[2]


def pins() -> list[Pin]:
    lines = (line.split() for line in FILE.read_text().splitlines())
    return [Pin(*words) for words in lines if words and words[0] != "#"]


def pin() -> Pin:
    """Of the kernel that our patches are for."""
    (found,) = (pin for pin in pins() if pin.package == PACKAGE)
    return found


def verified_hash(tarball: Path) -> str:
    """The tarball's SHA-256; refuses one that is not what its version had before."""
    # Hashing 150 MB takes a second: remembered by size and time.
    stat = tarball.stat()
    mark = [stat.st_size, stat.st_mtime_ns]
    notes = read_json(_memo())
    digest = str(notes.get("sha256"))
    if notes.get("mark") != mark or not re.fullmatch("[0-9a-f]{64}", digest):
        with tarball.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    versions = _versions(notes)
    if digest not in versions and (version := package_version(tarball)):
        _refuse_another(tarball, digest, version, versions)
        versions[digest] = version
    now = {"mark": mark, "sha256": digest, "versions": versions}
    if now != notes:
        cache.make(paths.TREES)
        write_text(_memo(), json.dumps(now))
    return digest


def instead(key: str) -> str:
    """What to say of a kernel from the tarball whose hash begins so, if it is not the pinned one."""
    wanted = pin()
    if wanted.sha256.startswith(key):
        return ""
    versions = _versions(read_json(_memo()))
    found = next((v for digest, v in versions.items() if digest.startswith(key)), "another tarball")
    said = f"the kernel is built from {found} instead of the pinned {wanted.version}"
    return f"{said}: figures may differ"


def package_version(tarball: Path) -> str:
    """Returns that of the Debian package that the file belongs to; empty if it belongs to none."""
    package = _ask_dpkg("-S", str(tarball)).partition(":")[0]
    return _ask_dpkg("-W", "-f=${Version}", package) if package else ""


def _ask_dpkg(*question: str) -> str:
    try:
        return subprocess.run(["dpkg-query", *question], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


def _memo() -> Path:
    return paths.TREES / "tarball.json"


def _versions(notes: dict[str, object]) -> dict[str, str]:
    """Returns by hash the pinned one, and those that were taken instead of it."""
    seen = notes.get("versions")
    wanted = pin()
    return {
        **({str(k): str(v) for k, v in seen.items()} if isinstance(seen, dict) else {}),
        wanted.sha256: wanted.version,
    }


def _refuse_another(tarball: Path, digest: str, version: str, known: dict[str, str]) -> None:
    expected = [other for other, of in known.items() if of == version]
    if expected:
        place = FILE if version == pin().version else _memo()
        raise SaakmError(
            f"{tarball} is not that of {version}",
            f"its SHA-256 is {digest}, and {place} says {' or '.join(expected)}",
            f"apt-get install --reinstall {pin().package}={version}, or --kernel-source DIR",
        )
