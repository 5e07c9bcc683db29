# SPDX-License-Identifier: GPL-2.0
"""Says where in the source the addresses of a kernel's complaint are.

A trace's ` vtime_key+0x14/0x40 [vtime]` gets ` (saakm.h:386 vtime.c:26)`: an inlined
function first, then who called it. The kernel's scripts/decode_stacktrace.sh
reads the debug information anew for each line; this does it once.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..builder.kernel import Kernel

_PLACE = re.compile(r"(?<!\? )\b([\w.]+)\+0x([0-9a-f]+)/0x([0-9a-f]+)(?: \[(\w+)\])?")
# Where the fault is. All others in a trace are return addresses: the call is before.
_EXACT = re.compile(r"RIP: |BUG: |WARNING: ")
_SYMBOL = re.compile(r"^([0-9a-f]+) .{7} (\S+)\t([0-9a-f]+) (?:\.hidden )?(\S+)$", re.M)
_TOOLS = ("llvm-symbolizer-19", "llvm-symbolizer")


@dataclass(frozen=True)
class _Place:
    function: str
    offset: int
    size: int
    module: str  # empty: the kernel


def symbolize(text: str, kernel: Kernel, modules: Mapping[str, Path]) -> str:
    """`modules`: the files of those that were loaded, as far as they are known."""
    places: dict[_Place, str] = {}
    lines = text.splitlines()
    wanted = [_places(line) for line in lines]
    for module in {place.module for found in wanted for place in found}:
        file = modules.get(module) or _newest(kernel, module) if module else kernel.vmlinux
        ours = sorted({p for found in wanted for p in found if p.module == module}, key=str)
        if file and file.exists():
            places |= _resolve(file, ours)
    return "\n".join(_annotate(line, found, places) for line, found in zip(lines, wanted))


def _places(line: str) -> list[_Place]:
    back = 0 if _EXACT.search(line) else 1
    return [
        _Place(function, max(int(offset, 16) - back, 0), int(size, 16), module or "")
        for function, offset, size, module in _PLACE.findall(line)
    ]


def _annotate(line: str, found: list[_Place], places: Mapping[_Place, str]) -> str:
    known = [places[place] for place in found if places.get(place)]
    return f"{line}  ({'; '.join(known)})" if known else line


def _newest(kernel: Kernel, module: str) -> Path | None:
    files = list(kernel.modules.glob(f"**/{module}.ko"))
    return max(files, key=lambda file: file.stat().st_mtime, default=None)


def _resolve(file: Path, places: list[_Place]) -> dict[_Place, str]:
    tool = next(filter(None, map(shutil.which, _TOOLS)), None)
    symbols = _symbols(file, {place.function for place in places})
    known = [place for place in places if place.function in symbols]
    if not tool or not known:
        return {}
    asked = [f"{_begin(place, symbols[place.function]) + place.offset:#x}" for place in known]
    done = subprocess.run(
        [tool, f"--obj={file}", "--output-style=JSON"],
        input="\n".join(asked), capture_output=True, text=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    shorten = _shortener(file)
    return {place: _lines(answer, shorten) for place, answer in zip(known, answers)}


def _begin(place: _Place, candidates: list[tuple[int, int]]) -> int:
    """The kernel prints the distance to the next symbol, which is the size and some padding."""
    return min(candidates, key=lambda found: abs(place.size - found[0]))[1]


def _symbols(file: Path, names: set[str]) -> dict[str, list[tuple[int, int]]]:
    """Sizes and addresses. All sections of a module begin at 0: only .text can be told from the others."""
    listed = subprocess.run(["objdump", "-t", str(file)], capture_output=True, text=True).stdout
    found: dict[str, list[tuple[int, int]]] = {}
    is_module = file.suffix == ".ko"
    for address, section, size, name in _SYMBOL.findall(listed):
        if name in names and (section == ".text" or not is_module):
            found.setdefault(name, []).append((int(size, 16), int(address, 16)))
    return found


def _lines(answer: dict[str, Any], shorten: Callable[[str], str]) -> str:
    frames = [frame for frame in answer.get("Symbol", []) if frame.get("Line")]
    return " ".join(f"{shorten(frame['FileName'])}:{frame['Line']}" for frame in frames)


def _shortener(file: Path) -> Callable[[str], str]:
    """Names as in the kernel's tree, and as in the module's directory."""

    def shorten(name: str) -> str:
        name = name.removeprefix(f"{file.parent}/").removeprefix("./")
        return re.sub(r"^.*/trees/[^/]+/[^/]+/", "", name)

    return shorten
