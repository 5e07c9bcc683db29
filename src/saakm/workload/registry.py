# SPDX-License-Identifier: GPL-2.0
"""Finds a workload: a built-in one by name, or a file."""

import difflib
from pathlib import Path

from . import program_text, recorded, rtapp
from .builtin import ALL
from .builtin.options import Builtin
from .errors import Place, quoted, refusal
from .program import Program


def load(name_or_file: str, cpus: int) -> Program:
    """NAME, NAME:KEY=VALUE,... or a file: a recording, rt-app's JSON, or else the text form."""
    name, _, written = name_or_file.partition(":")
    if name in ALL:
        return ALL[name].program(written, cpus)
    if recorded.is_recording(name_or_file):
        return recorded.load(name_or_file)
    path = Path(name_or_file)
    if name_or_file and path.exists() and not path.is_file():
        raise refusal(
            Place(name_or_file),
            "it is no workload",
            "it is a directory" if path.is_dir() else "it is no regular file",
            "name a file, a directory of saakm trace, or one that is built in: saakm sim --list",
        )
    if path.suffix == ".json":
        return rtapp.read(path, cpus)
    if recorded.is_broken(path):
        raise refusal(
            Place(name_or_file),
            "it is no recording",
            "it does not begin as trace-cmd, perf or Perfetto write one, or is empty",
            "copy it again, or record again: trace-cmd record -e sched COMMAND",
        )
    if path.is_file():
        return program_text.read(path)
    near = difflib.get_close_matches(name, ALL, 1)
    raise refusal(
        Place(name_or_file),
        f"there is no workload {quoted(name)}",
        "it is neither a file nor built in",
        f"did you mean {near[0]}?" if near else f"built in: {', '.join(ALL)}",
    )


def text_file(name_or_file: str) -> Path | None:
    """The file, if it is one in the text form, which the simulator may read as it is."""
    path = Path(name_or_file)
    is_built_in = name_or_file.partition(":")[0] in ALL
    if is_built_in or path.suffix == ".json" or recorded.is_recording(name_or_file):
        return None
    return path if path.is_file() and not recorded.is_broken(path) else None


def input_file(name_or_file: str) -> Path | None:
    """What is read, unless it is built in."""
    if name_or_file.partition(":")[0] in ALL:
        return None
    return recorded.file_of(name_or_file) or Path(name_or_file)


def listing() -> tuple[Builtin, ...]:
    """For --list: each has a name, `what`, `source` and options."""
    return tuple(ALL.values())
