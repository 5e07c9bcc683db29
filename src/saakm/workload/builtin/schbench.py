# SPDX-License-Identifier: GPL-2.0
"""Messengers that wake workers, who think."""

from collections.abc import Mapping

from ..builder import Builder, at, own_number
from ..program import Program
from .options import Builtin, count, rounds, span
from .repeat import repeat


def _make(values: Mapping[str, int], cpus: int) -> Program:
    messengers, workers = values["messengers"], values["workers"]
    build = Builder()
    build.semaphore("asked", count=messengers)
    build.pipe("answer", capacity=workers, count=messengers)
    build.mark("wakeup")
    with build.group("messengers", messengers) as messenger, repeat(messenger, values["rounds"]):
        messenger.receive(at("asked", own_number()), workers)
        messenger.sleep(values["sleep"])
        messenger.send(at("answer", own_number()), workers)
        messenger.iteration()
    with build.group("workers", messengers * workers) as worker, repeat(worker, values["rounds"]):
        worker.send(at("asked", own_number(divide=workers)))
        worker.receive(at("answer", own_number(divide=workers)))
        worker.mark_begin("wakeup", "sent")
        worker.mark_end("wakeup")
        worker.run(values["think"])
        worker.iteration()
    return build.program("schbench")


SCHBENCH = Builtin(
    "schbench",
    "messengers that wake workers, who think",
    "schbench (Chris Mason, git.kernel.org), its first version: a worker asks its messenger and "
    "sleeps, is woken, and thinks for 30 ms. Here a messenger answers when all its workers have asked; there "
    "it answers whoever has asked when it looks, each 30 ms.",
    (
        count("messengers", "messengers", lambda cpus: max(1, cpus // 32), 10_000),
        count("workers", "workers of a messenger", lambda cpus: min(cpus, 32), 10_000),
        span("think", "CPU time of a worker between answers", 30_000_000),
        span("sleep", "how long a messenger sleeps before it answers", 30_000_000),
        rounds(0),
    ),
    _make,
)
