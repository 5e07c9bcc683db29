# SPDX-License-Identifier: GPL-2.0
"""Programs from crates.io, built on demand and kept in the cache."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
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


def build(crate: Crate) -> Path:
    """The crate's program; minutes, but once."""
    root = paths.CACHE / "peers"
    place = root / f"{crate.name}-{crate.version}"
    program = place / "bin" / (crate.program or crate.name)
    cache.make(root)
    # One at a time: they share what they are built from.
    with locked(root / "crates.lock"):
        if not program.exists():
            _refuse_without(crate)
            _install(crate, place, root / "target")
    return program


def _install(crate: Crate, place: Path, target: Path) -> None:
    command = [
        "install",
        "--locked",
        "--version",
        f"={crate.version}",
        "--root",
        str(place),
        *crate.options,
        crate.name,
    ]
    log, what = paths.LOGS / f"{crate.name}.log", f"building {crate.name} {crate.version}"
    run_cargo(command, log, what, target, paths.CACHE, **dict(crate.environment))


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
