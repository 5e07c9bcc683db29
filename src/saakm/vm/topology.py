# SPDX-License-Identifier: GPL-2.0
"""Machine names like `2s4c2t`, and the QEMU options that build such a machine."""

import re
from dataclasses import dataclass

from ..base.errors import SaakmError
from ..base.sizes import megabytes

MAX_CPUS = 64  # CONFIG_NR_CPUS in linux/configs/base.config
_LIMIT = f"the kernel is configured for {MAX_CPUS}"
_NAME = re.compile(r"(\d+)s(?:(\d+)l)?(\d+)c(?:(\d+)t)?(?:-(\d+)n)?")
_GRAMMAR = (
    "a name is SOCKETSs[LLCSl]CORESc[THREADSt][-NODESn]: 1s4c, 2s4c2t, 1s2l4c "
    "(2 last-level caches a socket, 4 cores each: 8 CPUs), 2s2l2c-4n"
)


@dataclass(frozen=True)
class Topology:
    """Sockets, last-level caches a socket, cores a cache, threads a core, NUMA nodes."""

    sockets: int
    llcs: int
    cores: int
    threads: int
    nodes: int
    # The guest is told of nothing but a number of CPUs, as QEMU makes them by itself.
    flat: bool = False

    @property
    def cpus(self) -> int:
        return self.sockets * self.llcs * self.cores * self.threads

    def qemu_args(self, memory: str) -> list[str]:
        if self.flat:
            return ["-smp", str(self.cpus)]
        args = [
            "-smp",
            f"{self.cpus},sockets={self.sockets},dies={self.llcs},"
            f"cores={self.cores},threads={self.threads}",
        ]
        if self.nodes > 1:
            args += self._numa_args(megabytes(memory))
        return args

    def _numa_args(self, total_mb: int) -> list[str]:
        """Nodes of equal size; 21 between them, as between sockets of real machines."""
        args, share, nodes = [], self.cpus // self.nodes, range(self.nodes)
        for node in nodes:
            # The first node takes what the division leaves over.
            size = total_mb // self.nodes + (total_mb % self.nodes if node == 0 else 0)
            args += ["-object", f"memory-backend-ram,id=m{node},size={size}M"]
            span = f"{node * share}-{(node + 1) * share - 1}"
            args += ["-numa", f"node,nodeid={node},memdev=m{node},cpus={span}"]
        for src in nodes:
            for dst in nodes:
                if src != dst:
                    args += ["-numa", f"dist,src={src},dst={dst},val=21"]
        return args


def flat_topology(cpus: int) -> Topology:
    return Topology(1, 1, cpus, 1, 1, flat=True)


def parse_topology(name: str, most: int = MAX_CPUS, limit: str = _LIMIT) -> Topology:
    """`most` CPUs, and in words why no more."""
    match = _NAME.fullmatch(name)
    if not match:
        raise SaakmError(
            f"'{name}' is not a topology", _GRAMMAR, "choose such a name, or use --cpus N"
        )
    sockets, llcs, cores, threads = (int(n or 1) for n in match.groups()[:4])
    nodes = int(match[5]) if match[5] else sockets
    topology = Topology(sockets, llcs, cores, threads, nodes)
    _check(name, topology, most, limit)
    return topology


def _check(name: str, t: Topology, most: int, limit: str) -> None:
    if t.cpus == 0 or t.nodes == 0:
        why = "every number must be at least 1"
    elif t.threads > 2:
        why = f"x86 has 1 or 2 threads a core, not {t.threads}"
    elif t.cpus > most:
        why = f"it has {t.cpus} CPUs; {limit}"
    elif t.nodes % t.sockets:
        why = f"{t.nodes} NUMA nodes do not divide among {t.sockets} sockets"
    elif t.llcs % (t.nodes // t.sockets):
        # Linux warns of such a machine, and rightly.
        why = f"a NUMA node would hold a part of a cache ({t.nodes} nodes, {t.sockets * t.llcs} caches)"
    else:
        return
    raise SaakmError(f"the topology '{name}' makes no sense", why, _GRAMMAR)
