# SPDX-License-Identifier: GPL-2.0
"""Threads that do to each other, and to the machine, whatever a workload can ask for."""

from collections.abc import Callable, Iterable, Mapping

from ..builder import Builder, ThreadBuilder, at, exponential, own_number, picked, uniform
from ..program import CpuList, Policy, Program, Term
from .options import Builtin, count, rounds, span
from .repeat import repeat

_US = 1_000
_ANY = Policy("any")
_POLICIES = (
    *[_ANY] * 5,
    Policy("fair"),
    Policy("batch"),
    Policy("idle"),
    Policy("rr", priority=7),
    Policy("rt", priority=3),
)
_NICE = (-20, -3, 0, 5, 19)
_LOCKS = 3
_TOP, _LOW = 2, 4  # cgroups of each level
_Step = Callable[[ThreadBuilder], None]


def _make(values: Mapping[str, int], cpus: int) -> Program:
    threads = values["threads"]
    build = Builder()
    build.mutex("lock", _LOCKS)
    build.pimutex("pi", _LOCKS)
    build.cond("event")
    build.pipe("jobs", 1_000)
    build.cgroup("top", _TOP, 300)
    build.cgroup("low", _LOW, 20, "top")
    with build.group("worker", threads) as worker, repeat(worker, values["rounds"]):
        # A thread that draws nothing at all still comes forward in time.
        worker.run(1 * _US)
        _perhaps(worker, 10, [*_alone(cpus), *_together(), *_to_others(threads, cpus)])
        if not _unplugs(values, cpus):
            _perhaps(worker, 10, [_pinned])
        worker.iteration()
    with build.group("taker", max(1, cpus // 2)) as taker, taker.forever():
        taker.receive("jobs")
        taker.run(exponential(20 * _US))
    _urgent(build)
    _families(build, cpus)
    _machine(build, values, cpus)
    return build.program("torture")


def _perhaps(thread: ThreadBuilder, percent: float, steps: Iterable[_Step]) -> None:
    for step in steps:
        with thread.chance(percent):
            step(thread)


def _bound(method: Callable[..., None], *operands: object) -> _Step:
    return lambda thread: method(thread, *operands)


def _some_cpus(cpus: int) -> tuple[CpuList, ...]:
    last = cpus - 1
    parts = ((0, last // 2), (last // 2, last), (last, last))
    return (CpuList(), CpuList(), *(CpuList((part,)) for part in parts))


def _alone(cpus: int) -> list[_Step]:
    """What a thread does to itself."""
    return [
        _bound(ThreadBuilder.run, exponential(50 * _US)),
        _bound(ThreadBuilder.sleep, exponential(100 * _US)),
        _bound(ThreadBuilder.spin, uniform(0, 20 * _US)),
        ThreadBuilder.sched_yield,
        ThreadBuilder.exec,
        *(_bound(ThreadBuilder.set_nice, nice) for nice in _NICE),
        *(_bound(ThreadBuilder.set_cpus, some) for some in _some_cpus(cpus)),
        *(_bound(ThreadBuilder.set_policy, policy) for policy in _POLICIES),
        _change_cgroup,
        _bound(ThreadBuilder.set_cgroup, "root"),
    ]


def _unplugs(values: Mapping[str, int], cpus: int) -> bool:
    return values["hotplug"] > 0 and cpus > 1


def _pinned(thread: ThreadBuilder) -> None:
    """Not where CPUs go offline.

    Linux 6.12 leaves a thread where it may not be if the CPU that it shall move to goes offline just then (it says
    so in migration_cpu_stop()), and does not expect that such a thread disables migration.
    """
    thread.migrate_disable()
    thread.run(exponential(10 * _US))
    with thread.chance(50):
        thread.sleep(exponential(50 * _US))
    thread.migrate_enable()


def _change_cgroup(thread: ThreadBuilder) -> None:
    thread.pick(_LOW)
    thread.set_cgroup(at("low", picked()))


def _together() -> list[_Step]:
    """Where threads wait for each other."""
    return [
        _bound(_locked, "lock"),
        _bound(_locked, "pi"),
        *(_bound(_locked_twice, number) for number in range(_LOCKS - 1)),
        _wait,
        _bound(ThreadBuilder.broadcast, "event"),
        _bound(ThreadBuilder.send, "jobs", 3),
        ThreadBuilder.suspend,
    ]


def _locked(thread: ThreadBuilder, lock: str) -> None:
    thread.pick(_LOCKS)
    thread.lock(at(lock, picked()))
    thread.run(exponential(10 * _US))
    with thread.chance(20):
        thread.sleep(exponential(20 * _US))
    thread.unlock(at(lock, picked()))


def _locked_twice(thread: ThreadBuilder, number: int) -> None:
    """In order, or they would wait for each other."""
    thread.lock(at("pi", number))
    thread.run(exponential(5 * _US))
    thread.lock(at("pi", number + 1))
    thread.run(exponential(5 * _US))
    thread.unlock(at("pi", number))
    thread.run(exponential(5 * _US))
    thread.unlock(at("pi", number + 1))


def _wait(thread: ThreadBuilder) -> None:
    thread.lock("pi")
    thread.wait("event", "pi")
    thread.unlock("pi")


def _to_others(threads: int, cpus: int) -> list[_Step]:
    other = at("worker", picked())
    changes: list[_Step] = [
        *(_bound(ThreadBuilder.set_nice_of, other, nice) for nice in _NICE[:3]),
        *(_bound(ThreadBuilder.set_cpus_of, other, some) for some in _some_cpus(cpus)),
        *(_bound(ThreadBuilder.set_policy_of, other, policy) for policy in _POLICIES[2:]),
        _bound(ThreadBuilder.set_cgroup_of, other, at("low", own_number())),
        _bound(ThreadBuilder.getattr_of, other),
        _bound(ThreadBuilder.resume, other),
    ]

    def meddle(thread: ThreadBuilder) -> None:
        thread.pick(threads)
        _perhaps(thread, 20, changes)

    return [meddle]


def _urgent(build: Builder) -> None:
    """Real-time threads that want the locks, so that those who hold them are boosted."""
    with build.group("urgent", 2, policy=Policy("rt", priority=50)) as urgent, urgent.forever():
        urgent.sleep(uniform(0, 500 * _US))
        _locked(urgent, "pi")
    with build.group("bell", policy=Policy("fair")) as bell, bell.forever():
        bell.sleep(uniform(0, 2_000 * _US))
        bell.broadcast("event")
        bell.resume("worker")
        bell.getattr_of("victim")


def _families(build: Builder, cpus: int) -> None:
    with build.group("parent", 2) as parent, parent.forever():
        parent.fork("victim", 2)
        parent.fork("child", 2)
        _perhaps(parent, 20, _alone(cpus))
        parent.sleep(uniform(0, 1_000 * _US))
        parent.kill("victim")
        parent.join_all()
    with build.group("victim", 0, inherit=True) as victim, victim.forever():
        victim.run(exponential(20 * _US))
        _perhaps(victim, 10, [*_alone(cpus), _bound(_locked, "pi")])
    with build.group("child", 0, inherit=True, reset=True) as child:
        _perhaps(child, 10, [ThreadBuilder.exec, *_alone(cpus)])
        with child.chance(30):
            child.fork("leaf", 2)
    with build.group("leaf", 0, policy=_POLICIES[-1], nice=3) as leaf:
        leaf.run(exponential(30 * _US))
        _perhaps(leaf, 10, _alone(cpus))


def _machine(build: Builder, values: Mapping[str, int], cpus: int) -> None:
    """What root and a hypervisor do meanwhile."""
    if _unplugs(values, cpus):
        _root(build, "hotplug", values["hotplug"], [_bound(_unplug, values["hotplug"], cpus)], 2)
    if values["cgroups"]:
        _root(build, "cgroups", values["cgroups"], [_cgroups])
    if values["modules"]:
        _root(build, "modules", values["modules"], [_bound(_modules, values["modules"])])
    if values["steal"]:
        _root(build, "hypervisor", values["steal"], [_bound(_steal, cpus)])


def _root(build: Builder, name: str, mean: int, steps: list[_Step], instances: int = 1) -> None:
    with build.group(name, instances, policy=Policy("fair")) as root, root.forever():
        root.sleep(uniform(1, 2 * mean))
        for step in steps:
            step(root)


def _unplug(thread: ThreadBuilder, mean: int, cpus: int) -> None:
    """But the first one, so that there is always one."""
    one = (picked(), Term("number", 1))
    thread.pick(cpus - 1)
    thread.cpu_offline(*one)
    thread.sleep(uniform(0, mean))
    thread.cpu_online(*one)


def _cgroups(thread: ThreadBuilder) -> None:
    for name, many in (("top", _TOP), ("low", _LOW)):
        thread.pick(many)
        one = at(name, picked())
        with thread.chance(30):
            thread.cgroup_policy(one, _ANY)
        with thread.chance(30):
            thread.cgroup_policy(one, Policy("none"))
        for weight in (1, 100, 10_000):
            with thread.chance(30):
                thread.cgroup_weight(one, weight)


def _modules(thread: ThreadBuilder, mean: int) -> None:
    with thread.chance(50):
        thread.eject(_ANY)
        thread.sleep(uniform(0, mean))
    thread.reload(_ANY)


def _steal(thread: ThreadBuilder, cpus: int) -> None:
    thread.pick(cpus)
    thread.steal(picked(), uniform(0, 500 * _US))


TORTURE = Builtin(
    "torture",
    "threads that change themselves, each other and the machine under way: to find faults",
    "Like the kernel's locktorture and rcutorture: no program is like that. The seed of the run draws what "
    "each thread does next: policies, nice, CPUs, cgroups, locks with and without priority inheritance, fork, "
    "exec, kill, yield, migrate_disable, hotplug, modules that go and come. Times are means.",
    (
        count("threads", "threads that do it", lambda cpus: 2 * cpus, 10_000),
        span("hotplug", "time between CPUs that go offline; 0: none does", 5_000 * _US),
        span(
            "cgroups", "time between changes of a cgroup's policy or weight; 0: none", 1_000 * _US
        ),
        span("modules", "time between ejections and modules loaded anew; 0: none", 20_000 * _US),
        span("steal", "time between thefts of a CPU by the hypervisor; 0: none", 2_000 * _US),
        rounds(0),
    ),
    _make,
)
