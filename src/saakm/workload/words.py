# SPDX-License-Identifier: GPL-2.0
"""The words of the text form: each kind of operand, from a word and back. ValueError: it is none."""

import re
from typing import cast

from .program import Base, CpuList, Drawn, Operand, Policy, PolicyKind, Ref, Sum, Term, Time

MAX_TIME = 10**15
MAX_CPU = 4096
NAME = r"[A-Za-z][A-Za-z0-9_.-]{0,30}"
_PPM = 1_000_000
_FACTOR = 1_000_000
# How many numbers each has.
_DRAWN = {"uniform": 2, "exponential": 1, "bimodal": 3}


def name(word: str) -> str:
    if not re.fullmatch(NAME, word):
        raise ValueError(
            "a name is 1 to 31 of A-Z a-z 0-9 _ . - and begins with a letter"
            if word
            else "a name is missing"
        )
    return word


def number(word: str, low: int, high: int) -> int:
    """Decimal, as the C side reads it: no sign unless it may be negative, no underscore."""
    if not re.fullmatch(r"-?[0-9]{1,20}" if low < 0 else r"[0-9]{1,20}", word):
        raise ValueError(f"it is no whole number from {low:,} to {high:,}")
    if not low <= int(word) <= high:
        raise ValueError(f"it is not from {low:,} to {high:,}")
    return int(word)


def time(word: str) -> Time:
    drawn, *parts = word.split(":")
    if not parts:
        return Time("fixed", (number(word, 0, MAX_TIME),))
    if _DRAWN.get(drawn) != len(parts):
        raise ValueError("a time is N, uniform:LOW:HIGH, exponential:MEAN or bimodal:A:B:PPM")
    limits = [MAX_TIME, MAX_TIME, _PPM]
    numbers = tuple(number(part, 0, limit) for part, limit in zip(parts, limits))
    if drawn == "uniform" and numbers[0] > numbers[1]:
        raise ValueError("its lowest is above its highest")
    return Time(cast(Drawn, drawn), numbers)


def policy_to_set(word: str) -> Policy:
    return Policy("any") if word == "any" else policy(word)


def policy_loaded(word: str) -> Policy:
    found = (
        Policy("any") if word == "any" or not word.startswith(("main", "saakm:")) else policy(word)
    )
    if found.kind == "any" and word != "any":
        raise ValueError("a policy that is loaded is main, saakm:NAME or any")
    return found


def policy_of_cgroup(word: str) -> Policy:
    return Policy("none") if word == "none" else policy_loaded(word)


def policy(word: str) -> Policy:
    kind, colon, rest = word.partition(":")
    if kind == "saakm" and colon:
        return Policy("saakm", name=name(rest))
    if kind in ("rt", "rr") and colon:
        return Policy(cast(PolicyKind, kind), priority=number(rest, 1, 99))
    if kind in ("main", "fair", "batch", "idle") and not colon:
        return Policy(cast(PolicyKind, kind))
    raise ValueError("a policy is main, saakm:NAME, fair, batch, idle, rt:N or rr:N")


def cpus(word: str) -> CpuList:
    if word == "all":
        return CpuList()
    ranges: list[tuple[int, int]] = []
    for part in word.split(","):
        first, dash, last = part.partition("-")
        low = number(first, 0, MAX_CPU - 1)
        high = number(last, 0, MAX_CPU - 1) if dash else low
        if high < low or (ranges and low <= ranges[-1][1]):
            raise ValueError("CPUs rise, without overlap, as 0,2-5")
        ranges.append((low, high))
    return CpuList(tuple(ranges))


def ref(word: str) -> Ref:
    match = re.fullmatch(rf"({NAME})(?:\[([^\[\]]*)\])?", word)
    if not match:
        raise ValueError("it is neither NAME nor NAME[INDEX]")
    if match[2] is None:
        return Ref(match[1])
    return Ref(match[1], _terms(match[2]))


def total(word: str) -> Sum:
    return Sum(_terms(word))


def _terms(word: str) -> tuple[Term, ...]:
    terms = tuple(_term(part) for part in word.split("+"))
    bases = [one.base for one in terms if one.base != "number"]
    if len(set(bases)) < len(bases):
        raise ValueError("an index uses self, loop and pick once each")
    return terms


def _term(part: str) -> Term:
    if re.fullmatch(r"[0-9]+", part):
        return Term("number", number(part, 0, _FACTOR))
    match = re.fullmatch(r"(self|loop|pick)(?:/([0-9]+))?(?:\*([0-9]+))?", part)
    if not match:
        raise ValueError("an index adds up numbers, self, loop and pick, each as self/D*M")
    return Term(
        cast(Base, match[1]),
        divide=number(match[2] or "1", 1, _FACTOR),
        times=number(match[3] or "1", 1, _FACTOR),
    )


def text(value: Operand) -> str:
    """The word for it."""
    match value:
        case Time("fixed", numbers):
            return str(numbers[0])
        case Time(drawn, numbers):
            return ":".join([drawn, *map(str, numbers)])
        case Policy("saakm", of, _):
            return f"saakm:{of}"
        case Policy(kind, _, priority):
            return f"{kind}:{priority}" if kind in ("rt", "rr") else kind
        case CpuList(ranges):
            return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges) or "all"
        case Ref(of, terms):
            return f"{of}[{'+'.join(map(_term_text, terms))}]" if terms else of
        case Sum(terms):
            return "+".join(map(_term_text, terms))
        case _:
            return str(value)


def _term_text(term: Term) -> str:
    if term.base == "number":
        return str(term.number)
    divide = f"/{term.divide}" if term.divide != 1 else ""
    return term.base + divide + (f"*{term.times}" if term.times != 1 else "")
