# SPDX-License-Identifier: GPL-2.0
"""Compares the figures of both sides."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median

from .figures import Figures

LIMITS = {"switches": 0.02, "wait_us_p50": 0.05, "wait_us_p99": 0.05}
_FEW = 100


@dataclass(frozen=True)
class Row:
    """One file under one policy.

    `shaken`: simulated to begin at the guest's moment, and some us earlier and later, which says how far
    figures hang on that. `told`: the simulator knows when threads of the kernel's own ran in the guest.
    """

    name: str
    policy: str
    guest: Figures
    shaken: tuple[Figures, ...]
    told: Figures

    @property
    def simulated(self) -> Figures:
        return _medians(self.shaken)

    @property
    def misses(self) -> tuple[str, ...]:
        return misses(self.guest, self.simulated)

    @property
    def verdict(self) -> str:
        return "differs" if self.misses else "agrees"

    def range_of(self, name: str) -> tuple[float, float]:
        found = [getattr(one, name) for one in (self.told, *self.shaken)]
        return min(found), max(found)


def _medians(of: Sequence[Figures]) -> Figures:
    """Of an odd number of them."""
    names = [field.name for field in fields(Figures)]
    return Figures(**{name: median(getattr(one, name) for one in of) for name in names})


def apart(guest: Figures, simulated: Figures, name: str) -> float:
    """By which part of the guest's figure the simulator's differs."""
    ours, theirs = getattr(guest, name), getattr(simulated, name)
    return theirs / ours - 1 if ours else float(theirs != ours)


def misses(guest: Figures, simulated: Figures) -> tuple[str, ...]:
    """What is further apart than it may be; if there was next to nothing to compare, that."""
    if min(guest.waits, simulated.waits) < _FEW:
        return ("waits",)
    return tuple(name for name, most in LIMITS.items() if abs(apart(guest, simulated, name)) > most)
