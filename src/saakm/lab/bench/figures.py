# SPDX-License-Identifier: GPL-2.0
"""Figures from records: what each workload yielded under each scheduler."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from ...model.fair_class import FAIR
from ...model.results import Linux, Row, RunRecord
from ...model.schema import plain
from . import stats
from .columns import column_of
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
    # Of what a program measures many times in a run: the standard deviation in each.
    within: dict[str, list[float]] = field(default_factory=dict)
    kernels: dict[str, Linux] = field(default_factory=dict)  # that each ran on

    @property
    def name(self) -> str:
        return f"{self.title} {self.label}".strip()

    def summary(self, scheduler: str) -> Summary:
        return stats.summarise(self.values[scheduler], self.better)

    def stddev(self, scheduler: str) -> float:
        """Between the runs, or within them, where the program has measured that."""
        within = self.within.get(scheduler)
        if within:
            return math.sqrt(fmean(one**2 for one in within))
        return self.summary(scheduler).stddev

    def more_switches(self, base: str, scheduler: str) -> float:
        """Returns how many there are more, in per cent of the baseline's."""
        before, now = (fmean(self.switches[name]) for name in (base, scheduler))
        return 100 * (now / before - 1) if before else math.nan

    def difference(self, base: str, scheduler: str) -> Difference:
        return stats.compare(self.values[base], self.values[scheduler], self.better)


def figures(records: Iterable[RunRecord], order: Sequence[str] = ()) -> list[Figure]:
    """Returns them in the order in which the workloads ran. Warm-ups and failures do not count.

    `order`: of the schedulers, as they were asked for; chance has run them in another one.
    """
    found: dict[tuple[str, ...], Figure] = {}
    records = list(records)
    column = column_of(records)
    for record in records:
        if record.round == WARM_UP or record.value is None:
            continue
        if record.better == "higher" and record.value <= 0:
            continue  # nothing has no inverse; see metric.py
        for figure, value, within in _of(record):
            same = found.setdefault((figure.title, figure.label, figure.unit), figure)
            name = column(record)
            same.values.setdefault(name, []).append(value)
            same.switches.setdefault(name, []).append(record.switches)
            same.kernels[name] = record.linux
            if within is not None:
                same.within.setdefault(name, []).append(within)
    place = {name: n for n, name in reversed(list(enumerate(order)))}
    for figure in found.values():
        names = sorted(figure.values, key=lambda name: (place.get(name, len(order)), name))
        figure.values = {name: figure.values[name] for name in names}
    return list(found.values())


Measured = tuple[Figure, float, float | None]  # with the deviation within the run


def _of(record: RunRecord) -> list[Measured]:
    if record.traced:
        return _latencies(record)
    if record.rows:
        return [_of_row(record, row) for row in record.rows]
    family, point, workload = record.family, record.point, record.workload
    # A family of points has a table of its own, as in a kernel's commit message.
    title, label = (f"{workload}-{family}", point) if point else (workload, family)
    return [
        (
            Figure(workload, title, label, record.unit, record.better, record.meaning),
            record.value or 0.0,
            None,
        )
    ]


def _of_row(record: RunRecord, row: Row) -> Measured:
    title = f"{record.workload}-{record.family} {row.table}"
    figure = Figure(record.workload, title, row.label, row.unit, row.better, row.meaning)
    return figure, row.value, row.stddev


def _latencies(record: RunRecord) -> list[Measured]:
    found: list[Measured] = []
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
                None,
            )
            for percentile, name in _PERCENTILES.items()
            if percentile in measured
        ]
    return found


def schedulers(found: Iterable[Figure], first: str = "") -> list[str]:
    """The baseline, the kernel's own, sched_ext's, ours."""
    names = dict.fromkeys(name for figure in found for name in figure.values)
    return sorted(
        names,
        key=lambda name: (
            name != first,
            re.split("[:@]", name)[0] != FAIR,
            not name.startswith("scx_"),
        ),
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
