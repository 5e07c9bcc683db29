# SPDX-License-Identifier: GPL-2.0
"""Programs from crates.io, built on demand and kept in the cache."""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import hash_files
from ..base.locks import locked
from .cargo import run_cargo


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    program: str = ""  # if it is not named as the crate
    options: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # Debian's, to build it
    environment: tuple[tuple[str, str], ...] = ()
    patch: Path | None = None  # of ours, for the sources with the sum below
    sha256: str = ""

    @property
    def file(self) -> str:
        return self.program or self.name

    @property
    def build(self) -> str:
        """Its version, and which patch it has."""
        words = [self.name, self.version]
        if self.patch:
            words.append(hash_files([self.patch], self.patch.parent)[:12])
        return "-".join(words)


def build(crate: Crate) -> Path:
    """The crate's program; minutes, but once."""
    root = paths.CACHE / "peers"
    place = root / crate.build
    program = place / "bin" / crate.file
    cache.make(root)
    # One at a time: they share what they are built from.
    with locked(root / "crates.lock"):
        if not program.exists():
            _refuse_without(crate)
            _install(crate, place, root / "target")
    return program


def _install(crate: Crate, place: Path, target: Path) -> None:
    what = [crate.name, "--version", f"={crate.version}"]
    if crate.patch:
        what = ["--path", str(_patched(crate, crate.patch, place))]
    command = ["install", "--locked", "--root", str(place), *crate.options, *what]
    log, told = paths.LOGS / f"{crate.name}.log", f"building {crate.name} {crate.version}"
    run_cargo(command, log, told, target, paths.CACHE, **dict(crate.environment))


def _patched(crate: Crate, patch: Path, place: Path) -> Path:
    """Its sources, anew, with our patch."""
    packed = _fetch(crate)
    into = place / "source"
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    unpack = ["tar", "-xzf", str(packed), "--strip-components=1", "--no-same-owner"]
    subprocess.run(unpack, cwd=into, check=True)
    command = ["patch", "-p1", "--forward", "--fuzz=0", "-i", str(patch.resolve())]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True)
    if done.returncode:
        raise SaakmError(
            f"{crate.name} {crate.version} cannot be built",
            f"{patch} does not fit:\n{done.stdout}{done.stderr}",
            "mend the patch",
        )
    return into


def _fetch(crate: Crate) -> Path:
    """What crates.io has, as it is packed: cargo keeps it where it has asked for it."""
    spec = f"{crate.name}@{crate.version}"
    command = ["cargo", "info", "--quiet", "--registry", "crates-io", spec]
    asked = subprocess.run(command, cwd=paths.CACHE, capture_output=True, text=True)
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    name = f"{crate.name}-{crate.version}.crate"
    for packed in home.glob(f"registry/cache/*/{name}"):
        if hashlib.sha256(packed.read_bytes()).hexdigest() == crate.sha256:
            return packed
    raise SaakmError(
        f"there are no sources of {crate.name} {crate.version}",
        asked.stderr.strip() or f"{home}/registry has no {name} of the sum {crate.sha256}",
        f"cargo info --registry crates-io {spec}; it needs cargo 1.82, and crates.io",
    )


def _refuse_without(crate: Crate) -> None:
    missing = [name for name in crate.packages if not _installed(name)]
    if missing:
        raise SaakmError(
            f"{crate.name} cannot be built",
            f"these packages are not installed: {', '.join(missing)}",
            f"apt-get install {' '.join(missing)}, then the same again",
        )


def _installed(package: str) -> bool:
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True
    )
    return asked.stdout == "installed"
