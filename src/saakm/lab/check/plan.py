# SPDX-License-Identifier: GPL-2.0
"""Which checks run where: a trial is one boot."""

import shlex
from dataclasses import dataclass
from enum import StrEnum

from ...builder.kconfig import CHECKED
from ...vm.topology import parse_topology
from .checks import CHECKS

USUAL = "1s4c"
ZOO = ("1s1c", "1s2c", "2s2c2t")
Level = StrEnum("Level", ["quick", "default", "full"])
# What differs from one machine to another.
_WHERE_IT_MATTERS = ("lifecycle", "wakeups", "affinity", "storm", "work-conservation")
_MORE_SEEDS = 2


@dataclass(frozen=True)
class Trial:
    check: str
    config: str = "base"
    topology: str = USUAL
    seed: int = 1

    @property
    def scale(self) -> int:
        # With lockdep and KASAN it takes ten times as many instructions.
        return 30 if self.config in CHECKED else 100

    @property
    def where(self) -> str:
        cpus = parse_topology(self.topology).cpus
        machine = self.topology if self.topology != USUAL else f"{cpus} CPUs"
        return machine + (f", {self.config} kernel" if self.config != "base" else "")

    def command(self, policy: str, more: list[str]) -> str:
        """What repeats it; `more` are options that it was given."""
        words = ["saakm", "check", policy, "--only", self.check]
        words += ["--config", self.config] if self.config != "base" else []
        words += ["--topology", self.topology] if self.topology != USUAL else []
        return shlex.join([*words, "--seed", str(self.seed), *more])


def fits(trial: Trial) -> bool:
    return parse_topology(trial.topology).cpus >= CHECKS[trial.check].cpus


def plan(level: Level, names: list[str], seed: int) -> list[Trial]:
    """All trials of these checks, but not what the machine has too few CPUs for."""
    trials = [
        Trial(name, seed=seed) for name in names if level != Level.quick or CHECKS[name].quick
    ]
    if level != Level.quick:
        trials += [Trial(name, "debug", seed=seed) for name in names if CHECKS[name].rough]
    if level == Level.full:
        trials += [
            Trial(name, topology=topology, seed=seed)
            for topology in ZOO
            for name in names
            if name in _WHERE_IT_MATTERS
        ]
        trials += [
            Trial(name, seed=seed + more)
            for more in range(1, _MORE_SEEDS + 1)
            for name in names
            if CHECKS[name].rough
        ]
    return [trial for trial in trials if fits(trial)]
