# SPDX-License-Identifier: GPL-2.0
"""compile_commands.json, by which clangd understands a policy.

Kbuild leaves the command of each object in .NAME.o.cmd; it is about the copy in
the cache, and for gcc. Editors want the file that the user edits, and clang.
"""

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base import paths
from .kernel import Kernel
from .modules import build_directory

NAME = "compile_commands.json"
_COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ;|$)", re.M)
# What decides how a source reads; how it is optimised is gcc's business.
_KEPT = ("-D", "-U", "-std=", "-nostdinc", "-m64", "-mcmodel=", "-fshort-wchar", "-funsigned",
         "-fcf-protection")  # fmt: skip
_KEPT_WITH_VALUE = ("-include", "-isystem")


def write_compile_commands(kernel: Kernel, sources: Iterable[Path]) -> list[Path]:
    """Writes a file for the checkout, and one beside each policy elsewhere; sources are built."""
    by_file: dict[Path, list[dict[str, Any]]] = {}
    for source in sources:
        inside = paths.REPO in source.parents
        file = (paths.REPO if inside else source) / NAME
        by_file.setdefault(file, []).extend(entries(kernel, source))
    for file, found in by_file.items():
        file.write_text(json.dumps(found, indent=1) + "\n")
    return list(by_file)


def entries(kernel: Kernel, source: Path) -> list[dict[str, Any]]:
    copy = build_directory(kernel, source)
    found = []
    for file in sorted(source.rglob("*.c")):
        saved = (copy / file.relative_to(source)).with_name(f".{file.stem}.o.cmd")
        match = _COMMAND.search(saved.read_text()) if saved.exists() else None
        if match:
            arguments = [*_for_clang(shlex.split(match[1])), "-c", str(file)]
            found.append(
                {"directory": str(kernel.build), "file": str(file), "arguments": arguments}
            )
    return found


def _for_clang(words: list[str]) -> list[str]:
    kept, rest = ["clang"], iter(words)
    for word in rest:
        if word in _KEPT_WITH_VALUE:
            kept += [word, next(rest)]
        elif word.startswith("-I"):
            # Warnings about the kernel's own headers are not the author's.
            kept += ["-isystem", word[2:]]
        elif word.startswith(_KEPT):
            kept.append(word)
    return kept
