# SPDX-License-Identifier: GPL-2.0
"""Threads that want the same few locks."""

from collections.abc import Mapping

from ..builder import Builder, at, exponential, picked
from ..program import Program
from .options import Builtin, count, rounds, span
from .repeat import repeat


def _make(values: Mapping[str, int], cpus: int) -> Program:
    build = Builder()
    build.mutex("lock", values["locks"])
    build.mark("lock")
    with build.group("threads", values["threads"]) as thread, repeat(thread, values["rounds"]):
        thread.run(exponential(values["outside"]))
        thread.pick(values["locks"])
        thread.mark_begin("lock")
        thread.lock(at("lock", picked()))
        thread.mark_end("lock")
        thread.run(values["inside"])
        thread.unlock(at("lock", picked()))
        thread.iteration()
    return build.program("lockheavy")


LOCKHEAVY = Builtin(
    "lockheavy",
    "threads that contend for a few locks",
    "The micro-benchmark of papers about locks (as for MCS or Malthusian locks): a critical section of "
    "fixed length, a section outside of random length, over and over; which of the locks is random.",
    (
        count("threads", "threads", lambda cpus: 2 * cpus, 100_000),
        count("locks", "locks", lambda cpus: max(1, cpus // 4), 100_000),
        span("inside", "CPU time with the lock", 2_000),
        span("outside", "mean CPU time between", 20_000, 1),
        rounds(0),
    ),
    _make,
)
