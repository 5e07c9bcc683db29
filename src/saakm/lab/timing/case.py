# SPDX-License-Identifier: GPL-2.0
"""The files of rt-app that are compared: lab/timing/NAME.TOPOLOGY.json.

What they have to have: "calibration": 8000, as guest/timing.c has it; "log_size": 0 (rt-app 1.0 takes
"disable" for a file); times of `run` that are multiples of 8 us, and of `runtime` of 32; a "delay" of
100 ms or more, until what the start leaves to the kernel's own threads is over; and with several CPUs a
first phase that gives each thread one, on which it then sleeps until all have theirs.
"""

from dataclasses import dataclass
from pathlib import Path

from ...base import paths
from ...base.errors import SaakmError
from ...vm.topology import Topology, parse_topology
from ...workload import rtapp
from ...workload.program import Program
from ...workload.rtapp_export import export

DIRECTORY = paths.REPO / "lab" / "timing"
POLICIES = ("fifo", "rr", "prio", "vtime")


@dataclass(frozen=True)
class Case:
    """One file. The machine is in its name."""

    file: Path

    @property
    def name(self) -> str:
        return self.file.name.removesuffix(".json")

    @property
    def machine(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def topology(self) -> Topology:
        return parse_topology(self.machine)

    @property
    def program(self) -> Program:
        return rtapp.read(self.file, self.topology.cpus)

    @property
    def for_rtapp(self) -> str:
        """As rt-app itself takes it."""
        return export(self.file.read_text(), str(self.file), self.topology.cpus)

    @property
    def duration_ns(self) -> int:
        duration_ns = self.program.duration_ns
        if not duration_ns:
            raise SaakmError(
                f"{self.file} has no end",
                "rt-app would run for ever",
                'say "duration" in "global", in seconds',
            )
        return duration_ns


def read_all(directory: Path = DIRECTORY) -> list[Case]:
    return [Case(file) for file in sorted(directory.glob("*.json"))]


def find(name: str) -> Case:
    """By the name, with the topology or without; or a file of the user's own."""
    if name.endswith(".json") and Path(name).is_file():
        return Case(Path(name))
    known = read_all()
    for case in known:
        if name in (case.name, case.name.rpartition(".")[0]):
            return case
    names = ", ".join(case.name for case in known)
    raise SaakmError(f"there is no file '{name}'", f"there are {names}", "name one of them")
