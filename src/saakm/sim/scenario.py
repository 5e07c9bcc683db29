# SPDX-License-Identifier: GPL-2.0
"""One run of a simulator: all that decides what happens in it, and the command line that says so."""

import contextlib
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import cache
from ..base.files import replacing
from ..vm.topology import Topology
from . import machine
from .compile import CACHE


@dataclass(frozen=True)
class Origin:
    """What an input is made of, in the user's words. `file`: his own, which is read as it is.

    `lines`: of each line which one of `name` it is made of; 0: nobody knows.
    """

    name: str
    file: Path | None = None
    lines: Sequence[int] = ()

    def line(self, number: int) -> int:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else 0


@dataclass(frozen=True)
class Scenario:
    """`program`: the workload's text; `costs`: the table's, None: all is free.

    Of what is made of something else, messages say of what: `program_of`, `costs_of`.
    """

    topology: Topology
    program: str
    seed: int
    end_ns: int
    costs: str | None = None
    ipi_ns: int | None = None  # None: as the program has it
    interleave: int = 0
    check: bool = False
    params: tuple[str, ...] = ()  # POLICY.NAME=VALUE
    settings: tuple[str, ...] = ()  # NAME=VALUE, of files in /sys/kernel/saakm
    program_of: Origin | None = None
    costs_of: Origin | None = None
    agent: tuple[str, ...] = ()  # options of the one whose program it is
    called: str = ""  # what that calls itself in its own messages; empty: as its file is called

    def arguments(self, progress_fd: int | None = None, trace: Path | None = None) -> list[str]:
        """What it reads and nobody has as a file is kept in one, so that the command can be repeated."""
        words = [*machine.options(self.topology), f"seed={self.seed}", f"for={self.end_ns}"]
        words.append(f"costs={'free' if self.costs is None else self._costs(self.costs)}")
        if self.ipi_ns is not None:
            words.append(f"ipi={self.ipi_ns}")
        if self.interleave:
            words.append(f"interleave={self.interleave}")
        if self.check:
            words.append("check=1")
        words += self.params
        words += [f"set={name}:{value}" for name, value in map(_pair, self.settings)]
        if trace:
            words.append(f"trace={trace}")
        if progress_fd is not None:
            words.append(f"progress={progress_fd}")
        words.append(str(self._program()))
        return [*words, "--", *self.agent] if self.agent else words

    def _program(self) -> Path:
        return _own(self.program_of) or keep(self.program, "program")

    def _costs(self, text: str) -> Path:
        return _own(self.costs_of) or keep(text, "costs")

    def in_words(self, said: str) -> str:
        """What the program says of its options, and of files that we have made, as a user knows them."""
        said = re.sub(r"^sim: ", "", said, flags=re.M)
        said = re.sub(r"\boption set=([^:\s]+):", r"--set \1=", said)
        said = re.sub(r"\boption (?=[\w-]+\.\w+=)", "--param ", said)
        if self.program_of:
            said = _named(said, "program", self.program_of, self._program())
        if self.costs is not None and self.costs_of:
            said = _named(said, "costs", self.costs_of, self._costs(self.costs))
        return said


def _own(origin: Origin | None) -> Path | None:
    # Absolute: a name with = in it would be an option, and gdb may run elsewhere.
    return Path(os.path.abspath(origin.file)) if origin and origin.file else None


def _named(said: str, what: str, origin: Origin, file: Path) -> str:
    """A file of ours no user has seen: where nobody knows which line of his it is, the line itself."""

    def in_words(match: re.Match[str]) -> str:
        number = int(match[1] or 0)
        if origin.file:
            return origin.name + (f":{number}" if number else "")
        if line := origin.line(number):
            return f"{origin.name}:{line}"
        text = "".join(file.read_text(errors="replace").splitlines()[number - 1 : number]).strip()
        return f"in the {what} made of {origin.name}" + (f", at '{text}'" if text else "")

    return re.sub(re.escape(str(file)) + r"(?::(\d+))?", in_words, said)


def keep(text: str, suffix: str) -> Path:
    """A file of this content in the cache, whatever has become of an earlier one."""
    content = text.encode(errors="surrogateescape")
    digest = hashlib.sha256(content).hexdigest()[:16]
    file = cache.make(CACHE / "runs") / f"{digest}.{suffix}"
    with contextlib.suppress(OSError):
        if file.read_bytes() == content:
            file.touch()
            return file
    with replacing(file) as scratch:
        scratch.write_bytes(content)
    return file


def _pair(text: str) -> Sequence[str]:
    name, _, value = text.partition("=")
    return name, value
