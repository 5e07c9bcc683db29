# SPDX-License-Identifier: GPL-2.0
"""Finds a workload: a built-in one by name, or a file."""

import difflib
from pathlib import Path

from . import program_text, rtapp
from .builtin import ALL
from .builtin.options import Builtin
from .errors import Place, quoted, refusal
from .program import Program


def load(name_or_file: str, cpus: int) -> Program:
    """NAME, NAME:KEY=VALUE,... or a file: rt-app's JSON, or the text form if it ends otherwise."""
    name, _, written = name_or_file.partition(":")
    if name in ALL:
        return ALL[name].program(written, cpus)
    path = Path(name_or_file)
    if path.suffix == ".json":
        return rtapp.read(path, cpus)
    if path.is_file():
        return program_text.read(path)
    near = difflib.get_close_matches(name, ALL, 1)
    raise refusal(
        Place(name_or_file),
        f"there is no workload {quoted(name)}",
        "it is neither a file nor built in",
        f"did you mean {near[0]}?" if near else f"built in: {', '.join(ALL)}",
    )


def listing() -> tuple[Builtin, ...]:
    """For --list: each has a name, `what`, `source` and options."""
    return tuple(ALL.values())
