# SPDX-License-Identifier: GPL-2.0
"""Whether a program may be run: what program_text.py says that a reader refuses."""

from collections.abc import Callable, Iterable, Sequence

from . import words
from .errors import BadWorkload, Place, quoted, refusal
from .operations import BLOCKS, OF_OTHERS, OPERATIONS, OperandKind
from .program import ROOT, Group, Object, Op, Operand, Program, Ref

MAX_COUNT = 1_000_000
MAX_OBJECTS = 4_000_000
MAX_MESSAGES = 16_000_000
MAX_GROUPS = 4_096
MAX_MARKS = 256
MAX_THREADS = 1_000_000
MAX_OPS = 1_000_000
MAX_NESTED = 16
# Of what an object has beside its count.
SIZES = {
    "barrier": (1, 1_000_000),
    "semaphore": (0, 1_000_000_000),
    "pipe": (1, 1_000_000),
    "cgroup": (1, 10_000),
}
_FORM = "src/saakm/workload/program_text.py says what a program may hold"


def check(program: Program, file: str) -> None:
    """Raises BadWorkload, with the line of the user's file where the program knows it."""
    _Check(program, file).all()


def object_problem(one: Object) -> str:
    """What is wrong with it by itself; empty: nothing."""
    if not 1 <= one.count <= MAX_COUNT:
        return f"its count is not from 1 to {MAX_COUNT:,}"
    low, high = SIZES.get(one.kind, (0, 0))
    return "" if low <= one.size <= high else f"{one.size:,} is not from {low:,} to {high:,}"


class _Check:
    def __init__(self, program: Program, file: str):
        self._program, self._file = program, file
        self._kinds = {one.name: one.kind for one in program.objects}
        self._groups = {group.name for group in program.groups}
        self._marks = set(program.marks)

    def all(self) -> None:
        program = self._program
        self._unlike("object", ((one.name, one.line) for one in program.objects))
        self._unlike("mark", ((mark, 0) for mark in program.marks))
        self._unlike("group", ((group.name, group.line) for group in program.groups))
        for one in program.objects:
            if problem := object_problem(one):
                raise self._refuse(one.line, f"the {one.kind} {quoted(one.name)}", problem)
        self._parents()
        self._limits()
        for group in program.groups:
            self._group(group)

    def _parents(self) -> None:
        above = {ROOT}
        for one in self._program.objects:
            if one.kind != "cgroup":
                continue
            what = f"the cgroup {quoted(one.name)}"
            if one.name == ROOT:
                raise self._refuse(one.line, what, "it is the one that is there")
            if one.parent not in above:
                raise self._refuse(one.line, what, f"no cgroup {quoted(one.parent)} is above it")
            above.add(one.name)

    def _refuse(self, line: int, what: str, why: str) -> BadWorkload:
        return refusal(Place(self._file, line), what, why, _FORM)

    def _unlike(self, what: str, named: Iterable[tuple[str, int]]) -> None:
        seen: set[str] = set()
        for name, line in named:
            try:
                words.name(name)
            except ValueError as error:
                raise self._refuse(line, f"the {what} {quoted(name)}", str(error)) from error
            if name in seen:
                raise self._refuse(line, f"the {what} {quoted(name)}", "it is there twice")
            seen.add(name)

    def _limits(self) -> None:
        program = self._program
        pipes = (one for one in program.objects if one.kind == "pipe")
        for what, there, limit in (
            ("objects", sum(one.count for one in program.objects), MAX_OBJECTS),
            ("messages in its pipes", sum(one.count * one.size for one in pipes), MAX_MESSAGES),
            ("groups", len(program.groups), MAX_GROUPS),
            ("marks", len(program.marks), MAX_MARKS),
            ("threads", program.threads, MAX_THREADS),
            ("operations", sum(map(_size, program.groups)), MAX_OPS),
        ):
            if there > limit:
                raise self._refuse(0, f"{there:,} {what}", f"there may be {limit:,}")
        if not program.threads:
            raise self._refuse(0, "nothing to run", "no group has an instance")

    def _group(self, group: Group) -> None:
        what = f"the group {quoted(group.name)}"
        if group.instances < 0:
            raise self._refuse(group.line, what, "its number of instances is negative")
        if not 0 <= group.start_ns <= words.MAX_TIME:
            raise self._refuse(group.line, what, f"it begins at {group.start_ns} ns")
        if not -20 <= group.nice <= 19:
            raise self._refuse(group.line, what, f"nice is -20 to 19, not {group.nice}")
        problem = _unreadable(words.policy, group.policy) or _unreadable(words.cpus, group.cpus)
        if problem:
            raise self._refuse(group.line, what, problem)
        self._ops(group.ops)

    def _ops(self, ops: Sequence[Op]) -> None:
        open_loops: list[Op] = []
        for op in ops:
            self._op(op)
            if op.name in BLOCKS:
                open_loops.append(op)
                if len(open_loops) > MAX_NESTED:
                    raise self._refuse(op.line, "a loop", f"only {MAX_NESTED} are in each other")
            elif op.name == "end":
                if not open_loops:
                    raise self._refuse(op.line, "an end", "no loop is open")
                open_loops.pop()
        if open_loops:
            raise self._refuse(open_loops[-1].line, "a loop", "its end is missing")

    def _op(self, op: Op) -> None:
        kinds = OPERATIONS.get(op.name)
        if kinds is None:
            raise self._refuse(op.line, quoted(op.name), "there is no such operation")
        if len(kinds) != len(op.operands):
            shown = " ".join([op.name, *(kind.what for kind in kinds)])
            raise self._refuse(op.line, quoted(op.name), f"it is written: {shown}")
        for kind, value in zip(kinds, op.operands):
            if problem := self._operand(kind, value):
                what = f"{op.name} {quoted(words.text(value))}"
                raise self._refuse(op.line, what, problem)

    def _operand(self, kind: OperandKind, value: Operand) -> str:
        if problem := _unreadable(kind.read, value):
            return problem
        name = value.name if isinstance(value, Ref) else str(value)
        if "cgroup" in kind.objects and value == Ref(ROOT):
            return ""
        if kind.objects and (found := self._kinds.get(name)) not in kind.objects:
            return (
                f"it is a {found}, not a {kind.what}" if found else f"no {kind.what} has the name"
            )
        if kind.group and name not in self._groups:
            return "no group has the name"
        if kind.mark and name not in self._marks:
            return "no mark has the name"
        return ""


def _size(group: Group) -> int:
    """In operations, with the `end`."""
    return len(group.ops) + sum(op.name in OF_OTHERS for op in group.ops) + 1


def _unreadable(read: Callable[[str], Operand], value: Operand) -> str:
    """Why a reader would not find `value` in the word for it; empty: it would."""
    try:
        found = read(words.text(value))
    except ValueError as error:
        return str(error)
    return "" if found == value else f"it would be read as '{words.text(found)}'"
