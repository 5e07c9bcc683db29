# SPDX-License-Identifier: GPL-2.0
"""Means, intervals and verdicts, against figures worked out elsewhere."""

import math

import pytest

from saakm.lab.bench import stats
from saakm.lab.bench.figures import Figure, figures, schedulers, tables, tally
from saakm.model.results import RunRecord
from saakm.model.schema import fit

# Student's own sleep data; R: t.test(a, b) says p = 0.07939, interval -3.3654832 .. 0.2054832.
A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
B = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_welch_agrees_with_r():
    found = stats.compare(A, B, "lower")
    assert found.p == pytest.approx(0.07939, abs=1e-5)
    mean = sum(A) / len(A)
    assert found.low == pytest.approx(100 * -3.3654832 / mean, rel=1e-6)
    assert found.high == pytest.approx(100 * 0.2054832 / mean, rel=1e-6)
    assert found.verdict == stats.NOISE


def test_interval_of_a_mean_agrees_with_r():
    """R: t.test(b)$conf.int."""
    found = stats.summarise(B, "lower")
    assert (found.low, found.high) == (pytest.approx(0.8976775), pytest.approx(3.7623225))
    assert found.mean == pytest.approx(2.33) and found.stddev == pytest.approx(2.002249)


def test_rates_have_a_harmonic_mean_and_times_an_arithmetic_one():
    assert stats.summarise([40, 60], "higher").mean == pytest.approx(48)
    assert stats.summarise([40, 60], "lower").mean == pytest.approx(50)
    assert (stats.mean_name("higher"), stats.mean_name("lower")) == ("Hmean", "Amean")


@pytest.mark.parametrize(
    ("better", "base", "value", "percent"),
    [
        # Of the commit that the tables are after.
        ("lower", 0.2657, 0.2150, 19.08),
        ("lower", 2.3207, 2.5053, -7.95),
        ("higher", 9208.74, 12193.79, 32.42),
        ("higher", 3971.74, 3950.59, -0.53),
    ],
)
def test_better_is_positive_whatever_the_direction(better, base, value, percent):
    assert stats.gain(base, value, better) == pytest.approx(percent, abs=0.006)


def test_a_rate_wins_exactly_as_its_time_does():
    times, others = [1.0, 1.1, 0.9, 1.05], [0.8, 0.78, 0.85, 0.81]
    as_time = stats.compare(times, others, "lower")
    as_rate = stats.compare([1 / t for t in times], [1 / t for t in others], "higher")
    assert as_time.verdict == as_rate.verdict == stats.WON
    assert as_time.p == pytest.approx(as_rate.p)
    # 20 % less time is 25 % more per second.
    assert 1 / (1 - as_time.percent / 100) - 1 == pytest.approx(as_rate.percent / 100)
    assert as_rate.low < as_rate.percent < as_rate.high


def test_what_cannot_be_tested_is_not_called_a_win():
    assert stats.compare([1.0], [0.5, 0.5], "lower").verdict == stats.UNKNOWN
    assert math.isnan(stats.summarise([1.0], "lower").low)


def test_without_spread_any_difference_counts_and_equality_is_noise():
    assert stats.compare([2, 2, 2], [1, 1, 1], "lower").verdict == stats.WON
    assert stats.compare([2, 2, 2], [2, 2, 2], "lower").verdict == stats.NOISE


# --- figures and the table of gains ---


def record(scheduler="fair", value=1.0, **more):
    usual = {
        "kind": "run",
        "workload": "w",
        "variant": "v",
        "family": "v",
        "point": "",
        "definition": "d",
        "scheduler": scheduler,
        "build": "",
        "round": 1,
        "traced": False,
        "kernel": "k",
        "machine": {"on": "guest", "cpus": 4},
        "unit": "s",
        "better": "lower",
        "meaning": "time",
        "value": value,
        "error": None,
        "switches": 10,
    }
    return fit(usual | more, RunRecord)


def test_warm_ups_and_failures_do_not_count():
    found = figures(
        [record(value=9.0, round=0), record(value=1.0), record(error="died", value=None)]
    )
    assert [figure.values for figure in found] == [{"fair": [1.0]}]


def test_points_of_a_family_share_a_table():
    found = figures([record(family="pipes", point=p, variant=f"pipes-{p}") for p in "124"])
    ((title, group),) = tables(found).items()
    assert title == "w-pipes" and [figure.label for figure in group] == ["1", "2", "4"]


def test_the_baseline_comes_first_then_the_kernels_own():
    found = [
        Figure(
            "w",
            "t",
            "l",
            "s",
            "lower",
            "time",
            values={n: [1.0] for n in ("vtime", "scx_fifo", "fifo", "fair")},
        )
    ]
    assert schedulers(found) == ["fair", "scx_fifo", "vtime", "fifo"]
    assert schedulers(found, "fifo") == ["fifo", "fair", "scx_fifo", "vtime"]


def test_gains_are_counted_and_behaviour_is_not_averaged():
    def figure(label, meaning, factor):
        base = [1.0, 1.01, 0.99, 1.0]
        return Figure(
            "w",
            "t",
            label,
            "s",
            "lower",
            meaning,
            values={"fair": base, "fifo": [factor * value for value in base]},
        )

    found = [
        figure("won", "time", 0.8),
        figure("lost", "time", 1.1),
        figure("noise", "time", 1.001),
        figure("late", "behaviour", 9.0),
    ]
    result = tally(found, "fair", "fifo")
    assert [result.count(v) for v in (stats.WON, stats.LOST, stats.NOISE)] == [1, 2, 1]
    assert sorted(result.gains) == [pytest.approx(v) for v in (-10, -0.1, 20)]
    assert result.by_chance == pytest.approx(0.2)


def test_traced_runs_yield_latencies_and_not_times():
    latency = {"wakeup_us": {"n": 2, "p50": 3.0, "max": 7.0}, "queue_us": {"n": 0}}
    latency |= {"from_s": 0, "complete": True}
    found = figures([record(traced=True, value=4.0, latency=latency)])
    assert [(f.label, f.values["fair"]) for f in found] == [
        ("Wakeup-50th", [3.0]),
        ("Wakeup-max", [7.0]),
    ]
    assert all(f.latency and f.meaning == "behaviour" for f in found)
