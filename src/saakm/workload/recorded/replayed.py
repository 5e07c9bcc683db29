# SPDX-License-Identifier: GPL-2.0
"""A program of what recorded threads did: each is a group of its own.

A sleep that a thread ended waits for that thread, at the place in its CPU time at which it woke: a semaphore for each
pair of threads counts these wakeups, so that none is lost, whoever comes first. Any other sleep takes
as long as it took. A thread that was there before the recording begins at once; if it slept then, with that
sleep, of which the part before is not known. One that outlasts the recording ends with it.
"""

import re
from collections.abc import Iterable

from ..builder import Builder, ThreadBuilder, at
from ..checking import MAX_GROUPS, MAX_OPS
from ..errors import BadWorkload
from ..program import Policy, Program
from .source import Source
from .threads import Act, Thread

_SEMAPHORES = "woken"
_NAME_MAX = 31


def program_of(threads: list[Thread], source: Source) -> Program:
    maker = _Maker(threads)
    _check_size(threads, maker.steps(), source)
    return maker.program(source)


def _check_size(threads: list[Thread], steps: int, source: Source) -> None:
    for what, there, limit in (("threads", len(threads), MAX_GROUPS), ("steps", steps, MAX_OPS)):
        if there > limit:
            raise BadWorkload(
                f"{source.file}: {there:,} {what} are too many for a workload",
                f"it may have {limit:,}",
                f"record a shorter run, or choose threads by name: {source.file}:only=NAME",
            )
    for one in threads:
        if one.prio is not None and one.prio < 0:
            raise BadWorkload(
                f"{source.file}: thread {one.pid} cannot be replayed",
                "it was of SCHED_DEADLINE, of which the simulator has no model",
                "record it under another policy, or choose threads by name: :only=NAME",
            )


class _Maker:
    def __init__(self, threads: list[Thread]):
        self._threads = threads
        self._names = _names(threads)
        self._begin_ns = min(one.born_ns for one in threads)
        self._pairs: dict[tuple[Thread, Thread], int] = {}  # waker, woken: number of the semaphore

    def steps(self) -> int:
        """At the most: each with what is computed before it, and an end."""
        return 2 * sum(1 + sum(map(self._counts, one.acts)) for one in self._threads)

    def program(self, source: Source) -> Program:
        for one in self._threads:
            for act in one.acts:
                if act.kind == "wait" and act.peer in self._names:
                    self._pairs.setdefault((act.peer, one), len(self._pairs))
        build = Builder()
        if self._pairs:
            build.semaphore(_SEMAPHORES, count=len(self._pairs))
        for one in self._threads:
            forked = one.parent in self._names
            with build.group(
                self._names[one],
                0 if forked else 1,
                start_ns=0 if forked else one.born_ns - self._begin_ns,
                policy=_policy(one),
                nice=_nice(one),
            ) as thread:
                self._do(one, thread)
        return build.program(source.file)

    def _do(self, one: Thread, thread: ThreadBuilder) -> None:
        done_ns = 0
        for act in one.acts:
            if not self._counts(act):
                continue
            if act.at_ns > done_ns:
                thread.run(act.at_ns - done_ns)
                done_ns = act.at_ns
            self._act(one, act, thread)
        if one.cpu_ns > done_ns:
            thread.run(one.cpu_ns - done_ns)

    def _counts(self, act: Act) -> bool:
        if act.kind == "wait":
            return act.number > 0 or act.peer in self._names
        return act.peer is None or act.peer in self._names

    def _act(self, one: Thread, act: Act, thread: ThreadBuilder) -> None:
        peer = act.peer if act.peer in self._names else None
        match act.kind:
            case "wake" if peer:
                thread.send(at(_SEMAPHORES, self._pairs[one, peer]))
            case "wait" if peer:
                thread.receive(at(_SEMAPHORES, self._pairs[peer, one]))
            case "wait":
                thread.sleep(act.number)
            case "fork" if peer:
                thread.fork(self._names[peer])
            case "exec":
                thread.exec()
            case "nice":
                thread.set_nice(act.number)


def _policy(one: Thread) -> Policy:
    """Whatever was not real-time is under the policy that the run is for."""
    if one.prio is None or one.prio >= 100:
        return Policy()
    return Policy("rt", priority=max(1, 99 - one.prio))


def _nice(one: Thread) -> int:
    return one.prio - 120 if one.prio is not None and 100 <= one.prio < 140 else 0


def _names(threads: Iterable[Thread]) -> dict[Thread, str]:
    """comm-pid, as far as a name of a group may hold it; of numbers that came again the next is .2."""
    found: dict[Thread, str] = {}
    taken: set[str] = set()
    for one in threads:
        comm = re.sub(r"[^A-Za-z0-9_.-]", "_", one.names[-1] if one.names else "thread")
        if not re.match(r"[A-Za-z]", comm):
            comm = "t" + comm
        plain = f"{comm[: _NAME_MAX - 12]}-{one.pid}"
        name, again = plain, 1
        while name in taken:
            again += 1
            name = f"{plain}.{again}"
        taken.add(name)
        found[one] = name
    return found
