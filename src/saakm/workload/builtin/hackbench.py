# SPDX-License-Identifier: GPL-2.0
"""Groups of senders and receivers."""

from collections.abc import Mapping

from ..builder import Builder, at, own_number, rounds_done
from ..program import Program
from .options import Builtin, count, span

# A pipe of 16 pages holds 40 messages of 100 bytes a page.
_CAPACITY = 640


def _make(values: Mapping[str, int], cpus: int) -> Program:
    groups, fds, loops = values["groups"], values["fds"], values["loops"]
    build = Builder()
    build.barrier("start", parties=2 * groups * fds)
    build.pipe("inbox", _CAPACITY, count=groups * fds)
    build.mark("delivery")
    with build.group("senders", groups * fds) as sender:
        sender.barrier("start")
        with sender.loop(loops):
            with sender.loop(fds):
                sender.run(values["cost"])
                sender.send(at("inbox", own_number(divide=fds, times=fds), rounds_done()))
            sender.iteration()
    with build.group("receivers", groups * fds) as receiver:
        receiver.barrier("start")
        with receiver.loop(loops * fds):
            receiver.receive(at("inbox", own_number()))
            receiver.mark_begin("delivery", "sent")
            receiver.mark_end("delivery")
            receiver.run(values["cost"])
        receiver.iteration()
    return build.program("hackbench")


HACKBENCH = Builtin(
    "hackbench",
    "groups in which each sender writes to each receiver",
    "hackbench of rt-tests with pipes (and perf bench sched messaging): 20 senders and 20 receivers "
    "a group, each sender writes `loops` messages to each receiver of its group; all begin together. "
    "That a message costs each side 1 us is an assumption.",
    (
        count("groups", "groups", lambda cpus: max(1, cpus // 4), 1_024),
        count("fds", "senders, and receivers, of a group", 20, 1_000),
        count("loops", "messages of each sender to each receiver", 100, 10**6),
        span("cost", "CPU time to write a message, and to read one", 1_000),
    ),
    _make,
)
