# SPDX-License-Identifier: GPL-2.0
"""Threads that do little but be scheduled, on any number of CPUs."""

import math
from collections.abc import Mapping

from ..builder import Builder, ThreadBuilder, uniform
from ..program import Program, Time
from .options import Builtin, count, span

_SLEEPS_A_YIELD, _YIELDS_A_FORK = 19, 2


def _make(values: Mapping[str, int], cpus: int) -> Program:
    threads = values["threads"]
    # One thread that forks all others would take a second for 6,000 of them.
    forkers = round(math.sqrt(threads))
    build = Builder()
    for name, number, many in (
        ("forkers", threads % forkers, threads // forkers + 1),
        ("more_forkers", forkers - threads % forkers, threads // forkers),
    ):
        if number:
            with build.group(name, number) as forker:
                forker.fork("threads", many)
    with build.group("threads", 0, inherit=True) as thread, thread.forever():
        with thread.loop(_YIELDS_A_FORK):
            with thread.loop(_SLEEPS_A_YIELD):
                _compute(thread, values["run"])
                thread.sleep(_around(values["sleep"]))
            _compute(thread, values["run"])
            thread.sched_yield()
        thread.fork("children")
    with build.group("children", 0, inherit=True) as child:
        child.run(100_000)
    return build.program("churn")


def _compute(thread: ThreadBuilder, mean: int) -> None:
    thread.run(_around(mean))
    thread.iteration()


def _around(mean: int) -> Time:
    return uniform(mean // 2, mean + mean // 2)


CHURN = Builtin(
    "churn",
    "threads that compute and sleep, yield now and then, and fork",
    "None: it is made to measure how fast the simulator is. With ten threads a CPU, as by default, all "
    "CPUs are busy, and a CPU switches 800 times a second: `run` is 1.25 ms. Of 20 rounds one ends with a "
    "yield, of 40 one with a fork of a child that computes for 100 us.",
    (
        count("threads", "threads", lambda cpus: 10 * cpus, 200_000),
        span("run", "mean CPU time of a round", 1_250_000, 1),
        span("sleep", "mean sleep after that", 10_000_000, 1),
    ),
    _make,
)
