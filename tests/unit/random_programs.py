# SPDX-License-Identifier: GPL-2.0
"""Programs that use whatever the text form has, drawn from a seed."""

import random

from saakm.workload.operations import BLOCKS, OPERATIONS, OperandKind
from saakm.workload.program import (
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

KINDS = ("mutex", "cond", "barrier", "semaphore", "pipe", "timer", "pimutex", "cgroup")
_WORDS = {
    "MODE": ("relative", "absolute"),
    "STAMP": ("now", "due"),
    "WHEN": ("now", "due", "sent"),
}


_LOADED = (Policy("any"), Policy(), Policy("saakm", name="rr"))


def program(seed: int) -> Program:
    draw = random.Random(seed)
    objects = tuple(_object(draw, n) for n in range(draw.randint(8, 14)))
    marks = tuple(f"mark{n}" for n in range(draw.randint(1, 3)))
    names = [f"g{n}.{draw.choice('xyz')}" for n in range(draw.randint(1, 5))]
    groups = [_group(draw, name, names, objects, marks) for name in names]
    if not any(group.instances for group in groups):
        return program(seed + 1_000_000)
    return Program(tuple(groups), objects, marks)


def _object(draw: random.Random, n: int) -> Object:
    kind = KINDS[n % len(KINDS)]
    sizes = {
        "barrier": (1, 1_000_000),
        "semaphore": (0, 10**9),
        "pipe": (1, 1_000),
        "cgroup": (1, 10_000),
    }
    size = draw.randint(*sizes[kind]) if kind in sizes else 0
    above = "root" if n < len(KINDS) else f"o{n - len(KINDS)}"
    parent = above if kind == "cgroup" else ""
    return Object(kind, f"o{n}", draw.choice((1, 2, draw.randint(1, 1_000))), size, parent)


def _group(
    draw: random.Random,
    name: str,
    names: list[str],
    objects: tuple[Object, ...],
    marks: tuple[str, ...],
) -> Group:
    return Group(
        name,
        tuple(_ops(draw, names, objects, marks, 0)),
        draw.choice((0, 1, draw.randint(1, 100_000))),
        draw.choice((0, draw.randint(0, 10**15))),
        _policy(draw),
        draw.randint(-20, 19),
        _cpus(draw),
        draw.random() < 0.5,
        draw.random() < 0.5,
    )


def _ops(
    draw: random.Random,
    names: list[str],
    objects: tuple[Object, ...],
    marks: tuple[str, ...],
    depth: int,
) -> list[Op]:
    ops: list[Op] = []
    for _ in range(draw.randint(0, 8)):
        name = draw.choice([one for one in OPERATIONS if one != "end"])
        if name in BLOCKS:
            if depth < 16:
                rounds = draw.choice(("forever", draw.randint(1, 10**12)))
                chance = draw.randint(0, 1_000_000)
                ops.append(Op(name, (rounds if name == "loop" else chance,)))
                ops += _ops(draw, names, objects, marks, depth + 1)
                ops.append(Op("end"))
            continue
        operands = tuple(_operand(draw, k, names, objects, marks) for k in OPERATIONS[name])
        ops.append(Op(name, operands))
    return ops


def _operand(
    draw: random.Random,
    kind: OperandKind,
    names: list[str],
    objects: tuple[Object, ...],
    marks: tuple[str, ...],
) -> Operand:
    if kind.objects:
        return Ref(
            draw.choice([one.name for one in objects if one.kind in kind.objects]), _index(draw)
        )
    if kind.group:
        name = draw.choice(names)
        return Ref(name, _index(draw)) if kind.read(name) == Ref(name) else name
    if kind.mark:
        return draw.choice(marks)
    match kind.what:
        case "TIME":
            return _time(draw)
        case "NICE":
            return draw.randint(-20, 19)
        case "CPUS":
            return _cpus(draw)
        case "POLICY":
            return draw.choice((Policy("any"), _policy(draw)))
        case "LOADED":
            return draw.choice(_LOADED)
        case "LOADED or none":
            return draw.choice((Policy("none"), *_LOADED))
        case "CPU":
            return Sum(_index(draw) or (Term("pick"),))
        case "WEIGHT":
            return draw.randint(1, 10_000)
        case "N":
            return draw.choice((1, draw.randint(1, 100_000)))
        case "N or all":
            return draw.choice(("all", draw.randint(1, 100_000)))
        case what:
            return draw.choice(_WORDS[what])


def _time(draw: random.Random) -> Time:
    a, b = sorted(draw.randint(0, draw.choice((9, 10**6, 10**15))) for _ in range(2))
    return draw.choice(
        (
            Time("fixed", (a,)),
            Time("uniform", (a, b)),
            Time("exponential", (b,)),
            Time("bimodal", (b, a, draw.randint(0, 1_000_000))),
        )
    )


def _index(draw: random.Random) -> tuple[Term, ...]:
    terms = [Term("number", draw.randint(0, 1_000_000)) for _ in range(draw.randint(0, 2))]
    for base in ("self", "loop", "pick"):
        if draw.random() < 0.3:
            factors = (1, draw.randint(1, 1_000_000))
            terms.append(Term(base, divide=draw.choice(factors), times=draw.choice(factors)))
    draw.shuffle(terms)
    return tuple(terms)


def _policy(draw: random.Random) -> Policy:
    plain = [Policy(kind) for kind in ("main", "fair", "batch", "idle")]
    real_time = [Policy(kind, priority=draw.randint(1, 99)) for kind in ("rt", "rr")]
    return draw.choice([*plain, *real_time, Policy("saakm", name="vtime")])


def _cpus(draw: random.Random) -> CpuList:
    at, ranges = -1, []
    for _ in range(draw.randint(0, 4)):
        first = at + draw.randint(1, 500)
        at = first + draw.choice((0, draw.randint(0, 400)))
        ranges.append((first, at))
    return CpuList(tuple(ranges))
