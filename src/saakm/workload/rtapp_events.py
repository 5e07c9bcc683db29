# SPDX-License-Identifier: GPL-2.0
"""rt-app's events as operations, and the objects that they share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .builder import Builder, ThreadBuilder, at, own_number
from .errors import quoted, refusal
from .located import Member
from .program import Ref
from .rtapp_keys import Fields, event_of, integer, string

MARK = "timer"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,24}")
_US = 1_000
_NEXT = "src/saakm/workload/rtapp.py says what is taken"


@dataclass(frozen=True)
class Task:
    number: int
    name: str
    instances: int
    phases: list[Fields]
    body_is_phase: bool

    @property
    def events(self) -> list[Member]:
        return [event for phase in self.phases for event in phase.events]


@dataclass(frozen=True)
class _Timer:
    name: str
    period_us: int
    absolute: bool


class Events:
    """Knows all tasks before the first is translated: what they share depends on all."""

    def __init__(self, build: Builder, tasks: Mapping[str, Task], pi: bool):
        self._build, self._tasks, self._pi = build, tasks, pi
        self._mutexes: dict[str, int] = {}  # with the line of the first use
        self._conds: dict[str, int] = {}
        self._timers: dict[str, tuple[int, int]] = {}
        self._held: set[str] = set()
        named = [(task, event_of(one.key), one) for task in tasks.values() for one in task.events]
        self.forked = {string(one) for _, event, one in named if event == "fork"}
        self._suspended = {string(one) for _, event, one in named if event == "suspend"}
        timers = [self._timer_of(task, one) for task, event, one in named if event == "timer"]
        self._absolute = {timer.name for timer in timers if timer.absolute}
        self._barriers: dict[str, int] = {}
        for task, event, one in named:
            if event == "barrier":
                self._count_barrier(task, one)

    def begin_task(self) -> None:
        self._held = set()

    def declare(self) -> None:
        """What the events have named."""
        for name, line in self._mutexes.items():
            self._build.line = line
            declare = self._build.pimutex if self._pi else self._build.mutex
            declare(f"m.{name}")
        for name, line in self._conds.items():
            self._build.line = line
            self._build.cond(f"c.{name}")
        self._build.line = 0
        for name in self._barriers:
            self._build.cond(f"b.{name}")
            declare = self._build.pimutex if self._pi else self._build.mutex
            declare(f"bm.{name}")
        for name, (count, line) in self._timers.items():
            self._build.line = line
            self._build.timer(name, count)
        if self._timers:
            self._build.mark(MARK)

    def add(self, thread: ThreadBuilder, task: Task, member: Member) -> None:
        thread.line = member.place.line
        match event_of(member.key):
            case "run":
                thread.run(integer(member, 0) * _US)
            case "runtime":
                thread.spin(integer(member, 0) * _US)
            case "sleep":
                thread.sleep(integer(member, 0) * _US)
            case "timer":
                self._timer(thread, task, member)
            case "lock" | "unlock" as which:
                self._lock(thread, which, member)
            case "signal":
                thread.signal(self._cond(member, string(member)))
            case "broad":
                thread.broadcast(self._cond(member, string(member)))
            case "wait":
                thread.wait(*self._cond_and_mutex(member))
            case "sync":
                self._sync(thread, member)
            case "barrier":
                self._barrier(thread, string(member))
            case "suspend":
                self._suspend(thread, member)
            case "resume":
                self._resume(thread, member)
            case "yield":
                string(member)
                thread.sched_yield()
            case "fork":
                self._fork(thread, member)
            case other:
                raise refusal(member.place, f"{other}", "it is not translated", _NEXT)

    def _object(self, member: Member, name: str) -> str:
        if not _NAME.fullmatch(name):
            why = "a name is 1 to 24 of A-Z a-z 0-9 _ . -"
            raise refusal(member.node.place, f"{member.key} {quoted(name)}", why, "rename it")
        return name

    def _mutex(self, member: Member, name: str) -> str:
        self._mutexes.setdefault(self._object(member, name), member.place.line)
        return f"m.{name}"

    def _cond(self, member: Member, name: str) -> str:
        self._conds.setdefault(self._object(member, name), member.place.line)
        return f"c.{name}"

    def _lock(self, thread: ThreadBuilder, which: str, member: Member) -> None:
        mutex = self._mutex(member, string(member))
        if which == "lock":
            thread.lock(mutex)
            self._held.add(mutex)
        else:
            thread.unlock(mutex)
            self._held.discard(mutex)

    def _cond_and_mutex(self, member: Member) -> tuple[str, str]:
        fields = Fields(member.node, quoted(member.key), ("ref", "mutex"))
        return (
            self._cond(member, fields.string("ref")),
            self._mutex(member, fields.string("mutex")),
        )

    def _sync(self, thread: ThreadBuilder, member: Member) -> None:
        cond, mutex = self._cond_and_mutex(member)
        held = mutex in self._held
        if not held:
            thread.lock(mutex)
        thread.signal(cond)
        thread.wait(cond, mutex)
        if not held:
            thread.unlock(mutex)

    def _barrier(self, thread: ThreadBuilder, name: str) -> None:
        mutex = f"bm.{name}"
        thread.lock(mutex)
        thread.meet(f"b.{name}", mutex, max(self._barriers[name], 1))
        thread.unlock(mutex)

    def _suspend(self, thread: ThreadBuilder, member: Member) -> None:
        """rt-app: a condition variable and a mutex of that name, whosever name it is."""
        mutex, cond = self._mutex(member, string(member)), self._cond(member, string(member))
        thread.lock(mutex)
        thread.wait(cond, mutex)
        thread.unlock(mutex)

    def _resume(self, thread: ThreadBuilder, member: Member) -> None:
        if string(member) not in self._suspended:
            what = f"{member.key} {quoted(string(member))}"
            raise refusal(member.node.place, what, "no task suspends itself by this name", _NEXT)
        mutex, cond = self._mutex(member, string(member)), self._cond(member, string(member))
        thread.lock(mutex)
        thread.broadcast(cond)
        thread.unlock(mutex)

    def _fork(self, thread: ThreadBuilder, member: Member) -> None:
        name = string(member)
        if name not in self._tasks:
            raise refusal(member.node.place, f"fork {quoted(name)}", "there is no such task", _NEXT)
        thread.fork(name)

    def _timer_of(self, task: Task, member: Member) -> _Timer:
        """A name that begins with `unique` is each thread's own."""
        fields = Fields(member.node, quoted(member.key), ("ref", "period", "mode"))
        name = self._object(member, fields.string("ref"))
        mode = fields.string("mode", "relative")
        if mode not in ("relative", "absolute"):
            what = f"the mode {quoted(mode)}"
            raise fields.refuse(member.node.place, what, "it is relative or absolute")
        if fields.get("period") is None:
            raise fields.refuse(member.node.place, "no 'period'", "it must say that")
        period_us = fields.integer("period", 0, 1)
        own = name.startswith("unique")
        return _Timer(f"t{task.number if own else ''}.{name}", period_us, mode == "absolute")

    def _timer(self, thread: ThreadBuilder, task: Task, member: Member) -> None:
        timer = self._timer_of(task, member)
        ref = Ref(timer.name)
        count = 1
        if not timer.name.startswith("t."):
            self._refuse_forked(task, member, "a timer 'unique'")
            count = max(task.instances, 1)
            ref = at(timer.name, own_number()) if count > 1 else ref
        self._timers.setdefault(timer.name, (count, member.place.line))
        thread.timer(ref, timer.period_us * _US, relative=timer.name not in self._absolute)
        thread.mark_begin(MARK, "due")
        thread.mark_end(MARK)

    def _refuse_forked(self, task: Task, member: Member, what: str) -> None:
        if task.name in self.forked:
            why = f"the task {quoted(task.name)} is forked: how many there will be is not known"
            raise refusal(member.place, what, why, "use a task of its own, with `instance`")

    def _count_barrier(self, task: Task, member: Member) -> None:
        name = self._object(member, string(member))
        self._refuse_forked(task, member, f"barrier {quoted(name)}")
        alike = [one for one in task.events if event_of(one.key) == "barrier"]
        if sum(string(one) == name for one in alike) > 1:
            why = "a task may name it once: rt-app counts on each who names it"
            raise refusal(member.place, f"barrier {quoted(name)}", why, "use two names")
        self._barriers[name] = self._barriers.get(name, 0) + task.instances
