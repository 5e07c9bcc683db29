# SPDX-License-Identifier: GPL-2.0
"""A machine with a CPU for each thread, where nothing but run, spin and sleep takes time.

It does what program_text.py says, and nothing else: an oracle for what a workload means, and, where there
are CPUs enough and costs are off, for how long a simulator must take.
"""

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from saakm.workload.program import Group, Program, Ref, Term, Time

_MASK = 2**64 - 1
_LOOPING = 200_000  # operations of a thread without time passing


class Broken(Exception):
    """The program did what only run time can see."""


class Stream:
    """Random numbers of a thread, bit for bit as the text form defines them."""

    def __init__(self, state: int):
        self.state = state

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
        return z ^ z >> 31

    def below(self, n: int) -> int:
        return (self.next() * n) >> 64

    def time(self, time: Time) -> int:
        match time.drawn, time.numbers:
            case "fixed", (ns,):
                return ns
            case "uniform", (low, high):
                return low + self.below(high - low + 1)
            case "bimodal", (usual, rare, ppm):
                return rare if self.below(1_000_000) < ppm else usual
        return (self._minus_log2() * 45426 >> 16) * time.numbers[0] >> 16

    def _minus_log2(self) -> int:
        r = self.next() | 1
        k = 64 - r.bit_length()
        m, log = ((r << k) & _MASK) >> 32, 0
        for _ in range(16):
            m, log = m * m >> 31, log << 1
            if m >> 32:
                m, log = m >> 1, log | 1
        return (k + 1) * 65536 - log


def child_of(x: int, a: int, b: int) -> int:
    stream = Stream(x ^ ((a + 1) * 0xD1342543DE82EF95 & _MASK))
    return Stream(stream.next() ^ b).next()


@dataclass(eq=False)
class Thread:
    group: Group
    number: int
    origin: int
    begun_ns: int
    parent: "Thread | None" = None
    stream: Stream = field(init=False)
    steps: Iterator[int | None] = field(init=False)
    rounds: list[int] = field(default_factory=list)
    picked: int = 0
    due_ns: int | None = None
    sent_ns: int | None = None
    begun_marks: dict[str, int] = field(default_factory=dict)
    forked: int = 0
    ended_children: int = 0
    joined: int = 0
    waiting: bool = False
    suspended: bool = False
    joining: bool = False
    ended: bool = False

    def __post_init__(self) -> None:
        self.stream = Stream(self.origin)


@dataclass
class Result:
    end_ns: int = 0
    run_ns: Counter[str] = field(default_factory=Counter)
    iterations: Counter[str] = field(default_factory=Counter)
    threads: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    marks: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    asleep: list[str] = field(default_factory=list)  # groups of threads that nothing will wake
    interrupted: bool = False  # by the time


def run(program: Program, until_ns: int = 10**9, seed: int = 1) -> Result:
    return _Machine(program, seed).run(until_ns)


class _Machine:
    def __init__(self, program: Program, seed: int):
        self.now = 0
        self._sequence = 0
        self._events: list[tuple[int, int, Thread]] = []
        self._groups = {group.name: (n, group) for n, group in enumerate(program.groups)}
        self._objects = {one.name: one for one in program.objects}
        self._threads: dict[str, list[Thread]] = {name: [] for name in self._groups}
        self._owners: dict[tuple[str, int], Thread] = {}
        self._waiters: dict[tuple[str, int, str], deque[Thread]] = defaultdict(deque)
        self._values: dict[tuple[str, int], int] = {
            (one.name, i): one.size
            for one in program.objects
            if one.kind == "semaphore"
            for i in range(one.count)
        }
        self._present: dict[tuple[str, int], int] = defaultdict(int)
        self._messages: dict[tuple[str, int], deque[int]] = defaultdict(deque)
        self._timers: dict[tuple[str, int], int] = {}
        self._result = Result()
        for n, group in enumerate(program.groups):
            for i in range(group.instances):
                self._start(group, child_of(seed, n, i), group.start_ns, None)

    def run(self, until_ns: int) -> Result:
        result = self._result
        while self._events and self._events[0][0] <= until_ns:
            self.now, _, thread = heapq.heappop(self._events)
            self._step(thread)
        result.interrupted = bool(self._events)
        result.end_ns = until_ns if result.interrupted else self.now
        everybody = [one for there in self._threads.values() for one in there]
        result.asleep = [one.group.name for one in everybody if one.waiting]
        return result

    def _at(self, when_ns: int, thread: Thread) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (when_ns, self._sequence, thread))

    def _start(self, group: Group, origin: int, when_ns: int, parent: Thread | None) -> None:
        there = self._threads[group.name]
        thread = Thread(group, len(there), origin, when_ns, parent)
        thread.steps = self._body(thread)
        there.append(thread)
        self._result.threads[group.name] += 1
        self._at(when_ns, thread)

    def _step(self, thread: Thread) -> None:
        """Until it sleeps or takes time."""
        for when_ns in thread.steps:
            if when_ns is None:
                thread.waiting = True
            else:
                self._at(when_ns, thread)
            return
        thread.ended = True
        self._result.ended[thread.group.name] += 1
        if thread.parent:
            thread.parent.ended_children += 1
            if thread.parent.joining:
                self._wake(thread.parent)

    def _wake(self, thread: Thread) -> None:
        if thread.waiting:
            thread.waiting = False
            self._at(self.now, thread)

    def _wake_first(self, queue: deque[Thread]) -> None:
        if queue:
            self._wake(queue.popleft())

    def _number(self, thread: Thread, terms: tuple[Term, ...]) -> int:
        bases = {
            "self": thread.number,
            "loop": thread.rounds[-1] if thread.rounds else 0,
            "pick": thread.picked,
        }
        return sum(
            one.number if one.base == "number" else bases[one.base] // one.divide * one.times
            for one in terms
        )

    def _find(self, thread: Thread, ref: Ref) -> tuple[str, int]:
        return ref.name, self._number(thread, ref.terms) % self._objects[ref.name].count

    def _body(self, thread: Thread) -> Iterator[int | None]:
        """Yields when it next goes on, or None: when it is woken."""
        ops = thread.group.ops
        begins: list[int] = []
        ends: dict[int, int] = {}
        for at, op in enumerate(ops):
            if op.name == "loop":
                begins.append(at)
            elif op.name == "end":
                ends[begins.pop()] = at
        starts = {end: begin for begin, end in ends.items()}
        at, since, last_ns = 0, 0, -1
        while at < len(ops):
            op = ops[at]
            since = 0 if self.now != last_ns else since + 1
            last_ns = self.now
            if since > _LOOPING:
                raise Broken(f"{thread.group.name} loops at {self.now}")
            if op.name == "loop":
                thread.rounds.append(0)
            elif op.name == "end":
                thread.rounds[-1] += 1
                rounds = ops[starts[at]].operands[0]
                if rounds == "forever" or thread.rounds[-1] < rounds:
                    at = starts[at]
                else:
                    thread.rounds.pop()
            elif op.name == "exit":
                return
            else:
                yield from getattr(self, f"_{op.name}")(thread, *op.operands)
            at += 1

    # Operations.

    def _run(self, thread: Thread, time: Time) -> Iterator[int | None]:
        if ns := thread.stream.time(time):
            self._result.run_ns[thread.group.name] += ns
            yield self.now + ns

    _spin = _run

    def _sleep(self, thread: Thread, time: Time) -> Iterator[int | None]:
        if ns := thread.stream.time(time):
            yield self.now + ns

    def _timer(self, thread: Thread, ref: Ref, time: Time, mode: str) -> Iterator[int | None]:
        timer = self._find(thread, ref)
        thread.due_ns = self._timers.get(timer, thread.begun_ns) + thread.stream.time(time)
        late = thread.due_ns <= self.now
        self._timers[timer] = self.now if late and mode == "relative" else thread.due_ns
        if not late:
            yield thread.due_ns

    def _lock(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        mutex = self._find(thread, ref)
        if self._owners.get(mutex) is thread:
            raise Broken(f"{thread.group.name} locks {mutex} twice")
        while mutex in self._owners:
            self._waiters[(*mutex, "lock")].append(thread)
            yield None
        self._owners[mutex] = thread

    def _unlock(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        mutex = self._find(thread, ref)
        if self._owners.get(mutex) is not thread:
            raise Broken(f"{thread.group.name} unlocks {mutex}, which is not its")
        del self._owners[mutex]
        self._wake_first(self._waiters[(*mutex, "lock")])
        yield from ()

    def _wait(self, thread: Thread, cond: Ref, mutex: Ref) -> Iterator[int | None]:
        yield from self._unlock(thread, mutex)
        self._waiters[(*self._find(thread, cond), "wait")].append(thread)
        yield None
        yield from self._lock(thread, mutex)

    def _meet(self, thread: Thread, cond: Ref, mutex: Ref, many: int) -> Iterator[int | None]:
        place = self._find(thread, cond)
        if self._owners.get(self._find(thread, mutex)) is not thread:
            raise Broken(f"{thread.group.name} meets without {mutex.name}")
        if self._present[place] + 1 >= many:
            yield from self._broadcast(thread, cond)
            return
        self._present[place] += 1
        yield from self._wait(thread, cond, mutex)
        self._present[place] -= 1

    def _signal(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        self._wake_first(self._waiters[(*self._find(thread, ref), "wait")])
        yield from ()

    def _broadcast(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        queue = self._waiters[(*self._find(thread, ref), "wait")]
        while queue:
            self._wake_first(queue)
        yield from ()

    def _barrier(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        queue = self._waiters[(*self._find(thread, ref), "barrier")]
        if len(queue) + 1 < self._objects[ref.name].size:
            queue.append(thread)
            yield None
            return
        while queue:
            self._wake_first(queue)

    def _send(self, thread: Thread, ref: Ref, many: int, stamp: str) -> Iterator[int | None]:
        queue = self._find(thread, ref)
        one = self._objects[ref.name]
        for _ in range(many):
            if one.kind == "semaphore":
                self._values[queue] += 1
            else:
                while len(self._messages[queue]) >= one.size:
                    self._waiters[(*queue, "send")].append(thread)
                    yield None
                due = thread.due_ns if stamp == "due" else None
                self._messages[queue].append(self.now if due is None else due)
            self._wake_first(self._waiters[(*queue, "receive")])

    def _receive(self, thread: Thread, ref: Ref, many: int) -> Iterator[int | None]:
        queue = self._find(thread, ref)
        semaphore = self._objects[ref.name].kind == "semaphore"
        for _ in range(many):
            while not (self._values[queue] if semaphore else self._messages[queue]):
                self._waiters[(*queue, "receive")].append(thread)
                yield None
            if semaphore:
                self._values[queue] -= 1
            else:
                thread.sent_ns = self._messages[queue].popleft()
                self._wake_first(self._waiters[(*queue, "send")])

    def _suspend(self, thread: Thread) -> Iterator[int | None]:
        thread.suspended = True
        yield None
        thread.suspended = False

    def _resume(self, thread: Thread, ref: Ref) -> Iterator[int | None]:
        there = self._threads[ref.name]
        if ref.terms:
            number = self._number(thread, ref.terms)
            there = there[number : number + 1]
        for one in there:
            if one.suspended:
                self._wake(one)
        yield from ()

    def _yield(self, thread: Thread) -> Iterator[int | None]:
        yield from ()

    _exec = _yield

    def _fork(self, thread: Thread, name: str, many: int) -> Iterator[int | None]:
        number, group = self._groups[name]
        for _ in range(many):
            origin = child_of(thread.origin, number, thread.forked)
            thread.forked += 1
            self._start(group, origin, self.now, thread)
        yield from ()

    def _join(self, thread: Thread, many: int | str) -> Iterator[int | None]:
        left = thread.forked - thread.joined
        wanted = thread.joined + (left if many == "all" else min(int(many), left))
        thread.joining = True
        while thread.ended_children < wanted:
            yield None
        thread.joining = False
        thread.joined = wanted

    def _set_nice(self, thread: Thread, *_: object) -> Iterator[int | None]:
        yield from ()

    _set_cpus = _set_policy = _set_nice

    def _mark_begin(self, thread: Thread, mark: str, when: str) -> Iterator[int | None]:
        began = {"now": None, "due": thread.due_ns, "sent": thread.sent_ns}[when]
        thread.begun_marks[mark] = self.now if began is None else began
        yield from ()

    def _mark_end(self, thread: Thread, mark: str) -> Iterator[int | None]:
        if mark in thread.begun_marks:
            took = self.now - thread.begun_marks.pop(mark)
            self._result.marks[thread.group.name, mark].append(took)
        yield from ()

    def _iteration(self, thread: Thread) -> Iterator[int | None]:
        self._result.iterations[thread.group.name] += 1
        yield from ()

    def _pick(self, thread: Thread, below: int) -> Iterator[int | None]:
        thread.picked = thread.stream.below(below)
        yield from ()
