# SPDX-License-Identifier: GPL-2.0
"""The perf.data of `perf sched record`, read by perf."""

import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .printing import lines_of, require
from .report_text import numbered
from .source import Numbered, Source, cut_off

MAGIC = b"PERFILE2"
# struct perf_file_header, tools/perf/util/header.h: magic, size, attr_size; attrs, data: offset and size.
_HEADER = struct.Struct("<8sQQ4Q")
_SCRIPT = Path(__file__).with_name("inside_perf.py")
_WHOLE = "record again with a bigger buffer: perf sched record -m 32M COMMAND"
_LOST = re.compile(r"^\s*LOST(?:_SAMPLES)? events: +([1-9]\d*)", re.M)
_LOST_RECORD = re.compile(r"(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_LOST(.*)")


def read(path: Path) -> Source:
    require("perf", "linux-perf", path)

    def events() -> Iterator[Numbered]:
        _refuse_truncated(path)
        _refuse_lost(path)
        command = ["perf", "script", "-i", str(path), "-s", str(_SCRIPT)]
        with lines_of(command, path, _WHOLE) as lines:
            yield from numbered(lines, source)

    def where(number: int) -> str:
        return f"{path}: event {number:,} of 'perf script'"

    source = Source(str(path), events, where, _WHOLE)
    return source


def _refuse_truncated(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        raise cut_off(f"{path}: byte {size:,}", "it ends in its header", "it is cut off", _WHOLE)
    *_, begin, length = _HEADER.unpack(head)
    if not length:
        raise cut_off(
            f"{path}: byte {begin:,}",
            "it says that it has no data",
            "perf was killed while it recorded",
            "record again, and end perf with an interrupt",
        )
    if begin + length > size:
        raise cut_off(
            f"{path}: byte {size:,}",
            f"it ends before its data does, which has {begin + length - size:,} bytes more",
            "it is cut off",
            "copy it again, or record again",
        )


def _refuse_lost(path: Path) -> None:
    """perf counts them in the file; where they are it says only with all else."""
    found = _LOST.search(_perf(path, "report", "--stats"))
    if not found:
        return
    dump = _LOST_RECORD.search(_perf(path, "script", "-D"))
    place = f"{path}: byte {int(dump[1], 16):,}" if dump else str(path)
    said = dump[2].strip(" :") if dump else f"{found[1]} records of losses"
    raise cut_off(place, "events are lost", f"perf's buffer was full ({said})", _WHOLE)


def _perf(path: Path, *command: str) -> str:
    done = subprocess.run(
        ["perf", *command, "-i", str(path)], capture_output=True, text=True, errors="replace"
    )
    return done.stdout
