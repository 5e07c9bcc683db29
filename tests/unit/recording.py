# SPDX-License-Identifier: GPL-2.0
"""Recordings for saakm replay that a test writes by hand: of two idle CPUs, and one thread."""

from collections.abc import Sequence
from pathlib import Path

from saakm.lab.replay.calls import CALLS, EFFECTS, OPAQUE

CPUS = 2
_JIFFIES = 4_294_900_000
_RQ, _TASK, _GLOBAL = 0, 1, 5
_FIELDS = {
    _RQ: ("idle", "curr", "nr_running", "ttwu_pending", "server_queued", "server_bits", "probe_at"),
    _TASK: ("pid", "id", "saakm_policy"),
    _GLOBAL: ("saakm_idle_cpus", "saakm_charging"),
}
_KINDS = {_RQ: "rq", _TASK: "task", _GLOBAL: "global"}
_CALLS = [function.name for function in CALLS]
_EFFECTS = [function.name for function in (*EFFECTS, *OPAQUE)]
_RUNQUEUES = [0xFFFF_8880_1000_0000 + 0x10000 * cpu for cpu in range(CPUS)]
# Within a runqueue, beside what fields are: 8 each.
_KICK = 0x800
_IN_SOFTIRQ = 0x100
_IDLE = [0xFFFF_8880_2000_0000 + 0x10000 * cpu for cpu in range(CPUS)]
_THREAD = 0xFFFF_8880_3000_0000
_STACK = 0xFFFF_C900_0000_0000
_JOINS_FIRST_POLICY = (8 << 32 | 64, 0, 0, 0, 0, 0, 0, 1)  # a struct sched_attr


class Recording:
    """As the recorder writes it; calls begin and end in the order of the methods' calls."""

    def __init__(self) -> None:
        self._bytes = bytearray(_plan().encode() + b"\0")
        self._put("o", 0, _GLOBAL, 0, 0, 0)
        for number, rq in enumerate(_RUNQUEUES, 1):
            self._put("o", number, _RQ, rq, 0, 0)
        for number, thread in enumerate([*_IDLE, _THREAD], 1 + CPUS):
            self._put("o", number, _TASK, thread, 0, 0)
        for cpu, (rq, idle) in enumerate(zip(_RUNQUEUES, _IDLE)):
            self._is(1 + cpu, _RQ, idle=idle, curr=idle, server_queued=_server_unqueued(rq))
        self._is(1 + 2 * CPUS, _TASK, pid=100)

    def joins(self, call: int, cpu: int) -> None:
        """The thread asks for the first policy, and may be refused."""
        stack = _STACK + 0x4000 * call
        self._begin(call, "__saakm_setsched_prepare", cpu, (stack, _THREAD, stack, 8, 1))
        self._numbers(_JOINS_FIRST_POLICY)

    def looks_for_work(self, call: int, cpu: int) -> None:
        self._begin(call, "__saakm_newly_idle", cpu, (_RUNQUEUES[cpu], _STACK))

    def balances(self, call: int, cpu: int) -> None:
        """Begins and ends."""
        self._begin(call, "saakm_balance_softirq", cpu, (), preempt=_IN_SOFTIRQ)
        self.ends(call, cpu)

    def locks(self, call: int, cpu: int) -> None:
        self._effect(call, "raw_spin_rq_lock_nested", _RUNQUEUES[cpu])

    def unlocks(self, call: int, cpu: int) -> None:
        self._effect(call, "raw_spin_rq_unlock", _RUNQUEUES[cpu])

    def kicks(self, call: int, cpu: int) -> None:
        self._effect(call, "irq_work_queue_on", _RUNQUEUES[cpu] + _KICK, cpu, returned=1)

    def key_is(self, count: int) -> None:
        """The one of saakm_charging; -1 while code is patched."""
        self._is(0, _GLOBAL, saakm_charging=count & 0xFFFF_FFFF)

    def ends(self, call: int, cpu: int, returned: int = 0) -> None:
        self._put("e", call, cpu, returned & 0xFFFF_FFFF, _JIFFIES)

    def write(self, path: Path) -> None:
        path.write_bytes(self._bytes + b"z\0\0")

    def _begin(
        self, call: int, name: str, cpu: int, arguments: Sequence[int], preempt: int = 0
    ) -> None:
        told = (_CALLS.index(name), cpu, preempt, _JIFFIES, _IDLE[cpu], 0)
        self._put("b", call, *told, *_five(arguments))

    def _effect(self, call: int, name: str, *arguments: int, returned: int = 0) -> None:
        rq = max(rq for rq in _RUNQUEUES if rq <= arguments[0])
        after = (0, 0, 0, 0, 0, 0, _server_unqueued(rq), 0)
        told = (_EFFECTS.index(name), *_five(arguments), returned, _JIFFIES, 1)
        self._put("x", call, *told, *after)

    def _is(self, number: int, kind: int, **values: int) -> None:
        for field, name in enumerate(_FIELDS[kind]):
            self._put("f", number, field, values.get(name, 0))

    def _put(self, kind: str, *numbers: int) -> None:
        self._bytes += kind.encode()
        self._numbers(numbers)

    def _numbers(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            while number > 0x7F:
                self._bytes.append(number & 0x7F | 0x80)
                number >>= 7
            self._bytes.append(number)


def _five(arguments: Sequence[int]) -> list[int]:
    return [*arguments, *[0] * (5 - len(arguments))]


def _server_unqueued(rq: int) -> int:
    """A node that is in no tree points to itself."""
    return rq + 8 * _FIELDS[_RQ].index("server_queued")


def _plan() -> str:
    lines = [f"cpus {CPUS}"]
    for word, functions in {"call": CALLS, "effect": EFFECTS, "opaque": OPAQUE}.items():
        lines += [f"{word} {f.name} 0 {f.arguments} {f.returns}" for f in functions]
    for kind, names in _FIELDS.items():
        lines += [f"field {_KINDS[kind]} {name} given {8 * n} 8" for n, name in enumerate(names)]
    return "\n".join([*lines, ""])
