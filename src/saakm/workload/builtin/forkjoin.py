# SPDX-License-Identifier: GPL-2.0
"""Rounds in which all work, and all wait for the last."""

from collections.abc import Mapping

from ..builder import Builder, ThreadBuilder, uniform
from ..program import Program, Time
from .options import Builtin, Option, count, rounds, span
from .repeat import repeat


def _make(values: Mapping[str, int], cpus: int) -> Program:
    work, threads = values["work"], values["threads"]
    spread = work * values["imbalance"] // 100
    time = uniform(work - spread, work + spread)
    build = Builder()
    build.barrier("begin", parties=threads)
    build.barrier("done", parties=threads)
    build.mark("round")
    with build.group("master") as master, repeat(master, values["rounds"]):
        master.mark_begin("round")
        _share(master, time)
        master.run(values["serial"])
        master.mark_end("round")
        master.iteration()
    if threads > 1:
        with build.group("members", threads - 1) as member, repeat(member, values["rounds"]):
            _share(member, time)
            member.iteration()
    return build.program("forkjoin")


def _share(thread: ThreadBuilder, time: Time) -> None:
    thread.barrier("begin")
    thread.run(time)
    thread.barrier("done")


FORKJOIN = Builtin(
    "forkjoin",
    "rounds in which all threads work and wait for the last, then one works alone",
    "A parallel loop of OpenMP, as in the NAS benchmarks: a barrier, an equal share of work each, a "
    "barrier, a serial part of the master. Shares that differ by up to 10 % are an assumption.",
    (
        count("threads", "threads, the master included", lambda cpus: cpus, 100_000),
        span("work", "mean CPU time of a share", 1_000_000, 1),
        Option("imbalance", "per cent by which a share may be longer or shorter", 10, 0, 100),
        span("serial", "CPU time of the serial part", 50_000),
        rounds(200),
    ),
    _make,
)
