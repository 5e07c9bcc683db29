# SPDX-License-Identifier: GPL-2.0
"""Options of built-in workloads: NAME:KEY=VALUE,KEY=VALUE."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import Place, quoted, refusal
from ..program import Program

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True)
class Option:
    """`default` is a number, or one for a number of CPUs; `time`: nanoseconds, written with a unit."""

    name: str
    what: str
    default: int | Callable[[int], int]
    low: int
    high: int
    time: bool = False

    def default_for(self, cpus: int) -> int:
        return self.default if isinstance(self.default, int) else self.default(cpus)

    def shown(self, value: int) -> str:
        if not self.time:
            return str(value)
        fitting = [unit for unit, size in _UNITS.items() if value and value % size == 0]
        unit = fitting[-1] if fitting else "ns"
        return f"{value // _UNITS[unit]}{unit}"


def count(name: str, what: str, default: int | Callable[[int], int], high: int) -> Option:
    return Option(name, what, default, 1, high)


def span(name: str, what: str, default: int, low: int = 0) -> Option:
    """Up to 100 s of simulated time."""
    return Option(name, what, default, low, 100 * 10**9, time=True)


def rounds(default: int) -> Option:
    return Option("rounds", "how often; 0: until the run ends", default, 0, 10**9)


@dataclass(frozen=True)
class Builtin:
    """`source` says where its shape comes from, and what is an assumption."""

    name: str
    what: str
    source: str
    options: tuple[Option, ...]
    make: Callable[[Mapping[str, int], int], Program]

    def program(self, written: str, cpus: int) -> Program:
        """`written`: KEY=VALUE,... or nothing."""
        values = {one.name: one.default_for(cpus) for one in self.options}
        values |= self._read(written)
        return self.make(values, cpus)

    def _read(self, written: str) -> dict[str, int]:
        known = {one.name: one for one in self.options}
        found: dict[str, int] = {}
        for part in written.split(",") if written else []:
            key, _, value = part.partition("=")
            if key not in known:
                raise self._refuse(f"the option {quoted(part)}", "it has no such option")
            if key in found:
                raise self._refuse(f"the option {quoted(key)}", "it is there twice")
            found[key] = self._value(known[key], value)
        return found

    def _value(self, option: Option, written: str) -> int:
        match = re.fullmatch(r"([0-9]{1,15})(ns|us|ms|s|)", written)
        without = match and not match[2]
        if not match or (without == option.time and int(match[1])):
            kind = "a number and ns, us, ms or s" if option.time else "a whole number"
            raise self._refuse(f"{option.name}={quoted(written)}", f"its value is to be {kind}")
        value = int(match[1]) * _UNITS.get(match[2], 1)
        if not option.low <= value <= option.high:
            limits = f"{option.shown(option.low)} to {option.shown(option.high)}"
            raise self._refuse(f"{option.name}={quoted(written)}", f"it is from {limits}")
        return value

    def _refuse(self, what: str, why: str) -> Exception:
        there = ", ".join(f"{one.name}={self._example(one)}" for one in self.options)
        return refusal(Place(self.name), what, why, f"its options, and values for 4 CPUs: {there}")

    def _example(self, option: Option) -> str:
        return option.shown(option.default_for(4))
