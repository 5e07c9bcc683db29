# SPDX-License-Identifier: GPL-2.0
"""Recordings as workloads: FILE or FILE:only=NAME, of what kind its first bytes say.

Demand and dependencies are taken from them, never the schedule that was recorded: how long a thread
computed until it slept, who woke it or how long it slept, whom it woke and forked, and where in its computation.
"""

from collections.abc import Callable
from pathlib import Path

from ...base.progress import meter
from ..errors import BadWorkload, quoted
from ..program import Program
from . import perf_data, perfetto_file, report_text, trace_dat
from .chosen import choose
from .replayed import program_of
from .source import Source
from .threads import follow

_ONLY = ":only="
_HEAD = 16
_SUFFIXES = (".dat", ".data", *perfetto_file.SUFFIXES)
_PROGRAM = b"saakm-program"


def is_recording(name: str) -> bool:
    return file_of(name) is not None


def is_broken(path: Path) -> bool:
    """Called as a recording is, but neither one nor a program in the text form."""
    if path.suffix not in _SUFFIXES or not path.is_file() or _reader(path):
        return False
    with path.open("rb") as file:
        return not file.read(_HEAD).startswith(_PROGRAM)


def file_of(name: str) -> Path | None:
    """The recording itself, if it is one."""
    path, _ = _split(name)
    return _file(path) if _reader(path) else None


def load(name: str) -> Program:
    """Raises BadWorkload for one of which something is missing."""
    path, only = _split(name)
    reader = _reader(path)
    assert reader, "is_recording() has said so"
    with meter(f"reading {path.name}") as progress:
        source = reader(_file(path))
        recorded = follow(source, lambda count: progress.describe(f"{count:,} events"))
        return program_of(choose(recorded, source, only), source)


def _split(name: str) -> tuple[Path, str | None]:
    if Path(name).exists():
        return Path(name), None
    file, option, only = name.partition(_ONLY)
    if not option:
        file, colon, written = name.rpartition(":")
        if colon and _reader(Path(file)):
            raise BadWorkload(
                f"{file}: there is no option {quoted(written)}",
                "of a recording one can be given",
                f"{file}:only=NAME takes the threads of that name (* and ? stand for more)",
            )
        return Path(name), None
    return Path(file), only


def _file(path: Path) -> Path:
    return path / perfetto_file.NAME if path.is_dir() else path


def _reader(path: Path) -> Callable[[Path], Source] | None:
    """Of a directory or file that is a recording."""
    path = _file(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    if head.startswith(trace_dat.MAGIC):
        return trace_dat.read
    if head.startswith(perf_data.MAGIC):
        return perf_data.read
    if head.startswith(b"cpus="):
        return report_text.read
    # A packet is the first field of a Perfetto trace; it has no other mark.
    if head.startswith(b"\n") and path.suffix in perfetto_file.SUFFIXES:
        return perfetto_file.read
    return None
