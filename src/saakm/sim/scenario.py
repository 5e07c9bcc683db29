# SPDX-License-Identifier: GPL-2.0
"""One run of a simulator: all that decides what happens in it, and the command line that says so."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import cache
from ..base.files import write_text
from ..vm.topology import Topology
from . import machine
from .compile import CACHE


@dataclass(frozen=True)
class Scenario:
    """`program`: the workload's text; `costs`: the table's, None: all is free."""

    topology: Topology
    program: str
    seed: int
    end_ns: int
    costs: str | None = None
    interleave: int = 0
    check: bool = False
    params: tuple[str, ...] = ()  # POLICY.NAME=VALUE
    settings: tuple[str, ...] = ()  # NAME=VALUE, of files in /sys/kernel/saakm

    def arguments(self, progress_fd: int | None = None, trace: Path | None = None) -> list[str]:
        """What it reads is kept in files of its own, so that the command can be repeated."""
        words = [*machine.options(self.topology), f"seed={self.seed}", f"for={self.end_ns}"]
        words.append(f"costs={keep(self.costs, 'costs') if self.costs is not None else 'free'}")
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
        return [*words, str(keep(self.program, "program"))]


def keep(text: str, suffix: str) -> Path:
    """A file of this content in the cache."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = cache.make(CACHE / "runs") / f"{digest}.{suffix}"
    if file.exists():
        file.touch()
    else:
        write_text(file, text)
    return file


def _pair(text: str) -> Sequence[str]:
    name, _, value = text.partition("=")
    return name, value
