# SPDX-License-Identifier: GPL-2.0
"""Compares the figures of both sides."""

from dataclasses import dataclass

from .figures import Figures

LIMITS = {"switches": 0.02, "wait_us_p50": 0.05, "wait_us_p99": 0.05}
_FEW = 100


@dataclass(frozen=True)
class Row:
    """One file under one policy.

    `told`: the simulator knows when threads of the kernel's own ran in the guest. `shaken`: where that
    differs, simulated to begin some us earlier or later, which says how far figures hang on that.
    """

    name: str
    policy: str
    guest: Figures
    simulated: Figures
    told: Figures
    shaken: tuple[Figures, ...] = ()

    @property
    def misses(self) -> tuple[str, ...]:
        return misses(self.guest, self.simulated)

    @property
    def verdict(self) -> str:
        return "differs" if self.misses else "agrees"

    def range_of(self, name: str) -> tuple[float, float]:
        found = [getattr(one, name) for one in (self.simulated, self.told, *self.shaken)]
        return min(found), max(found)


def apart(guest: Figures, simulated: Figures, name: str) -> float:
    """By which part of the guest's figure the simulator's differs."""
    ours, theirs = getattr(guest, name), getattr(simulated, name)
    return theirs / ours - 1 if ours else float(theirs != ours)


def misses(guest: Figures, simulated: Figures) -> tuple[str, ...]:
    """What is further apart than it may be; if there was next to nothing to compare, that."""
    if min(guest.waits, simulated.waits) < _FEW:
        return ("waits",)
    return tuple(name for name, most in LIMITS.items() if abs(apart(guest, simulated, name)) > most)
