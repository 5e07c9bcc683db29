# SPDX-License-Identifier: GPL-2.0
"""Figures from records: what each workload yielded under each scheduler."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from ...model.results import RunRecord
from ...model.schema import plain
from . import stats
from .rounds import WARM_UP
from .stats import Difference, Summary

_LATENCIES = {"wakeup_us": ("wakeup latency", "Wakeup"), "queue_us": ("run-queue wait", "Wait")}
_PERCENTILES = {"p50": "50th", "p90": "90th", "p99": "99th", "p99.9": "99.9th", "max": "max"}


@dataclass
class Figure:
    """One row of a table: the values of each scheduler's runs."""

    workload: str
    title: str  # of the table in which it stands
    label: str  # of the row
    unit: str
    better: str
    meaning: str
    latency: bool = False  # of threads, traced beside a workload's own figure
    values: dict[str, list[float]] = field(default_factory=dict)
    # Context switches of its processes in each run: why a scheduler's costs differ.
    switches: dict[str, list[int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.title} {self.label}".strip()

    def summary(self, scheduler: str) -> Summary:
        return stats.summarise(self.values[scheduler], self.better)

    def more_switches(self, base: str, scheduler: str) -> float:
        """Returns how many there are more, in per cent of the baseline's."""
        before, now = (fmean(self.switches[name]) for name in (base, scheduler))
        return 100 * (now / before - 1) if before else math.nan

    def difference(self, base: str, scheduler: str) -> Difference:
        return stats.compare(self.values[base], self.values[scheduler], self.better)


def figures(records: Iterable[RunRecord]) -> list[Figure]:
    """Returns them in the order in which the workloads ran. Warm-ups and failures do not count."""
    found: dict[tuple[str, ...], Figure] = {}
    for record in records:
        if record.round == WARM_UP or record.value is None:
            continue
        if record.better == "higher" and record.value <= 0:
            continue  # nothing has no inverse; see metric.py
        for figure, value in _of(record):
            same = found.setdefault((figure.title, figure.label, figure.unit), figure)
            same.values.setdefault(record.scheduler, []).append(value)
            same.switches.setdefault(record.scheduler, []).append(record.switches)
    return list(found.values())


def _of(record: RunRecord) -> list[tuple[Figure, float]]:
    if record.traced:
        return _latencies(record)
    family, point, workload = record.family, record.point, record.workload
    # A family of points has a table of its own, as in a kernel's commit message.
    title, label = (f"{workload}-{family}", point) if point else (workload, family)
    return [
        (
            Figure(workload, title, label, record.unit, record.better, record.meaning),
            record.value or 0.0,
        )
    ]


def _latencies(record: RunRecord) -> list[tuple[Figure, float]]:
    found = []
    for key, (what, prefix) in _LATENCIES.items():
        title = f"{record.workload} {record.variant} {what}"
        measured = plain(getattr(record.latency, key))
        found += [
            (
                Figure(
                    record.workload,
                    title,
                    f"{prefix}-{name}",
                    "us",
                    "lower",
                    "behaviour",
                    latency=True,
                ),
                measured[percentile],
            )
            for percentile, name in _PERCENTILES.items()
            if percentile in measured
        ]
    return found


def schedulers(found: Iterable[Figure], first: str = "") -> list[str]:
    """The baseline, the kernel's own, sched_ext's, ours: whatever order chance ran them in."""
    names = {name for figure in found for name in figure.values}
    return sorted(
        names, key=lambda name: (name != first, name != "eevdf", not name.startswith("scx_"), name)
    )


def tables(found: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Groups them by title."""
    groups: dict[str, list[Figure]] = {}
    for figure in found:
        groups.setdefault(figure.title, []).append(figure)
    return groups


@dataclass(frozen=True)
class Tally:
    """The paper's gain and loss: of one scheduler against another, over all workloads."""

    base: str
    scheduler: str
    differences: dict[str, Difference]  # by the figure's name
    averaged: frozenset[str]  # those that can be averaged: a latency in per cent says little

    def count(self, verdict: str) -> int:
        return sum(1 for difference in self.differences.values() if difference.verdict == verdict)

    @property
    def gains(self) -> list[float]:
        return [d.percent for name, d in self.differences.items() if name in self.averaged]

    @property
    def by_chance(self) -> float:
        """So many would win or lose without any difference."""
        tested = sum(1 for d in self.differences.values() if d.verdict != stats.UNKNOWN)
        return tested * stats.ALPHA


def tally(found: Iterable[Figure], base: str, scheduler: str) -> Tally:
    both = [f for f in found if {base, scheduler} <= set(f.values) and not f.latency]
    averaged = frozenset(f.name for f in both if f.meaning != "behaviour")
    return Tally(base, scheduler, {f.name: f.difference(base, scheduler) for f in both}, averaged)
