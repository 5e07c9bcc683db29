# SPDX-License-Identifier: GPL-2.0
"""A machine as a thread sees it that moves: how far two CPUs are from each other.

Between a core and a last-level cache there may be one level that is nobody's hardware: virtual
caches, groups of CPUs of one real cache. They are written as a policy that makes them takes them
(MIN-MAX, cores of a group), or as lists of CPUs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import BadInput
from ..vm.topology import Topology

CORE, VLLC, LLC, NODE, MACHINE = "core", "vllc", "llc", "node", "machine"
# What two CPUs have in common, the nearest first.
DISTANCES = (CORE, VLLC, LLC, NODE, MACHINE)
_SIZES = re.compile(r"([1-9]\d{0,3})-([1-9]\d{0,3})")
_HINT = 'vllc = "4-4", cores of a virtual cache, or vllc = ["0-3", "4-7"], CPUs of each'


@dataclass(frozen=True)
class Cut:
    """By CPU the number of its core, virtual cache, cache and node; those of the whole machine."""

    cores: tuple[int, ...]
    vllcs: tuple[int, ...]
    llcs: tuple[int, ...]
    nodes: tuple[int, ...]

    @property
    def cpus(self) -> int:
        return len(self.cores)

    def distance(self, one: int, other: int) -> str:
        levels = (self.cores, self.vllcs, self.llcs, self.nodes)
        for name, numbers in zip(DISTANCES, levels):
            if numbers[one] == numbers[other]:
                return name
        return MACHINE

    @property
    def distances(self) -> list[str]:
        """Those that there are between two CPUs."""
        pairs = [(one, other) for one in range(self.cpus) for other in range(one)]
        there = {self.distance(*pair) for pair in pairs}
        return [name for name in DISTANCES if name in there]

    @property
    def groups(self) -> tuple[str, ...]:
        """The CPUs of each virtual cache, as 0-3."""
        found: dict[int, list[int]] = {}
        for cpu, number in enumerate(self.vllcs):
            found.setdefault(number, []).append(cpu)
        return tuple(_written(found[number]) for number in sorted(found))


def cut(topology: Topology, vllc: str | Sequence[str] = "") -> Cut:
    """`vllc`: empty if the real caches shall be the virtual ones."""
    cpus = range(topology.cpus)
    cores = tuple(cpu // topology.threads for cpu in cpus)
    llcs = tuple(core // topology.cores for core in cores)
    nodes = tuple(cpu * topology.nodes // topology.cpus for cpu in cpus)
    vllcs = _by_size(vllc, llcs, topology) if isinstance(vllc, str) else _by_list(vllc, llcs)
    return Cut(cores, vllcs, llcs, nodes)


def split(cores: int, least: int, most: int) -> int:
    """How many of a cache's cores a virtual one has, as scx_utils 1.1.4 and policies/lavd decide"""
    if cores <= least:
        return cores
    best = least
    for size in range(least, most + 1):
        if cores % size == 0:
            return size
        if cores % size < cores % best:
            best = size
    return best


def _by_size(sizes: str, llcs: Sequence[int], topology: Topology) -> tuple[int, ...]:
    if not sizes:
        return tuple(llcs)
    match = _SIZES.fullmatch(sizes)
    if not match or int(match[1]) > int(match[2]):
        raise BadInput(f"'{sizes}' cuts no cache", "it is not MIN-MAX, numbers of cores", _HINT)
    size = split(topology.cores, int(match[1]), int(match[2]))
    parts = topology.cores // size
    # Those that are left over join the last.
    part = [min(nth // size, parts - 1) for nth in range(topology.cores)]
    return tuple(
        llc * parts + part[cpu // topology.threads % topology.cores] for cpu, llc in enumerate(llcs)
    )


def _by_list(groups: Sequence[str], llcs: Sequence[int]) -> tuple[int, ...]:
    number: dict[int, int] = {}
    for nth, group in enumerate(groups):
        for cpu in _read(group):
            if cpu in number or cpu >= len(llcs):
                why = "in two groups" if cpu in number else f"none of the machine's {len(llcs)}"
                raise BadInput(f"'{group}' cuts no cache", f"CPU {cpu} is {why}", _HINT)
            number[cpu] = nth
        if len({llcs[cpu] for cpu in _read(group)}) > 1:
            raise BadInput(f"'{group}' cuts no cache", "these CPUs do not share one", _HINT)
    if missing := [cpu for cpu in range(len(llcs)) if cpu not in number]:
        raise BadInput(
            f"{', '.join(groups) or 'no group'} cuts no cache",
            f"CPU {missing[0]} is in no group",
            _HINT,
        )
    return tuple(number[cpu] for cpu in range(len(llcs)))


def _read(group: str) -> list[int]:
    cpus: list[int] = []
    for part in group.split(","):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part.strip())
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise BadInput(f"'{group}' cuts no cache", f"'{part}' names no CPUs", _HINT)
        cpus += range(int(match[1]), int(match[2] or match[1]) + 1)
    return cpus


def _written(cpus: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
