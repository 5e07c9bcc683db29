# SPDX-License-Identifier: GPL-2.0
"""Which operations there are, and of what kinds their operands."""

from collections.abc import Callable
from typing import NamedTuple

from . import words
from .program import Operand


class OperandKind(NamedTuple):
    """`objects`: the kinds of object that it may name."""

    what: str
    read: Callable[[str], Operand]
    objects: tuple[str, ...] = ()
    group: bool = False
    mark: bool = False


def _one_of(*allowed: str) -> Callable[[str], Operand]:
    def read(word: str) -> Operand:
        if word not in allowed:
            raise ValueError(f"it is not {' or '.join(allowed)}")
        return word

    return read


def _count(high: int, or_word: str = "") -> Callable[[str], Operand]:
    def read(word: str) -> Operand:
        return word if word == or_word else words.number(word, 1, high)

    return read


def _name(word: str) -> Operand:
    return words.name(word)


_TIME = OperandKind("TIME", words.time)
_MUTEX = OperandKind("mutex or pimutex", words.ref, objects=("mutex", "pimutex"))
_COND = OperandKind("cond", words.ref, objects=("cond",))
_BARRIER = OperandKind("barrier", words.ref, objects=("barrier",))
_QUEUE = OperandKind("semaphore or pipe", words.ref, objects=("semaphore", "pipe"))
_TIMER = OperandKind("timer", words.ref, objects=("timer",))
_MANY = OperandKind("N", _count(1_000_000))
_MARK = OperandKind("MARK", _name, mark=True)
_NICE = OperandKind("NICE", lambda word: words.number(word, -20, 19))
_CPUS = OperandKind("CPUS", words.cpus)
_POLICY = OperandKind("POLICY", words.policy_to_set)
_LOADED = OperandKind("LOADED", words.policy_loaded)
_THREADS = OperandKind("GROUP", words.ref, group=True)
_CGROUP = OperandKind("cgroup", words.ref, objects=("cgroup",))
_CPU = OperandKind("CPU", words.total)

OPERATIONS: dict[str, tuple[OperandKind, ...]] = {
    "run": (_TIME,),
    "spin": (_TIME,),
    "sleep": (_TIME,),
    "timer": (_TIMER, _TIME, OperandKind("MODE", _one_of("relative", "absolute"))),
    "lock": (_MUTEX,),
    "unlock": (_MUTEX,),
    "wait": (_COND, _MUTEX),
    "meet": (_COND, _MUTEX, _MANY),
    "signal": (_COND,),
    "broadcast": (_COND,),
    "barrier": (_BARRIER,),
    "send": (_QUEUE, _MANY, OperandKind("STAMP", _one_of("now", "due"))),
    "receive": (_QUEUE, _MANY),
    "suspend": (),
    "resume": (_THREADS,),
    "yield": (),
    "fork": (OperandKind("GROUP", _name, group=True), OperandKind("N", _count(100_000))),
    "join": (OperandKind("N or all", _count(100_000, "all")),),
    "exit": (),
    "exec": (),
    "set_nice": (_NICE,),
    "set_cpus": (_CPUS,),
    "set_policy": (_POLICY,),
    "set_cgroup": (_CGROUP,),
    "set_nice_of": (_THREADS, _NICE),
    "set_cpus_of": (_THREADS, _CPUS),
    "set_policy_of": (_THREADS, _POLICY),
    "set_cgroup_of": (_THREADS, _CGROUP),
    "getattr_of": (_THREADS,),
    "kill": (_THREADS,),
    "cgroup_weight": (_CGROUP, OperandKind("WEIGHT", _count(10_000))),
    "cgroup_policy": (_CGROUP, OperandKind("LOADED or none", words.policy_of_cgroup)),
    "cpu_offline": (_CPU,),
    "cpu_online": (_CPU,),
    "steal": (_CPU, _TIME),
    "eject": (_LOADED,),
    "reload": (_LOADED,),
    "migrate_disable": (),
    "migrate_enable": (),
    "mark_begin": (_MARK, OperandKind("WHEN", _one_of("now", "due", "sent"))),
    "mark_end": (_MARK,),
    "iteration": (),
    "pick": (_MANY,),
    "chance": (OperandKind("PPM", lambda word: words.number(word, 0, 1_000_000)),),
    "loop": (OperandKind("N or forever", _count(10**12, "forever")),),
    "end": (),
}
# Those that an `end` ends.
BLOCKS = ("loop", "chance")
# Those that are two to the simulator: whom, and what.
OF_OTHERS = tuple(name for name in OPERATIONS if name.endswith("_of") or name == "kill")
