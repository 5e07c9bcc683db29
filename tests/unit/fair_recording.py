# SPDX-License-Identifier: GPL-2.0
"""Recordings of what a kernel asks of fair that a test writes by hand: one CPU, and threads."""

from pathlib import Path

from saakm.lab.replay.calls import FAIR_CALLS

_RQ_KIND, _TASK_KIND, _GLOBAL_KIND = 0, 1, 5
_FIELDS = {
    _RQ_KIND: [
        "curr",
        "idle",
        "nr_running",
        "clock",
        "clock_task",
        "fair_queued",
        "zero_vruntime",
        "avg_vruntime",
        "avg_load",
        "buddy",
    ],
    _TASK_KIND: [
        "pid",
        "tgid",
        "flags",
        "comm",
        "run_state",
        "on_rq",
        "on_cpu",
        "prio",
        "static_prio",
        "normal_prio",
        "rt_priority",
        "policy",
        "class",
        "nr_cpus_allowed",
        "cpus_mask",
        "cpu",
        "thread_flags",
        "vruntime",
        "deadline",
        "vlag",
        "slice",
        "weight",
        "queued",
        "delayed",
        "relative",
        "custom_slice",
    ],
    _GLOBAL_KIND: ["sysctl_sched_base_slice", "sysctl_sched_features"],
}
_KINDS = {_RQ_KIND: "rq", _TASK_KIND: "task", _GLOBAL_KIND: "global"}
_CALLS = [function.name for function in FAIR_CALLS]
_RQ = 0xFFFF_8880_1000_0000
_IDLE = 0xFFFF_8880_2000_0000
_FAIR, _IDLES = 0xFFFF_FFFF_8100_0000, 0xFFFF_FFFF_8100_1000
_NEED_RESCHED = 8
_WAKEUP, _INITIAL, _SLEEP = 1, 0x80, 1


class FairRecording:
    """As the recorder writes it. `thread` is a number from 1; 0 is the idle thread."""

    def __init__(self, features: int = 0) -> None:
        self._bytes = bytearray(_plan().encode() + b"\0")
        self._numbers: dict[int, int] = {}
        self._calls = self._clock = self._current = self._queued = self._more = 0
        self._put("o", 0, _GLOBAL_KIND, 0, 0, 0)
        self._put("o", 1, _RQ_KIND, _RQ, 0, 0)
        self._is(0, _GLOBAL_KIND, sysctl_sched_base_slice=700_000, sysctl_sched_features=features)
        self._is(1, _RQ_KIND, idle=_IDLE, curr=_IDLE)
        self._thread(0, {"class": _IDLES, "policy": 0, "prio": 120, "static_prio": 120})

    def has_features(self, features: int) -> None:
        self._is(0, _GLOBAL_KIND, sysctl_sched_features=features)

    def has_queued(self, threads: int) -> None:
        """Not what the calls would have led to."""
        self._more = threads - self._queued

    def forked(self, thread: int, **values: int) -> None:
        usual = {"pid": thread, "prio": 120, "static_prio": 120, "class": _FAIR, "slice": 700_000}
        self._thread(thread, {**usual, "weight": 1024 << 10, "cpus_mask": 1, **values})
        self._call("task_fork_fair", _address(thread))

    def enqueued(self, thread: int, new: bool = False, resched: bool = False) -> None:
        self._running(resched)
        self._queued += 1
        arguments = (_RQ, _address(thread), _INITIAL if new else _WAKEUP)
        began = self._begin("enqueue_task_fair", *arguments)
        self._is(self._numbers[thread], _TASK_KIND, queued=1)
        self._end(began)

    def preempts(self, thread: int, resched: bool) -> None:
        """The one that runs has to make way for it, or not."""
        began = self._begin("check_preempt_wakeup_fair", _RQ, _address(thread), 0)
        self._running(resched)
        self._end(began)

    def sleeps(self, thread: int, delayed: bool = False) -> None:
        self._is(self._numbers[thread], _TASK_KIND, run_state=1)
        self._queued -= not delayed
        began = self._begin("dequeue_task_fair", _RQ, _address(thread), _SLEEP)
        self._is(self._numbers[thread], _TASK_KIND, queued=int(delayed), delayed=int(delayed))
        self._end(began, returned=int(not delayed))

    def picked(self, thread: int) -> None:
        """And it runs."""
        self._call("pick_task_fair", _RQ, returned=_address(thread))
        if thread != self._current:
            if self._current:
                self._call("put_prev_entity", _RQ, _address(self._current))
            self._call("set_next_entity", _RQ, _address(thread))
        self._current = thread
        self._is(1, _RQ_KIND, curr=_address(thread))
        self._running(False)

    def unknown(self) -> None:
        """A call that nobody replays."""
        self._call("yield_to_task_fair", _RQ, _address(self._current))

    def mark(self) -> None:
        self._call("get_rr_interval_fair", _RQ, _address(self._current))

    def write(self, path: Path, whole: bool = True) -> None:
        path.write_bytes(self._bytes + (b"z\0\0" if whole else b""))

    def _running(self, resched: bool) -> None:
        number = self._numbers[self._current]
        self._is(number, _TASK_KIND, thread_flags=_NEED_RESCHED if resched else 0)

    def _thread(self, thread: int, values: dict[str, int]) -> None:
        number = self._numbers[thread] = 2 + thread
        self._put("o", number, _TASK_KIND, _address(thread), 0, 0)
        self._is(number, _TASK_KIND, **values)

    def _call(self, name: str, *arguments: int, returned: int = 0) -> None:
        self._end(self._begin(name, *arguments), returned)

    def _begin(self, name: str, *arguments: int) -> int:
        self._clock += 10_000
        queued = self._queued + self._more
        self._is(1, _RQ_KIND, clock=self._clock, clock_task=self._clock, fair_queued=queued)
        current = _address(self._current)
        five = [*arguments, *[0] * (5 - len(arguments))]
        self._put("b", self._calls, _CALLS.index(name), 0, 0, 0, current, 0, *five)
        self._calls += 1
        return self._calls - 1

    def _end(self, call: int, returned: int = 0) -> None:
        self._put("e", call, 0, returned, 0)

    def _is(self, number: int, kind: int, **values: int) -> None:
        for name, value in values.items():
            self._put("f", number, _FIELDS[kind].index(name), value)

    def _put(self, kind: str, *numbers: int) -> None:
        self._bytes += kind.encode()
        for number in numbers:
            while number > 0x7F:
                self._bytes.append(number & 0x7F | 0x80)
                number >>= 7
            self._bytes.append(number)


def _address(thread: int) -> int:
    return _IDLE + 0x10000 * thread


def _plan() -> str:
    lines = ["cpus 1", f"class fair {_FAIR:x}", f"class idle {_IDLES:x}"]
    lines += [f"call {f.name} 0 {f.arguments} {f.returns}" for f in FAIR_CALLS]
    for kind, names in _FIELDS.items():
        lines += [f"field {_KINDS[kind]} {name} given {8 * n} 8" for n, name in enumerate(names)]
    return "\n".join([*lines, ""])
