# SPDX-License-Identifier: GPL-2.0
"""What compiler and linker say when a policy uses what the simulator does not offer, in sentences."""

import re
from collections.abc import Sequence
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from . import kinds
from .compile import CompileError
from .kbuild import Module

_AT = r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? "
_HEADER = re.compile(
    _AT + r"fatal error: '?(?P<name>[^\s':]+)'?(?:: No such file| file not found)", re.M
)
_UNDECLARED = re.compile(
    _AT + r"(?:warning|error): (?:implicit declaration of function|call to undeclared function|"
    r"use of undeclared identifier) '(?P<name>\w+)'",
    re.M,
)
_UNDEFINED = re.compile(
    r"^(?:.*: )?(?P<file>/[^:\n]*):(?P<line>\d+): undefined reference to [`'](?P<name>[^']+)'", re.M
)
_NO_MODULE = "__stop_sim_modules"  # the end of a list that is not there if nothing is in it
_UNDEFINED_SOMEWHERE = re.compile(r"undefined reference to [`'](?P<name>[^']+)'")
_IN_GUEST = "or run the policy in a guest, which has all of Linux: saakm run, saakm check"
_HEADERS = (
    "a policy needs <linux/saakm.h>, and what that includes; sim/include has what else is there"
)
# What policies may want, and what there is for it: by a part of the name.
_INSTEAD = (
    (
        re.compile(r"perf_|rdmsr|wrmsr|msr\.h|cpufreq"),
        "no counter or frequency of a CPU is simulated",
    ),
    (
        re.compile(r"kprobe|ftrace|bpf|kallsyms"),
        "there is no kernel whose code could be looked into",
    ),
    (
        re.compile(r"linux/(net|skb|blk|usb|pci|file)"),
        "there are CPUs and threads only, no devices",
    ),
)


class NotBuilt(SaakmError):
    """A policy's fault; `said` is what compiler or linker say of it."""

    def __init__(self, what: str, why: str, next_step: str, said: str, lacking: bool):
        super().__init__(what, why, next_step)
        self.said, self.lacking = said, lacking

    def lines(self, directory: Path) -> list[str]:
        """For a terminal; the policy's own files are named as they are called there."""
        said = self.said.replace(f"{directory}/", "").rstrip().splitlines()
        return [self.what, *said, self.next_step] if self.lacking else said


def of_compiler(error: CompileError) -> SaakmError:
    """The compiler's own words, and a sentence where it is a matter of the simulator."""
    said = error.said
    if full := cache.if_full(said):
        what = f"{_short(error.unit.source)} cannot be compiled"
        return SaakmError(what, f"the compiler says:\n{said.rstrip()}", full)
    if not error.unit.of_policy:
        return SaakmError(
            "the simulator does not compile",
            f"{_short(error.unit.source)}; the compiler says:\n{said.rstrip()}",
            "it is a fault of sim/, or of linux/; git status says what is edited",
        )
    if match := _HEADER.search(said):
        return _missing(f"header <{match['name']}>", match, said, _HEADERS)
    if match := _UNDECLARED.search(said):
        return _missing(f"name '{match['name']}'", match, said, "")
    return NotBuilt(
        f"{error.unit.source} does not compile",
        f"the compiler says:\n{said.rstrip()}",
        "mend it; a guest's compiler would say the same, unless it is a name that the simulator "
        "lacks: then saakm run",
        said,
        lacking=False,
    )


def of_linker(said: str, modules: Sequence[Module]) -> SaakmError:
    for match in _UNDEFINED.finditer(said):
        if _is_of(Path(match["file"]), modules):
            return _missing(f"function or variable '{match['name']}'", match, said, "")
    if full := cache.if_full(said):
        return SaakmError("the simulator does not link", f"the linker says:\n{said.rstrip()}", full)
    if _NO_MODULE in said:
        return _registers_nothing(modules)
    names = ", ".join(dict.fromkeys(m["name"] for m in _UNDEFINED_SOMEWHERE.finditer(said)))
    return SaakmError(
        "the simulator does not link",
        f"{names or 'something'} is missing or there twice; the linker says:\n{said.rstrip()}",
        "it is a fault of sim/, or of linux/, unless a policy's file is named above",
    )


def _registers_nothing(modules: Sequence[Module]) -> SaakmError:
    files = ", ".join(str(file) for module in modules for file in module.sources)
    return NotBuilt(
        f"{modules[0].name} registers no policy",
        why := f"there is no SAAKM_POLICY(...) in {files}, nor module_init(...)",
        "add it: saakm new NAME makes a policy that has all it needs",
        why,
        lacking=True,
    )


def _missing(what: str, match: re.Match[str], said: str, more: str) -> SaakmError:
    name, at = match["name"], f"{match['file']}:{match['line']}"
    hint = next((text for pattern, text in _INSTEAD if pattern.search(name)), more)
    return NotBuilt(
        f"the simulator has no {what}",
        f"{at} uses it; the compiler says:\n{said.rstrip()}",
        f"{hint + '; ' if hint else 'if it is no typing error, do without it; '}{_IN_GUEST}",
        said,
        lacking=True,
    )


def _is_of(file: Path, modules: Sequence[Module]) -> bool:
    return any(module.directory in file.parents for module in modules)


def _short(file: Path) -> str:
    for root, name in ((paths.REPO, ""), (kinds.SOURCES, "sim/")):
        if file.is_relative_to(root):
            return f"{name}{file.relative_to(root)}"
    return str(file)
