# SPDX-License-Identifier: GPL-2.0
"""A thundering herd: one event wakes all, and they want one lock."""

from collections.abc import Mapping

from ..builder import Builder
from ..program import Program
from .options import Builtin, count, rounds, span
from .repeat import repeat


def _make(values: Mapping[str, int], cpus: int) -> Program:
    build = Builder()
    build.mutex("lock")
    build.cond("event")
    build.timer("clock")
    with build.group("waker") as waker, repeat(waker, values["rounds"]):
        waker.timer("clock", values["period"])
        waker.lock("lock")
        waker.broadcast("event")
        waker.unlock("lock")
        waker.iteration()
    with build.group("herd", values["threads"]) as one, one.forever():
        one.lock("lock")
        one.wait("event", "lock")
        one.run(values["inside"])
        one.unlock("lock")
        one.run(values["work"])
        one.iteration()
    return build.program("herd")


HERD = Builtin(
    "herd",
    "threads that one event wakes all at once",
    "The thundering herd, as of servers whose threads all wait for one connection: a broadcast wakes "
    "all, they queue for the mutex, look, work and wait again. Who is late misses an event.",
    (
        count("threads", "threads that wait", lambda cpus: 8 * cpus, 100_000),
        span("period", "time between events", 10_000_000, 1),
        span("inside", "CPU time of each with the mutex", 1_000),
        span("work", "CPU time of each after that", 100_000),
        rounds(0),
    ),
    _make,
)
