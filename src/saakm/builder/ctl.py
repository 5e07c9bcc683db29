# SPDX-License-Identifier: GPL-2.0
"""Builds saakmctl: one program for each content of crates/, whichever checkouts have it."""

import contextlib
import shutil
import time
from pathlib import Path

from ..base import cache, paths
from ..base.files import is_fresh, replacing, write_stamp
from ..base.locks import locked
from .cargo import forget, inputs_of_crates, run_cargo

_NAME = "saakmctl"
_STAMP = "saakm.stamp"  # each use changes its time
_UNUSED_SECONDS = 7 * 24 * 3600


def saakmctl_file() -> Path:
    """Where the program of this checkout's crates/ is once it is built."""
    return _place(_inputs())


def build_saakmctl() -> Path:
    """The program's path."""
    inputs = _inputs()
    program = _place(inputs)
    stamp = program.with_name(_STAMP)
    if not is_fresh(stamp, inputs, program):
        with locked(paths.CARGO / "lock"):
            if not is_fresh(stamp, inputs, program):
                cache.make(program.parent)
                with replacing(program) as scratch:
                    shutil.copy2(_build(), scratch)
                write_stamp(stamp, inputs, program)
                _remove_unused()
    with contextlib.suppress(OSError):  # in a guest, which sees the host's files
        stamp.touch()
    return program


def _inputs() -> str:
    return inputs_of_crates("saakm-user", "saakm-schedulers")


def _place(inputs: str) -> Path:
    return paths.CARGO / _NAME / inputs[:16] / _NAME


def _build() -> Path:
    release = paths.CARGO / "release"
    # Cargo compares times only: it would keep what is damaged, and what another checkout has built.
    forget(release)
    log, what = paths.LOGS / f"{_NAME}.log", f"building {_NAME}"
    command = ["build", "--release", "--locked", "--package", _NAME]
    run_cargo(command, log, what, paths.CARGO, paths.CRATES)
    return release / _NAME


def _remove_unused() -> None:
    for directory in (paths.CARGO / _NAME).iterdir():
        stamp = directory / _STAMP
        if stamp.exists() and time.time() - stamp.stat().st_mtime > _UNUSED_SECONDS:
            shutil.rmtree(directory, ignore_errors=True)
