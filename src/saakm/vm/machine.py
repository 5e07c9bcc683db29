# SPDX-License-Identifier: GPL-2.0
"""The machine that QEMU makes: what decides how a guest runs, whatever its kernel and its files."""

from dataclasses import dataclass, field

from ..builder.kconfig import CHECKED
from .topology import Topology, parse_topology

KVM = "kvm"
TCG = "tcg"
# One thread of the host's emulates all CPUs, as QEMU spells it.
ONE_THREAD = "tcg,thread=single"


def default_memory(config: str) -> str:
    """Shadow memory of KASAN and KCSAN wants its part."""
    return "2G" if config in CHECKED else "1G"


@dataclass(frozen=True)
class Machine:
    topology: Topology = field(default_factory=lambda: parse_topology("1s4c"))
    memory: str = "1G"
    accel: str = TCG  # KVM, TCG or ONE_THREAD; "auto" has been resolved: see choose_accel()
    # Time is the number of executed instructions, and `seed` all that is random.
    deterministic: bool = False
    # If deterministic, an instruction takes 2^shift ns: what waits for time takes less of the host's.
    shift: int = 0
    seed: int = 1
    plugin: str = ""  # of TCG's, with its arguments
    append: tuple[str, ...] = ()  # arguments for the kernel
    disk: str = ""  # size of an empty one, if there shall be one

    @property
    def by_turns(self) -> bool:
        """One thread of the host's emulates all CPUs."""
        return self.deterministic or self.accel == ONE_THREAD
