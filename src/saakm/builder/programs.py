# SPDX-License-Identifier: GPL-2.0
"""Compiles our small C programs: for guests, for the host, and plugins of QEMU's."""

from collections.abc import Sequence
from pathlib import Path

from ..base import cache, paths
from ..base.files import hash_files, replacing
from ..base.process import run_logged
from ..base.progress import meter

_CFLAGS = ["-O2", "-Wall", "-Werror", f"-I{paths.INCLUDE}"]


def compile_static(source: Path, *flags: str) -> Path:
    """The program of one C file, or of all those in a directory."""
    return _compile(source, ["-static", "-pthread", *flags], ["-lm"])


def compile_plugin(source: Path) -> Path:
    """A plugin of QEMU's."""
    return _compile(source, ["-shared", "-fPIC", "-fvisibility=hidden"])


def compile_library(source: Path) -> Path:
    """One that is loaded before others, and whose functions come before theirs (LD_PRELOAD)."""
    return _compile(source, ["-shared", "-fPIC", "-fvisibility=hidden"])


def _compile(source: Path, flags: list[str], libraries: Sequence[str] = ()) -> Path:
    files = sorted(source.glob("*.[ch]")) if source.is_dir() else [source]
    shared = hash_files(sorted(paths.INCLUDE.glob("*.h")), paths.INCLUDE)
    digest = hash_files(files, source.parent, shared, *_CFLAGS, *flags)[:16]
    program = paths.CACHE / "programs" / f"{source.stem}-{digest}"
    if not program.exists():
        cache.make(program.parent)
        code = [str(file) for file in files if file.suffix == ".c"]
        # Of two threads that come here at once each has its own, and the last one's stays.
        with replacing(program) as scratch, meter(f"compiling {source.name}"):
            run_logged(
                ["gcc", *_CFLAGS, *flags, "-o", str(scratch), *code, *libraries],
                paths.LOGS / f"{program.name}.log",
                f"compiling {source.name}",
            )
    return program
