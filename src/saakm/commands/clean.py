# SPDX-License-Identifier: GPL-2.0
"""saakm clean: give disk space back."""

import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from .. import paths


def clean(
    everything: Annotated[
        bool,
        typer.Option("--all", help=f"The whole {paths.CACHE}: sources and compiler cache too."),
    ] = False,
) -> None:
    """Remove builds from the cache; the next build starts anew."""
    victims = [paths.CACHE] if everything else [paths.BUILD, paths.CARGO, paths.GUESTS, paths.LOGS]
    victims = [path for path in victims if path.exists()]
    freed = sum(map(_disk_usage, victims))
    for path in victims:
        shutil.rmtree(path)
        print(f"removed {path}")
    print(f"freed {freed / 2**30:.1f} GiB")


def _disk_usage(path: Path) -> int:
    """As du(1) counts: blocks, hard links once."""
    done = subprocess.run(
        ["du", "-s", "-B1", str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[0])
