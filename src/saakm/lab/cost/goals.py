# SPDX-License-Identifier: GPL-2.0
"""What we want decisions to cost, and what they do."""

import math
from dataclasses import dataclass
from statistics import linear_regression

from ...model.cost_rows import Row
from ...model.fair_class import FAIR
from .axes import AXES, axis_of

# Elections in one operation.
_PICKS = {"pipe": 2, "yield": 1}
_PER_POLICY = 5
_SAME = 0.01
# Instructions of a pipe round trip that lie outside of any class, as the issue gives them that
# set this goal. No command prints them: added up by hand from --where under QEMU 7.2 they are
# some 6,814 (docs/results.md). Another QEMU counts otherwise: under 10 global's pipe takes some
# 7,760 instructions and scx_global's 8,766, under 7.2 7,813 and 8,821.
_OUTSIDE = 6813
# Fewer share what waking up a crowd costs by itself.
_LEAST = {"crowd": 100}
# Cost = a + b log n: how far off its line a point may be, as a part of the cost.
_OFF_LINE = 0.05


@dataclass(frozen=True)
class Verdict:
    goal: str
    measured: str
    reached: bool


def verdicts(rows: list[Row]) -> list[Verdict]:
    """Judges the goals that these rows say something about."""
    judge = {"": _plain, "runnable": _runnable, "policies": _policies, "cpus": _cpus}
    return judge[axis_of(rows)](rows)


def _plain(rows: list[Row]) -> list[Verdict]:
    cost = {(row.scheduler, row.operation): row.instructions for row in rows}
    found = []
    for operation, peer, part in (
        ("pipe", "sched_fifo", 0.90),
        ("pipe2", FAIR, 1.0),
        ("yield", "sched_fifo", 1.0),
    ):
        ours, theirs = cost.get(("fifo", operation)), cost.get((peer, operation))
        if ours and theirs:
            found.append(
                Verdict(
                    f"fifo's {operation} at most {part:.2f} of {peer}'s",
                    f"{ours / theirs:.3f}",
                    ours <= part * theirs,
                )
            )
    ours, theirs = cost.get(("global", "pipe")), cost.get(("scx_global", "pipe"))
    if ours and theirs:
        part = (ours - _OUTSIDE) / (theirs - _OUTSIDE)
        found.append(
            Verdict(
                "a shared queue adds at most 0.50 of what sched_ext's global one adds to the "
                f"{_OUTSIDE:,} instructions of a pipe round trip outside of any class",
                f"{part:.3f}",
                part <= 0.5,
            )
        )
    return found + _in_user_space(cost)


def _in_user_space(cost: dict[tuple[str, str], float]) -> list[Verdict]:
    """A decision of a program shall add half of what the same adds under sched_ext."""
    found = []
    for operation in ("pipe", "pipe2", "futex", "sleep"):
        names = ("sched_fifo", "user:rustland", "scx_rustland")
        floor, ours, theirs = (cost.get((name, operation)) for name in names)
        if floor and ours and theirs and theirs > floor:
            part = (ours - floor) / (theirs - floor)
            found.append(
                Verdict(
                    f"user:rustland adds to sched_fifo's {operation} at most 0.50 "
                    "of what scx_rustland adds",
                    f"{part:.3f}",
                    part <= 0.5,
                )
            )
    return found


def _lines(rows: list[Row], axis: str) -> dict[tuple[str, str], dict[int, float]]:
    lines: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        value = AXES[axis].value(row)
        if axis == "runnable" and value < _LEAST.get(row.operation, 0):
            continue
        lines.setdefault((row.scheduler, row.operation), {})[value] = row.instructions
    return {key: points for key, points in lines.items() if len(points) > 1}


def _policies(rows: list[Row]) -> list[Verdict]:
    found = []
    for (scheduler, operation), points in _lines(rows, "policies").items():
        if operation not in _PICKS:
            continue
        first, last = min(points), max(points)
        each = (points[last] - points[first]) / (last - first) / _PICKS[operation]
        found.append(
            Verdict(
                f"{scheduler}, {operation}: a further policy adds at most "
                f"{_PER_POLICY} instructions a pick",
                f"{each:.1f}",
                each <= _PER_POLICY,
            )
        )
    return found


def _runnable(rows: list[Row]) -> list[Verdict]:
    found = []
    for (scheduler, operation), points in _lines(rows, "runnable").items():
        first, last = min(points), max(points)
        if scheduler == "fifo":
            part = points[last] / points[first] - 1
            found.append(
                Verdict(
                    f"fifo, {operation}: {last:,} threads cost the same as {first}",
                    f"{part:+.2%}",
                    part <= _SAME,
                )
            )
        if scheduler == "vtime":
            slope, off = _logarithm(points)
            found.append(
                Verdict(
                    f"vtime, {operation}: logarithmic (RBTREE)",
                    f"{slope:+.1f} each doubling, at most {off:.1%} off the line",
                    off <= _OFF_LINE,
                )
            )
    return found


def _cpus(rows: list[Row]) -> list[Verdict]:
    found = []
    for (scheduler, operation), points in _lines(rows, "cpus").items():
        if scheduler == "fifo":
            first, last = min(points), max(points)
            part = points[last] / points[first] - 1
            found.append(
                Verdict(
                    f"fifo, {operation}: {last} CPUs cost the same as {first}",
                    f"{part:+.2%}",
                    part <= _SAME,
                )
            )
    return found


def _logarithm(points: dict[int, float]) -> tuple[float, float]:
    """Returns the slope, in log2, of the line through them, and the largest distance of a point."""
    doublings, costs = [math.log2(n) for n in points], list(points.values())
    slope, begin = linear_regression(doublings, costs)
    off = max(abs(y - begin - slope * x) / y for x, y in zip(doublings, costs))
    return slope, off
