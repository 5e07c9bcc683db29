# SPDX-License-Identifier: GPL-2.0
"""The names of the addresses at which a guest has executed instructions."""

import bisect
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

MEASURED = "(user space)"  # the program that is measured
UNKNOWN = "(no symbol)"
_IN_USER_SPACE = ", user space"
_BELONGS = re.compile(r" \[([^][]+)\]$")
_INIT = "init"  # where the guest has that program
_SYMBOL = re.compile(r"^SYMBOL ([0-9a-f]+) [tTwW] (\S+)\s+\[(\w+)\]", re.M)
# A line of /proc/PID/maps.
_MAPPING = re.compile(r"^MAPPING ([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(\S+)", re.M)
# What readelf tells of a segment: where in the file, and at which address.
_SEGMENT = re.compile(r"^\s+LOAD\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s", re.M)
_PAGE_MASK = ~0xFFF
_KERNEL = 1 << 63
# Names of BPF programs begin with a digest, those of Rust's functions may end with one.
_BPF_DIGEST = re.compile(r"^bpf_prog_[0-9a-f]{16}_")
_RUST_DIGEST = re.compile(r"::h[0-9a-f]{16}$")
# Types that a function of Rust's or C++'s is for: long ones say little, but for whose method it is.
_LONG_TYPES = re.compile(r"(?<=[\w:])<(?![^<>]* as )[^<>]{24,}>")
# Beyond it, an address belongs to something else that has no name.
_LARGEST_FUNCTION = 1 << 16


@dataclass(frozen=True, order=True)
class Code:
    start: int
    end: int
    name: str


def part_of(function: str) -> str:
    """To what a function belongs, by its name here."""
    if belongs := _BELONGS.search(function):
        owner = belongs[1]
        if owner == "bpf":
            return "BPF programs"
        program = owner.removesuffix(_IN_USER_SPACE)
        return f"module {owner}" if program == owner else f"{program} {MEASURED}"
    if function == MEASURED:
        return f"measured program {MEASURED}"
    return function if function.endswith(MEASURED) else "kernel"


class Symbols:
    """Functions, and programs: these name what is in no function of theirs that is known."""

    def __init__(self, functions: Iterable[Code], programs: Iterable[Code] = ()):
        self._functions = sorted(functions)
        self._starts = [function.start for function in self._functions]
        self._programs = list(programs)

    def name(self, address: int) -> str:
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0 and address < self._functions[at].end:
            return self._functions[at].name
        within = (program for program in self._programs if program.start <= address < program.end)
        return next((program.name for program in within), UNKNOWN)


def of_guest(vmlinux: Path, files: Mapping[str, Path], text: str) -> Symbols:
    """`files`: by their place in the guest, whose console's text has its symbols and mappings."""
    functions, programs = _user_code(files, text)
    return Symbols([*_kernel_code(vmlinux), *_loaded_code(text), *functions], programs)


def _kernel_code(vmlinux: Path) -> list[Code]:
    command = ["nm", "--defined-only", str(vmlinux)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    named: dict[int, str] = {}
    for line in listed.stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        # Markers such as __pfx_ and section ends share addresses with functions.
        if kind in "tTwW" and not name.startswith(("__pfx_", "__cfi_", ".L")):
            named.setdefault(int(address, 16), name)
    return [Code(start, start + _LARGEST_FUNCTION, name) for start, name in named.items()]


def _loaded_code(text: str) -> list[Code]:
    """That of modules and BPF programs, as the guest has loaded them."""
    return [
        Code(
            int(address, 16),
            int(address, 16) + _LARGEST_FUNCTION,
            f"{_BPF_DIGEST.sub('', name)} [{module}]",
        )
        for address, name, module in _SYMBOL.findall(text)
    ]


def _user_code(files: Mapping[str, Path], text: str) -> tuple[list[Code], list[Code]]:
    """Functions and programs. Of the measured one no function: it does nothing but ask."""
    functions, programs = [], []
    for start, end, offset, place in dict.fromkeys(_MAPPING.findall(text)):
        program = Path(place).name
        code = Code(int(start, 16), int(end, 16), f"{program} {MEASURED}")
        if code.start >= _KERNEL:
            continue
        if program == _INIT:
            programs.append(Code(code.start, code.end, MEASURED))
            continue
        programs.append(code)
        if file := files.get(place.lstrip("/")):
            bias = _bias(file, code.start, int(offset, 16))
            functions += [
                Code(one.start + bias, one.end + bias, f"{one.name} [{program}{_IN_USER_SPACE}]")
                for one in _functions_of(file)
            ]
    return functions, programs


def _bias(file: Path, start: int, offset: int) -> int:
    """By how much the program lies higher than its file says."""
    told = subprocess.run(["readelf", "-lW", str(file)], capture_output=True, text=True, check=True)
    segments = ((int(at, 16), int(address, 16)) for at, address in _SEGMENT.findall(told.stdout))
    return next(
        (start - (address & _PAGE_MASK) for at, address in segments if at & _PAGE_MASK == offset),
        0,
    )


def short(name: str) -> str:
    """A name without digests, versions ("@GLIBC_2.2.5") and long lists of types."""
    name, before = _RUST_DIGEST.sub("", name).partition("@")[0], ""
    while name != before:
        name, before = _LONG_TYPES.sub("{..}", name), name
    return name.replace("{..}", "<..>")


def _functions_of(file: Path) -> list[Code]:
    """Libraries that are stripped name what others may call."""
    found: dict[int, Code] = {}
    for options in ([], ["-D"]):
        command = ["nm", "-C", "-S", "--defined-only", *options, str(file)]
        listed = subprocess.run(command, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            parts = line.split(maxsplit=3)
            if len(parts) == 4 and parts[2] in "tTwWiuV":
                start = int(parts[0], 16)
                found.setdefault(start, Code(start, start + int(parts[1], 16), short(parts[3])))
    return list(found.values())
