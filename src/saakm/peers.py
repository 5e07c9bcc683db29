# SPDX-License-Identifier: GPL-2.0
"""Builds the schedulers that SaaKM is compared with."""

import os
from pathlib import Path

from . import paths
from .kernel import hash_files
from .locks import locked
from .process import run_logged

SOURCES = paths.REPO / "peers"


def build(name: str) -> Path:
    """The program peers/NAME, once for each content."""
    source = SOURCES / name
    files = [file for file in source.iterdir() if file.is_file()]
    out = paths.CACHE / "peers" / f"{name}-{hash_files(files, source)[:16]}"
    if (out / name).exists() and not os.access(out, os.W_OK):
        return out / name  # in a guest, which sees the host's files and cannot lock them
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / "lock"):
        if not (out / name).exists():
            command = ["make", "-s", "-C", str(source), f"OUT={out}"]
            run_logged(command, paths.LOGS / f"{name}.log", f"building {name}")
    return out / name
