# SPDX-License-Identifier: GPL-2.0
"""Programs from crates.io, built on demand and kept in the cache."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter

_COMPILING = re.compile(r"^\s+Compiling (\S+)")


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
            print(
                f"saakm: building {crate.name} {crate.version} from its source, once; this takes minutes",
                file=sys.stderr,
            )
            _install(crate, place, root / "target")
    return program


def _install(crate: Crate, place: Path, target: Path) -> None:
    command = [
        "cargo",
        "install",
        "--locked",
        "--version",
        f"={crate.version}",
        "--root",
        str(place),
        *crate.options,
        crate.name,
    ]
    with meter(f"building {crate.name} {crate.version}") as progress:

        def step(line: str) -> None:
            if match := _COMPILING.match(line):
                progress.advance()
                progress.describe(match[1])

        run_logged(
            command,
            paths.LOGS / f"{crate.name}.log",
            f"building {crate.name}",
            env={"CARGO_TARGET_DIR": str(target), **dict(crate.environment)},
            cwd=paths.CACHE,
            on_line=step,
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
