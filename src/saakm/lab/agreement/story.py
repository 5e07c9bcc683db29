# SPDX-License-Identifier: GPL-2.0
"""What scheduler events tell of a workload's threads, in words that are the same in kernel and simulator.

There are a story of each thread, and one of each CPU: whom it ran, one after the other. Threads that
are none of the workload's, and the idle ones, have no name: "-".

Left out is what is no matter of the policy or the class:
- what a thread does before it has joined a policy: it is fair then, and the fair class places it;
- interruptions: a thread of the kernel's own, which belongs to a higher class, takes the CPU from a
  thread, which has it again next;
- used(): the player's threads ask for their CPU time, which tells it. `saakm replay` compares it, each
  call of a recording.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...trace.events import Event

# prev_state of sched_switch, as tracefs shows it and as the simulator does.
_RUNNABLE = ("R", "R+", 0, 0x100)
_SLEEPS = ("S", "D", 1, 2)
NOBODY = "-"
_PREEMPTED, _INTERRUPTED = "is preempted", "is interrupted"
_TAKEN, _RUNS = "RUNNING -> READY (requeue)", "runs"
_LEFT_OUT = "used"
_MEANWHILE = (_TAKEN, _INTERRUPTED, "READY -> RUNNING (none)")


@dataclass(frozen=True)
class Step:
    """`ns` counts from the beginning of the workload; `cpu` is what the step is about."""

    ns: int
    what: str
    cpu: int

    def __str__(self) -> str:
        return f"{self.ns / 1e6:11.4f} ms  CPU {self.cpu:<2}  {self.what}"


@dataclass
class Story:
    """By thread, and by CPU. `interruptions` were left out."""

    threads: dict[str, list[Step]] = field(default_factory=dict)
    cpus: dict[int, list[Step]] = field(default_factory=dict)
    interruptions: int = 0


@dataclass(frozen=True)
class Window:
    """Of time: steps elsewhere are left out."""

    begin_ns: int  # of the workload, in the events' time
    from_ns: int
    end_ns: int

    def has(self, ns: int) -> bool:
        return self.from_ns <= ns < self.end_ns


def tell(events: Iterable[Event], names: Mapping[int, str], window: Window) -> Story:
    """`names`: by thread number."""
    teller = _Teller(names, window)
    for event in events:
        teller.add(event)
    return teller.story()


class _Teller:
    def __init__(self, names: Mapping[int, str], window: Window):
        self._names, self._window = names, window
        self._steps: dict[str, list[Step]] = {name: [] for name in names.values()}
        self._joined: set[int] = set()
        self._turns: list[Step] = []

    def add(self, event: Event) -> None:
        ns = event.ns - self._window.begin_ns
        if event.name == "sched_switch":
            self._switch(event, ns)
        elif step := _step(event):
            pid, what, cpu = step
            if event.name.startswith("saakm_"):
                self._joined.add(pid)
            self._add(pid, Step(ns, what, cpu))

    def _add(self, pid: int, step: Step) -> None:
        if pid in self._names and pid in self._joined and self._window.has(step.ns):
            self._steps[self._names[pid]].append(step)

    def _switch(self, event: Event, ns: int) -> None:
        _, prev, _, state, _, following, _ = event.values
        how = "sleeps" if state in _SLEEPS else "is gone"
        if state in _RUNNABLE:
            foreign = following and following not in self._names
            how = _INTERRUPTED if foreign else _PREEMPTED
        self._add(prev, Step(ns, how, event.cpu))
        self._add(following, Step(ns, _RUNS, event.cpu))
        if self._window.has(ns):
            name = self._names.get(following, NOBODY) if following in self._joined else NOBODY
            self._turns.append(Step(ns, name, event.cpu))

    def story(self) -> Story:
        story = Story()
        for name, steps in self._steps.items():
            story.threads[name], left_out = _without_interruptions(steps)
            story.interruptions += left_out
        for turn in self._turns:
            if turn.what != NOBODY:
                turns = story.cpus.setdefault(turn.cpu, [])
                if not turns or turns[-1].what != turn.what:
                    turns.append(turn)
        return story


def _step(event: Event) -> tuple[int, str, int] | None:
    """Whose, what, and on which CPU."""
    values = event.values
    match event.name:
        case "sched_waking":
            pid, what, cpu = values[1], "is being woken", values[3]
        case "sched_wakeup":
            pid, what, cpu = values[1], "is woken", values[3]
        case "sched_wakeup_new":
            pid, what, cpu = values[1], "is born", values[3]
        case "sched_migrate_task":
            pid, what, cpu = values[1], f"moves from CPU {values[3]}", values[4]
        case "sched_process_exit":
            pid, what, cpu = values[1], "exits", event.cpu
        case "saakm_transition":
            _, pid, _, prev, state, cpu, handler = values
            what = f"{prev} -> {state} ({handler})"
        case "saakm_call" if values[1] != _LEFT_OUT:
            _, handler, pid, flags, cpu = values
            what = f"{handler}() flags {flags:#x}"
        case _:
            return None
    return pid, what, int(cpu)


def _without_interruptions(steps: Sequence[Step]) -> tuple[list[Step], int]:
    """And how many there were."""
    kept: list[Step] = []
    count = i = 0
    while i < len(steps):
        end = _end_of_interruption(steps, i)
        count += end > i
        if end == i:
            what = _PREEMPTED if steps[i].what == _INTERRUPTED else steps[i].what
            kept.append(Step(steps[i].ns, what, steps[i].cpu))
        i = max(end, i + 1)
    return kept, count


def _end_of_interruption(steps: Sequence[Step], begin: int) -> int:
    """`begin` if none begins there."""
    i, interrupted = begin, False
    if steps[i].what not in (_TAKEN, _INTERRUPTED):
        return begin
    while i < len(steps) and steps[i].cpu == steps[begin].cpu:
        what = steps[i].what
        if what == _RUNS and interrupted:
            return i + 1
        if what not in _MEANWHILE:
            return begin
        interrupted |= what == _INTERRUPTED
        i += 1
    return begin
