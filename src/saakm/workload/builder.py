# SPDX-License-Identifier: GPL-2.0
"""Programs of threads, written in Python.

    build = Builder()
    build.pipe("jobs", capacity=100)
    with build.group("server", instances=4) as thread, thread.forever():
        thread.receive("jobs")
        thread.run(exponential(5_000))
    program = build.program("example")

Whatever takes an object takes its name, or `at(name, terms...)` for one of several.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from .checking import check
from .program import (
    ROOT,
    CpuList,
    Group,
    Object,
    Op,
    Operand,
    Policy,
    Program,
    Ref,
    Sum,
    Term,
    Time,
)

MAIN = Policy()
ALL = CpuList()


def at(name: str, *terms: Term | int) -> Ref:
    """The object, or thread, whose number is the sum of the terms."""
    return Ref(name, tuple(Term("number", t) if isinstance(t, int) else t for t in terms))


def own_number(divide: int = 1, times: int = 1) -> Term:
    """The thread's number in its group, divided, rounded down, and multiplied."""
    return Term("self", divide=divide, times=times)


def rounds_done(divide: int = 1, times: int = 1) -> Term:
    """Of the innermost loop."""
    return Term("loop", divide=divide, times=times)


def picked(divide: int = 1, times: int = 1) -> Term:
    """What the thread's last `pick` yielded."""
    return Term("pick", divide=divide, times=times)


def fixed(ns: int) -> Time:
    return Time("fixed", (ns,))


def uniform(low_ns: int, high_ns: int) -> Time:
    return Time("uniform", (low_ns, high_ns))


def exponential(mean_ns: int) -> Time:
    return Time("exponential", (mean_ns,))


def bimodal(usual_ns: int, rare_ns: int, rare_ppm: int) -> Time:
    return Time("bimodal", (usual_ns, rare_ns, rare_ppm))


def _time(time: Time | int) -> Time:
    return fixed(time) if isinstance(time, int) else time


def _ref(name: Ref | str) -> Ref:
    return Ref(name) if isinstance(name, str) else name


class ThreadBuilder:
    """What each thread of a group does, in this order."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.line = 0  # of the user's file, for what is added next

    def _add(self, name: str, *operands: Operand) -> None:
        self.ops.append(Op(name, operands, self.line))

    @contextmanager
    def loop(self, rounds: int) -> Iterator[None]:
        self._add("loop", rounds)
        yield
        self._add("end")

    @contextmanager
    def forever(self) -> Iterator[None]:
        self._add("loop", "forever")
        yield
        self._add("end")

    def run(self, time: Time | int) -> None:
        self._add("run", _time(time))

    def spin(self, time: Time | int) -> None:
        self._add("spin", _time(time))

    def sleep(self, time: Time | int) -> None:
        self._add("sleep", _time(time))

    def timer(self, timer: Ref | str, period: Time | int, relative: bool = True) -> None:
        mode = "relative" if relative else "absolute"
        self._add("timer", _ref(timer), _time(period), mode)

    def lock(self, mutex: Ref | str) -> None:
        self._add("lock", _ref(mutex))

    def unlock(self, mutex: Ref | str) -> None:
        self._add("unlock", _ref(mutex))

    def wait(self, cond: Ref | str, mutex: Ref | str) -> None:
        self._add("wait", _ref(cond), _ref(mutex))

    def meet(self, cond: Ref | str, mutex: Ref | str, parties: int) -> None:
        self._add("meet", _ref(cond), _ref(mutex), parties)

    def signal(self, cond: Ref | str) -> None:
        self._add("signal", _ref(cond))

    def broadcast(self, cond: Ref | str) -> None:
        self._add("broadcast", _ref(cond))

    def barrier(self, barrier: Ref | str) -> None:
        self._add("barrier", _ref(barrier))

    def send(self, queue: Ref | str, many: int = 1, stamp: str = "now") -> None:
        self._add("send", _ref(queue), many, stamp)

    def receive(self, queue: Ref | str, many: int = 1) -> None:
        self._add("receive", _ref(queue), many)

    def suspend(self) -> None:
        self._add("suspend")

    def resume(self, group: Ref | str) -> None:
        self._add("resume", _ref(group))

    def sched_yield(self) -> None:
        self._add("yield")

    def fork(self, group: str, many: int = 1) -> None:
        self._add("fork", group, many)

    def join(self, many: int) -> None:
        self._add("join", many)

    def join_all(self) -> None:
        self._add("join", "all")

    def exit(self) -> None:
        self._add("exit")

    def exec(self) -> None:
        self._add("exec")

    def set_nice(self, nice: int) -> None:
        self._add("set_nice", nice)

    def set_cpus(self, cpus: CpuList) -> None:
        self._add("set_cpus", cpus)

    def set_policy(self, policy: Policy) -> None:
        self._add("set_policy", policy)

    def set_cgroup(self, cgroup: Ref | str) -> None:
        self._add("set_cgroup", _ref(cgroup))

    def set_nice_of(self, group: Ref | str, nice: int) -> None:
        self._add("set_nice_of", _ref(group), nice)

    def set_cpus_of(self, group: Ref | str, cpus: CpuList) -> None:
        self._add("set_cpus_of", _ref(group), cpus)

    def set_policy_of(self, group: Ref | str, policy: Policy) -> None:
        self._add("set_policy_of", _ref(group), policy)

    def set_cgroup_of(self, group: Ref | str, cgroup: Ref | str) -> None:
        self._add("set_cgroup_of", _ref(group), _ref(cgroup))

    def getattr_of(self, group: Ref | str) -> None:
        self._add("getattr_of", _ref(group))

    def kill(self, group: Ref | str) -> None:
        self._add("kill", _ref(group))

    def cgroup_weight(self, cgroup: Ref | str, weight: int) -> None:
        self._add("cgroup_weight", _ref(cgroup), weight)

    def cgroup_policy(self, cgroup: Ref | str, policy: Policy) -> None:
        self._add("cgroup_policy", _ref(cgroup), policy)

    def cpu_offline(self, *cpu: Term) -> None:
        self._add("cpu_offline", Sum(cpu))

    def cpu_online(self, *cpu: Term) -> None:
        self._add("cpu_online", Sum(cpu))

    def steal(self, cpu: Term, time: Time | int) -> None:
        self._add("steal", Sum((cpu,)), _time(time))

    def eject(self, policy: Policy) -> None:
        self._add("eject", policy)

    def reload(self, policy: Policy) -> None:
        self._add("reload", policy)

    def migrate_disable(self) -> None:
        self._add("migrate_disable")

    def migrate_enable(self) -> None:
        self._add("migrate_enable")

    @contextmanager
    def chance(self, percent: float) -> Iterator[None]:
        self._add("chance", round(percent * 10_000))
        yield
        self._add("end")

    def mark_begin(self, mark: str, when: str = "now") -> None:
        self._add("mark_begin", mark, when)

    def mark_end(self, mark: str) -> None:
        self._add("mark_end", mark)

    def iteration(self) -> None:
        self._add("iteration")

    def pick(self, below: int) -> None:
        self._add("pick", below)


class Builder:
    def __init__(self) -> None:
        self._objects: list[Object] = []
        self._marks: list[str] = []
        self._groups: list[Group] = []
        self.line = 0  # of the user's file, for what is added next

    def mutex(self, name: str, count: int = 1) -> None:
        self._objects.append(Object("mutex", name, count, line=self.line))

    def pimutex(self, name: str, count: int = 1) -> None:
        self._objects.append(Object("pimutex", name, count, line=self.line))

    def cgroup(self, name: str, count: int = 1, weight: int = 100, parent: str = ROOT) -> None:
        self._objects.append(Object("cgroup", name, count, weight, parent, line=self.line))

    def cond(self, name: str, count: int = 1) -> None:
        self._objects.append(Object("cond", name, count, line=self.line))

    def barrier(self, name: str, parties: int, count: int = 1) -> None:
        self._objects.append(Object("barrier", name, count, parties, line=self.line))

    def semaphore(self, name: str, initial: int = 0, count: int = 1) -> None:
        self._objects.append(Object("semaphore", name, count, initial, line=self.line))

    def pipe(self, name: str, capacity: int, count: int = 1) -> None:
        self._objects.append(Object("pipe", name, count, capacity, line=self.line))

    def timer(self, name: str, count: int = 1) -> None:
        self._objects.append(Object("timer", name, count, line=self.line))

    def mark(self, name: str) -> None:
        self._marks.append(name)

    @contextmanager
    def group(
        self,
        name: str,
        instances: int = 1,
        *,
        start_ns: int = 0,
        policy: Policy = MAIN,
        nice: int = 0,
        cpus: CpuList = ALL,
        inherit: bool = False,
        reset: bool = False,
    ) -> Iterator[ThreadBuilder]:
        """Its program is what happens to the thread inside of the `with`."""
        thread, line = ThreadBuilder(), self.line
        yield thread
        ops = tuple(thread.ops)
        self._groups.append(
            Group(name, ops, instances, start_ns, policy, nice, cpus, inherit, reset, line)
        )

    def program(self, file: str, duration_ns: int | None = None) -> Program:
        """`file` is what errors name: a file, or the workload's name."""
        built = Program(tuple(self._groups), tuple(self._objects), tuple(self._marks), duration_ns)
        check(built, file)
        return built
