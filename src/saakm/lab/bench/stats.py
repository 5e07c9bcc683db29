# SPDX-License-Identifier: GPL-2.0
"""Means, spreads and differences of some runs, as kernel developers expect them.

Times have an arithmetic mean (Amean), rates a harmonic one (Hmean). Rates are
compared as what they are the inverse of: the harmonic mean is the inverse of
the arithmetic mean of the inverses, and Student's t needs an arithmetic mean.
"""

import math
import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95
ALPHA = 1 - LEVEL
NOISE, WON, LOST, UNKNOWN = "within noise", "won", "lost", "too few runs"


@dataclass(frozen=True)
class Summary:
    """Sums up the runs under one scheduler. The mean lies between `low` and `high`, at 95 %."""

    n: int
    mean: float
    stddev: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """Is the difference to the baseline, in per cent of it; better is positive, whatever the direction."""

    percent: float
    low: float
    high: float
    p: float
    verdict: str


def mean_name(better: str) -> str:
    return "Hmean" if better == "higher" else "Amean"


def summarise(values: Sequence[float], better: str) -> Summary:
    scale = _as_times(values, better)
    mean, half = statistics.fmean(scale), _half_width(scale)
    low, high = mean - half, mean + half
    if better == "higher":
        # An interval that reaches zero has no upper end as a rate.
        mean, low, high = 1 / mean, 1 / high, 1 / low if low > 0 else math.inf
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    return Summary(len(values), mean, spread, low, high)


def compare(base: Sequence[float], values: Sequence[float], better: str) -> Difference:
    """Welch's t-test; within noise when its p is at least 0.05."""
    percent = gain(summarise(base, better).mean, summarise(values, better).mean, better)
    if min(len(base), len(values)) < 2:
        return Difference(percent, math.nan, math.nan, math.nan, UNKNOWN)
    p, low, high = _welch(_as_times(base, better), _as_times(values, better))
    zero = statistics.fmean(_as_times(base, better))
    if better == "higher":
        # Of the times; as rates: base/(base - d) - 1.
        low, high = (_as_rate(d / zero) for d in (low, high))
    else:
        low, high = (100 * d / zero for d in (low, high))
    verdict = NOISE if p >= ALPHA else WON if percent > 0 else LOST
    return Difference(percent, low, high, p, verdict)


def gain(base: float, value: float, better: str) -> float:
    """Returns the gain in per cent of the baseline; better is positive."""
    if not base:
        return 0.0 if value == base else math.nan
    return 100 * ((value - base) if better == "higher" else (base - value)) / base


def _as_times(values: Sequence[float], better: str) -> list[float]:
    return [1 / value for value in values] if better == "higher" else list(values)


def _as_rate(part: float) -> float:
    return 100 * (1 / (1 - part) - 1) if part < 1 else math.inf


def _half_width(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    # Slow to import, and not needed by most commands.
    from scipy import stats

    error = statistics.stdev(values) / math.sqrt(len(values))
    return float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)) * error


def _welch(base: Sequence[float], values: Sequence[float]) -> tuple[float, float, float]:
    """p, and the interval of base minus values: what was saved."""
    from scipy import stats

    difference = statistics.fmean(base) - statistics.fmean(values)
    if len({*base}) == len({*values}) == 1:
        # Without any spread every difference is one, and no test can say so.
        return (1.0 if difference == 0 else 0.0), difference, difference
    with warnings.catch_warnings():
        # Nearly equal runs, as of counts, are no reason to warn.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = stats.ttest_ind(base, values, equal_var=False)
        interval = test.confidence_interval(LEVEL)
    return float(test.pvalue), float(interval.low), float(interval.high)
