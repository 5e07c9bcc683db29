# SPDX-License-Identifier: GPL-2.0
"""The simulated machine: a topology as the program's options have it."""

from ..base.errors import SaakmError
from ..vm.topology import Topology, parse_topology

# Of CPUs, at compile time: each mask of CPUs has so many bits, and what is large is slow.
NR_CPUS = (64, 1024, 4096)
USUAL = "1s4c"


def parse_machine(name: str) -> Topology:
    """As in a guest, but larger."""
    try:
        return parse_topology(name, NR_CPUS[-1], f"the simulator takes at most {NR_CPUS[-1]}")
    except SaakmError as error:
        hint = f"for example --topology {USUAL}, or 8s64c2t: 1,024 CPUs"
        raise SaakmError(error.what, error.why, hint) from error


def nr_cpus(topology: Topology) -> int:
    """The least NR_CPUS in which it fits."""
    return next(number for number in NR_CPUS if number >= topology.cpus)


def options(topology: Topology) -> list[str]:
    """CPUs in all; to a core, to a last-level cache, and to a node."""
    core = topology.threads
    cache = core * topology.cores
    node = topology.cpus // topology.nodes
    return [f"cpus={topology.cpus}", f"smt={core}", f"llc={cache}", f"node={node}"]
