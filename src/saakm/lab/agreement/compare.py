# SPDX-License-Identifier: GPL-2.0
"""Compares two stories: the same steps in the same order, and at nearly the same times."""

from collections.abc import Sequence
from dataclasses import dataclass

from .story import Step, Story

# A kernel that is traced takes some us where the simulator's table of costs has less, and that adds up.
NEAR_NS = 150_000
DRIFT = 0.005  # of the time that has passed
_AROUND = 6


@dataclass(frozen=True)
class Difference:
    """The first one: of whom, and what stands around it in both."""

    whom: str
    why: str
    kernel: tuple[str, ...]
    simulator: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.whom}: {self.why}",
            "  kernel:",
            *self.kernel,
            "  simulator:",
            *self.simulator,
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Comparison:
    """`steps`: how many were equal; `late_ns`: by how much the times of one differed at most."""

    steps: int
    late_ns: int
    difference: Difference | None


def compare(kernel: Story, simulator: Story, near_ns: int | None = None) -> Comparison:
    """The earliest difference in order, else in time."""
    pairs = [
        (name, kernel.threads.get(name, []), simulator.threads.get(name, []))
        for name in sorted({*kernel.threads, *simulator.threads})
    ]
    pairs += [
        (f"CPU {cpu}", kernel.cpus.get(cpu, []), simulator.cpus.get(cpu, []))
        for cpu in sorted({*kernel.cpus, *simulator.cpus})
    ]
    steps, late, found = 0, 0, []
    for whom, ours, theirs in pairs:
        equal = _equal(ours, theirs)
        times = [abs(a.ns - b.ns) for a, b in zip(ours[:equal], theirs[:equal])]
        steps, late = steps + equal, max([late, *times])
        if equal < max(len(ours), len(theirs)):
            at = min(one[equal].ns for one in (ours, theirs) if equal < len(one))
            found.append((at, _difference(whom, "other steps", ours, theirs, equal)))
        for i, apart in enumerate(times):
            if apart > (near_ns or NEAR_NS + DRIFT * ours[i].ns):
                why = f"{apart / 1000:,.0f} us apart"
                found.append((ours[i].ns, _difference(whom, why, ours, theirs, i)))
                break
    first = min(found, key=lambda one: one[0])[1] if found else None
    return Comparison(steps, late, first)


def _equal(ours: Sequence[Step], theirs: Sequence[Step]) -> int:
    """How many steps are equal before the first that is not."""
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if (a.what, a.cpu) != (b.what, b.cpu):
            return i
    return min(len(ours), len(theirs))


def _difference(
    whom: str, why: str, ours: Sequence[Step], theirs: Sequence[Step], at: int
) -> Difference:
    return Difference(whom, why, _around(ours, at), _around(theirs, at))


def _around(steps: Sequence[Step], at: int) -> tuple[str, ...]:
    first = max(0, at - _AROUND)
    lines = [
        f"  {'>' if i == at else ' '} {step}"
        for i, step in enumerate(steps[first : at + _AROUND], first)
    ]
    return tuple(lines if at < len(steps) else [*lines, "  > (nothing more)"])
