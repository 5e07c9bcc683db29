# SPDX-License-Identifier: GPL-2.0
"""What is kept of how fast the simulator is: a row for each policy and machine."""

from .schema import SCHEMA, Kept, Positive, Word


class ScaleRow(Kept, frozen=True, kw_only=True):
    """Times and memory are the host's, medians of some rounds; counts are the same in each."""

    policy: Word
    cpus: int
    threads: int
    simulated_s: Positive
    events: int
    switches: int
    cpu_s: Positive
    wall_s: Positive
    peak_kib: int
    rounds: int
    hash: Word
    seed: int = 1
    threads_a_cpu: int = 0  # 0: it is of the curve over threads
    schema: int = SCHEMA

    @property
    def events_a_second(self) -> float:
        return self.events / self.cpu_s

    @property
    def switches_a_cpu(self) -> float:
        """A simulated second and CPU."""
        return self.switches / self.simulated_s / self.cpus

    @property
    def cpu_of_a_second(self) -> float:
        return self.cpu_s / self.simulated_s
