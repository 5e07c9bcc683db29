# SPDX-License-Identifier: GPL-2.0
"""The text form of a workload, which the simulator reads (sim/engine).

A file is lines of words between blanks (spaces or tabs; indentation means nothing). `#` begins a
comment up to the end of the line; empty lines count for nothing. Numbers are decimal, without a
sign unless said; times are in nanoseconds. All operands are obligatory, in the order shown.

    saakm-program 1                     the first line that is no comment; 1 is the version

    mutex NAME COUNT                    then declarations, each before the first `program`
    cond NAME COUNT
    barrier NAME COUNT PARTIES
    semaphore NAME COUNT INITIAL
    pipe NAME COUNT CAPACITY
    timer NAME COUNT
    pimutex NAME COUNT                  a mutex with priority inheritance
    cgroup NAME COUNT WEIGHT PARENT     of the cpu controller, made before the run, without a policy. PARENT:
                                        `root`, which is there, or a cgroup declared before: member I of
                                        this array is below number I, modulo its COUNT, of that one
    mark NAME                           a latency: in the results of each group that ends it
    group NAME INSTANCES START POLICY NICE CPUS FLAGS

    program GROUP                       then one for each group, in any order
      OP ...
    end

Each declares an array of COUNT objects. NAME is 1 to 31 of the characters A-Z a-z 0-9 _ . - and
begins with a letter. Objects, marks and groups have a namespace each: one name may be both a group
and an object, but not two kinds of object.

A group has INSTANCES threads, numbered from 0, that begin at time START (0 instances: all its
threads are forked). A thread is named like its group, the first 15 characters, and ends at the
`end` of its program.

    POLICY   main          the policy that the run is for
             saakm:NAME    that policy of SaaKM
             fair batch idle    SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE
             rt:N rr:N     SCHED_FIFO, SCHED_RR of priority N, 1 to 99
             any           of an operation, not a group: a policy of SaaKM, drawn of those that are
                           loaded then; if none is: fair
    NICE     -20 to 19, with a sign if negative
    CPUS     all, or a list as 0,2-5: rising, without overlap, of CPUs below 4,096
             (those that the machine does not have do not count; it has none of them: no effect)
    FLAGS    none, or of these, with commas: inherit, reset
             inherit: a thread forked into this group keeps its parent's policy, nice and CPUs
                      (POLICY, NICE and CPUS count for the INSTANCES only). Without it, a child begins
                      with what its parent has, as fork does it, and sets its own with system calls
                      as the first thing that it does when it runs: those that differ, in the order
                      CPUS, POLICY with NICE.
             reset:   threads of this group have SCHED_RESET_ON_FORK

Operations. REF is an object: NAME is its only or first one; NAME[TERM+TERM...] is the one whose
number is the sum of the terms modulo COUNT, with no blanks. A TERM is

    N                a number
    self/D*M         the thread's number in its group, divided by D (rounded down), times M; `/D` or
                     `*M` or both may be left out, not turned around. A forked thread's number is
                     the count of the group's threads before it, INSTANCES included.
    loop/D*M         likewise the number of rounds that the innermost loop has done (outside of loops: 0)
    pick/D*M         likewise what the thread's last `pick` yielded (before: 0)

TIME is a word: a number, or drawn anew each time from the thread's own stream of random numbers

    uniform:LOW:HIGH            LOW <= HIGH, both included
    exponential:MEAN
    bimodal:A:B:PPM             B in PPM of 1,000,000 cases, else A

    run TIME             executes for TIME of CPU time
    spin TIME            executes until TIME has passed since it began this, running or not
    sleep TIME           sleeps for TIME, counted from now
    timer REF TIME MODE  waits for the end of the timer's next period: adds TIME to when the timer was due (before
                         its first use: when this thread began, so its START or the fork) and sleeps until
                         then. If that is now or past, it goes on at once, and with MODE `relative` the timer
                         counts as due now; with `absolute` what was missed is made up for.
    lock REF             mutex; sleeps while another holds it. A pimutex: as a futex of PTHREAD_PRIO_INHERIT:
                         those who wait do so in the order of priority (real-time ones first), and whoever
                         holds it has the priority of the most urgent one, through chains of such mutexes;
                         an unlock gives it to that one, unless one more urgent comes first
    unlock REF           wakes the first who waits, who tries again when it runs (others may come before it)
    wait REF REF         cond, mutex: unlocks the mutex, sleeps until signalled, locks it again
    meet REF REF N       cond, mutex: rt-app's barrier for N, within `lock` and `unlock` of that mutex. With N - 1
                         threads counted on the cond: as `broadcast`. Otherwise it counts this one, does
                         as `wait`, and when it has the mutex again no longer counts it: until then one
                         that comes again goes on at once
    signal REF           cond: wakes the first who waits; nobody waits: no effect
    broadcast REF        cond: wakes all who wait, the first first
    barrier REF          sleeps until PARTIES threads have come; the last wakes the others and goes on, and the
                         barrier is as new
    send REF N STAMP     N times: adds 1 to a semaphore, or a message to a pipe (sleeps while that is full);
                         wakes the first who receives, each time. STAMP is what a message of a pipe says: `now`,
                         or `due`: the end of the period that the thread's last `timer` was for, were it
                         past already then (before its first: now)
    receive REF N        N times: takes 1 from a semaphore, or a message from a pipe; sleeps while there is none
                         (and tries again when woken); wakes the first who waits to send
    suspend              sleeps until resumed
    resume GROUP         or GROUP[TERM+...]: wakes all threads of the group that are suspended, or the one whose
                         number is the sum (not modulo anything; none has it: no effect)
    yield                sched_yield()
    fork GROUP N         makes N children, one after the other, which run that group's program
    join N               waits until N of its children have ended that it did not wait for yet; `join all`: all
                         that it has. More than it has, or had: those there are.
    exit                 ends the thread
    exec                 execve(): the class's choice of a CPU for it; the program goes on with the next line
    set_nice NICE        for the thread itself
    set_cpus CPUS        likewise
    set_policy POLICY    likewise; keeps nice
    set_cgroup CGROUP    likewise: to that cgroup, REF or `root`
    set_nice_of GROUP NICE  and set_cpus_of, set_policy_of, set_cgroup_of: for GROUP or GROUP[TERM+...], as of
                         `resume`; threads that are gone: no effect
    getattr_of GROUP     sched_getattr() of these
    kill GROUP           these end as soon as they can, as if by SIGKILL: what they hold stays locked (but not
                         a pimutex), and what they have been woken for nobody else is
    cgroup_weight CGROUP WEIGHT    what is written to cpu.weight, 1 to 10,000
    cgroup_policy CGROUP POLICY    to cpu.saakm.policy: main, saakm:NAME, any, or none
    cpu_offline CPU      /sys/devices/system/cpu/cpuN/online; CPU is TERM+TERM..., not modulo anything
    cpu_online CPU       likewise; that it is already: no effect
    steal CPU TIME       a hypervisor takes the CPU away for TIME: nobody is charged for it
    eject POLICY         main, saakm:NAME or any: /sys/kernel/saakm/eject
    reload POLICY        rmmod and insmod of its module, whose variables are as compiled then
    migrate_disable      what code in the kernel may do: the thread stays on its CPU
    migrate_enable       until this, or its end
    mark_begin MARK WHEN   a latency begins: WHEN is `now`, `due` (as for `send`), or `sent`: what the last
                         message said that it received (before: now). One not ended is forgotten.
    mark_end MARK        it ends now, and goes into the results of the thread's group; not begun: no effect
    iteration            counts for `iterations` in the results
    chance PPM           does what follows up to its `end` in PPM of 1,000,000 cases
    pick N               draws a whole number from 0 to N-1, for indices
    loop N               does what follows up to its `end` N times; `loop forever`
    end                  of a loop, a chance or the program

Only run and spin take time by themselves; the rest takes what the table of costs says. A thread
that has forked may end before its children, who go on. A mutex held by a thread that ends stays
locked, but a pimutex is free then. What can only be seen at run time and is wrong: unlock, or `wait`, with a mutex that another
or nobody holds; a second lock by its holder; a circle of pimutexes; a CPU that the machine has not; to take the last
CPU offline, or any with migration disabled; weight or policy of `root`; migrate_disable twice, or migrate_enable
without. The run ends with FILE:LINE and status 2. What the kernel refuses is a warning of the run.

Random numbers. All arithmetic is modulo 2^64, unless it says otherwise.

    next(x):  x += 0x9e3779b97f4a7c15;  z = x;  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
              z = (z ^ z >> 27) * 0x94d049bb133111eb;  return z ^ z >> 31        (x is the stream's state)
    child(x, a, b):  y = x ^ (a + 1) * 0xd1342543de82ef95;  y = next(y) ^ b;  return next(y)
                     (the parent's x stays; y is a variable of its own, which next() changes)

The state of instance I of the group declared as number G (from 0) is at first child(seed, G, I), and
its origin is the same number. That of the child forked as number K by its parent (all its forks counted
from 0) into group G is child(origin of the parent, G, K). So what a thread draws does not depend on how threads are scheduled.

    below(n):      (next() * n) >> 64, in 128 bits
    uniform:       LOW + below(HIGH - LOW + 1)
    bimodal:       below(1000000) < PPM ? B : A
    pick N:        below(N)
    chance:        below(1000000) < PPM
    any:           the one at place below(number of policies that are loaded) of /proc/saakm/policies, if there is one
    exponential:   r = next() | 1;  k = leading zeros of r;  m = (r << k) >> 32;  log = 0
                   16 times:  m = m * m >> 31;  log <<= 1;  if (m >> 32) { m >>= 1;  log |= 1; }
                   minus_log2 = (k + 1) * 65536 - log            (of r / 2^64, in 1/65536)
                   (minus_log2 * 45426 >> 16) * MEAN >> 16, in 128 bits     (45426: ln 2, in 1/65536)

For a check: next() of a stream in state 0 is 0xe220a8397b1dcdaf; child(1, 0, 0) is 0x953f967ed2f9734a,
child(1, 1, 2) is 0xf278c30f7c1550fe. A stream that begins in state child(1, 0, 0) yields, as its first five
exponential:1000000, 2030853 1022689 365478 165481 270019, and then, as uniform:1:6, 6 3 5 5 4.

A reader refuses, with FILE:LINE: another first line or version; an unknown word; a missing operand or
one too many; a number out of range; a name that is none, is declared twice, or not declared
before; an object of another kind than the operation is for; two programs of a group, or none;
a declaration after the first program; a missing `end`, or one too many; a file without a group
or without any instance; an index on a mark, or a term used twice (but N).

Limits:  a line: 1,023 bytes, none of which is NUL.  COUNT: 1 to 1,000,000.  Objects in all: 4,000,000; CAPACITY: 1 to 1,000,000,
and all pipes together (COUNT times CAPACITY): 16,000,000.  PARTIES: 1 to 1,000,000.  INITIAL: 0 to
1,000,000,000.  Groups: 4,096; marks: 256; INSTANCES of all: 1 to 1,000,000.  Operations in all,
with `loop` and `end`: 1,000,000, those that are about others twice; loops and chances in each other: 16.  Any TIME or START: 0 to 10^15; PPM: 0 to
1,000,000; WEIGHT: 1 to 10,000.  N of loop: 1 to 10^12; of meet, send, receive, pick: 1 to 1,000,000; of fork and join: 1
to 100,000; D, M: 1 to 1,000,000; N of an index: 0 to 1,000,000.
"""

from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

from . import words
from .checking import MAX_COUNT, MAX_THREADS, SIZES, check
from .errors import BadWorkload, Place, quoted, refusal
from .operations import BLOCKS, OPERATIONS
from .program import Group, Kind, Object, Op, Operand, Program

VERSION = 1
MAX_LINE = 1023
_HEADER = "saakm-program"
_KINDS: tuple[Kind, ...] = get_args(Kind)
_SIZE_NAMES = {
    "barrier": " PARTIES",
    "semaphore": " INITIAL",
    "pipe": " CAPACITY",
    "cgroup": " WEIGHT PARENT",
}
_GROUP = "group NAME INSTANCES START POLICY NICE CPUS FLAGS"
_FORM = "src/saakm/workload/program_text.py defines the form"


def read(path: Path) -> Program:
    try:
        text = path.read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise refusal(Place(str(path)), "it cannot be read", str(error), _FORM) from error
    return parse_text(text, str(path))


def parse_text(text: str, file: str) -> Program:
    """Raises BadWorkload, whose message begins with FILE:LINE."""
    program = _Reader(text, file).program()
    check(program, file)
    return program


def to_text(program: Program) -> str:
    """The same program yields the same bytes."""
    check(program, "the program")
    return "".join(f"{text}\n" for text, _ in _lines(program))


def lines_of(program: Program) -> tuple[int, ...]:
    """Of each line of the text: which line of the user's file it is made of; 0: nobody knows."""
    return tuple(line for _, line in _lines(program))


def _lines(program: Program) -> Iterator[tuple[str, int]]:
    yield f"{_HEADER} {VERSION}", 0
    yield from ((_object_line(one), one.line) for one in program.objects)
    yield from ((f"mark {mark}", 0) for mark in program.marks)
    yield from ((_group_line(group), group.line) for group in program.groups)
    for group in program.groups:
        yield "", 0
        yield f"program {group.name}", group.line
        yield from zip(_op_lines(group.ops), (op.line for op in group.ops))
        yield "end", group.line


def _object_line(one: Object) -> str:
    size = f" {one.size}" if one.kind in SIZES else ""
    return f"{one.kind} {one.name} {one.count}{size}" + (f" {one.parent}" if one.parent else "")


def _group_line(group: Group) -> str:
    flags = [flag for flag in ("inherit", "reset") if getattr(group, flag)]
    columns: list[Operand] = [
        group.name,
        group.instances,
        group.start_ns,
        group.policy,
        group.nice,
        group.cpus,
        ",".join(flags) or "none",
    ]
    return " ".join(["group", *map(words.text, columns)])


def _op_lines(ops: tuple[Op, ...]) -> Iterator[str]:
    depth = 1
    for op in ops:
        depth -= op.name == "end"
        yield "  " * depth + " ".join([op.name, *map(words.text, op.operands)])
        depth += op.name in BLOCKS


class _Reader:
    """Line by line, as the C side does it."""

    def __init__(self, text: str, file: str):
        self._file, self._line = file, 0
        self._lines = self._words_of(text)
        self._objects: dict[str, Object] = {}
        self._marks: dict[str, None] = {}
        self._groups: dict[str, Group] = {}
        self._ops: dict[str, tuple[Op, ...]] = {}

    def program(self) -> Program:
        self._header()
        for line in self._lines:
            match line:
                case ["program", *rest]:
                    self._program(rest)
                case _ if self._ops:
                    raise self._refuse(
                        f"{quoted(line[0])}", "only programs follow the first program"
                    )
                case ["group", *rest]:
                    self._group(rest)
                case ["mark", *rest]:
                    self._count_words(rest, "mark NAME")
                    self._marks[self._unlike(rest[0], self._marks)] = None
                case _:
                    self._object(line)
        for group in self._groups.values():
            if group.name not in self._ops:
                self._line = group.line
                raise self._refuse(f"the group {quoted(group.name)}", "it has no program")
        if not self._groups:
            raise self._refuse("the file", "it has no group")
        groups = tuple(replace(one, ops=self._ops[name]) for name, one in self._groups.items())
        return Program(groups, tuple(self._objects.values()), tuple(self._marks))

    def _words_of(self, text: str) -> Iterator[list[str]]:
        for self._line, line in enumerate(text.split("\n"), 1):
            if len(line.encode(errors="surrogateescape")) > MAX_LINE:
                raise self._refuse("a line", f"it is longer than {MAX_LINE:,} bytes")
            if "\0" in line:
                raise self._refuse("a NUL byte", "this is no text")
            # Nothing else is a blank to the C side.
            plain = line.partition("#")[0].replace("\t", " ").split(" ")
            if there := [word for word in plain if word]:
                yield there

    def _refuse(self, what: str, why: str) -> BadWorkload:
        return refusal(Place(self._file, self._line), what, why, _FORM)

    def _header(self) -> None:
        line = next(self._lines, [])
        if line[:1] != [_HEADER] or len(line) != 2:
            raise self._refuse("the first line", f"it is not '{_HEADER} {VERSION}'")
        if line[1] != str(VERSION):
            raise self._refuse(f"version {quoted(line[1])}", f"this reads version {VERSION}")

    def _count_words(self, there: list[str], form: str) -> None:
        if len(there) != len(form.split()) - 1:
            raise self._refuse(quoted(form.split()[0]), f"it is written: {form}")

    def _number(self, what: str, word: str, low: int, high: int) -> int:
        try:
            return words.number(word, low, high)
        except ValueError as error:
            raise self._refuse(f"{what} {quoted(word)}", str(error)) from error

    def _unlike(self, name: str, others: Container[str]) -> str:
        """A name that is one, and not there yet."""
        try:
            words.name(name)
        except ValueError as error:
            raise self._refuse(quoted(name), str(error)) from error
        if name in others:
            raise self._refuse(quoted(name), "it is declared twice")
        return name

    def _object(self, line: list[str]) -> None:
        kind = next((one for one in _KINDS if one == line[0]), None)
        if kind is None:
            raise self._refuse(quoted(line[0]), "a declaration begins with no such word")
        self._count_words(line[1:], f"{kind} NAME COUNT{_SIZE_NAMES.get(kind, '')}")
        name = self._unlike(line[1], self._objects)
        count = self._number("COUNT", line[2], 1, MAX_COUNT)
        size_name = _SIZE_NAMES.get(kind, "").split()
        size = self._number(size_name[0], line[3], *SIZES[kind]) if size_name else 0
        parent = line[4] if kind == "cgroup" else ""
        self._objects[name] = Object(kind, name, count, size, parent, self._line)

    def _group(self, rest: list[str]) -> None:
        self._count_words(rest, _GROUP)
        name, instances, start, policy, nice, cpus, flags = rest
        self._unlike(name, self._groups)
        known = flags.split(",") if flags != "none" else []
        if len(set(known)) < len(known) or set(known) - {"inherit", "reset"}:
            raise self._refuse(f"FLAGS {quoted(flags)}", "it is none, or of inherit and reset")
        try:
            self._groups[name] = Group(
                name,
                (),
                self._number("INSTANCES", instances, 0, MAX_THREADS),
                self._number("START", start, 0, words.MAX_TIME),
                words.policy(policy),
                self._number("NICE", nice, -20, 19),
                words.cpus(cpus),
                "inherit" in known,
                "reset" in known,
                self._line,
            )
        except ValueError as error:
            raise self._refuse(f"the group {quoted(name)}", str(error)) from error

    def _program(self, rest: list[str]) -> None:
        self._count_words(rest, "program GROUP")
        name = rest[0]
        if name not in self._groups:
            raise self._refuse(f"program {quoted(name)}", "no group has the name")
        if name in self._ops:
            raise self._refuse(f"program {quoted(name)}", "the group has one")
        ops: list[Op] = []
        begun, open_blocks = self._line, 1
        for line in self._lines:
            open_blocks += (line[0] in BLOCKS) - (line[0] == "end")
            if not open_blocks:
                self._count_words(line[1:], "end")
                self._ops[name] = tuple(ops)
                return
            if line[0] == "program":
                break
            ops.append(self._op(line))
        self._line = begun
        raise self._refuse(f"program {quoted(name)}", "its end, or that of a loop, is missing")

    def _op(self, line: list[str]) -> Op:
        kinds = OPERATIONS.get(line[0])
        if kinds is None:
            raise self._refuse(quoted(line[0]), "there is no such operation")
        if len(kinds) != len(line) - 1:
            shown = " ".join([line[0], *(kind.what for kind in kinds)])
            raise self._refuse(quoted(line[0]), f"it is written: {shown}")
        values = []
        for kind, word in zip(kinds, line[1:]):
            try:
                values.append(kind.read(word))
            except ValueError as error:
                raise self._refuse(f"{line[0]} {quoted(word)}", str(error)) from error
        return Op(line[0], tuple(values), self._line)
