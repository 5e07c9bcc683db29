# SPDX-License-Identifier: GPL-2.0
"""A scripted scenario: a workload's text, in whose comments stands what to run it under.

The last CPU of the machine is for whatever else runs in a guest: no thread of a scenario may use it.
Nothing that is compared may depend on what happens first of what happens at one time: bursts begin
between ticks, and are apart by more than operations cost. (A slice of whole ticks is such a case: by some us
more or less it ends a tick earlier or later.)

    # shows: what a reader learns from it, in a sentence
    # policy: rr                  what `main` is
    # load: fifo prio             policies besides
    # topology: 1s4c
    # for: 200ms                  how long it takes at most
    # from: 15ms                  compared from here on: threads are in place by then
    # near: 20ms                  times may differ by so much: what waits for RCU, or for a balancing period
    # param: slice_us=2000        of the policy
    # at: 50ms offline 2          or online CPU, or eject POLICY; in order of time
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...base import paths
from ...base.errors import SaakmError
from ...vm.topology import Topology, parse_topology

DIRECTORY = paths.REPO / "lab" / "agreement" / "scenarios"
_LINE = re.compile(r"#\s*(\w+):\s*(.*?)\s*")
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_KEYS = ("shows", "policy", "load", "topology", "for", "from", "near", "param", "at")
_ACTIONS = ("offline", "online", "eject")


@dataclass(frozen=True)
class Action:
    """What somebody at a shell does to the machine."""

    at_ns: int
    verb: str
    whom: str


@dataclass(frozen=True)
class Scenario:
    """`text` is the program, comments included."""

    name: str
    shows: str
    policy: str
    machine: str
    text: str
    load: tuple[str, ...] = ()
    for_ns: int = 200_000_000
    from_ns: int = 15_000_000
    near_ns: int | None = None
    params: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()

    @property
    def topology(self) -> Topology:
        return parse_topology(self.machine)

    @property
    def policies(self) -> tuple[str, ...]:
        return (self.policy, *self.load)


def read_all(directory: Path = DIRECTORY) -> list[Scenario]:
    return [read(file) for file in sorted(directory.glob("*.txt"))]


def find(name: str) -> Scenario:
    file = DIRECTORY / f"{name}.txt"
    if not file.exists():
        known = ", ".join(one.stem for one in sorted(DIRECTORY.glob("*.txt")))
        refusal = SaakmError(f"there is no scenario '{name}'", f"there are {known}", "name one")
        refusal.status = 2
        raise refusal
    return read(file)


def read(file: Path) -> Scenario:
    text = file.read_text()
    values: dict[str, list[str]] = {}
    for number, key, value in _header(text):
        if key not in _KEYS or not value:
            raise _refusal(file, number, f"'{key}' is none of {', '.join(_KEYS)}")
        values.setdefault(key, []).append(value)
    if missing := {"shows", "policy"} - values.keys():
        raise _refusal(file, 1, f"no line says '{min(missing)}'")
    try:
        return Scenario(
            name=file.stem,
            shows=" ".join(values["shows"]),
            policy=values["policy"][0],
            machine=_machine(values.get("topology", ["1s4c"])[0]),
            text=text,
            load=tuple(" ".join(values.get("load", [])).split()),
            for_ns=_ns(values.get("for", ["200ms"])[0]),
            from_ns=_ns(values.get("from", ["15ms"])[0]),
            near_ns=_ns(values["near"][0]) if "near" in values else None,
            params=tuple(values.get("param", [])),
            actions=tuple(map(_action, values.get("at", []))),
        )
    except ValueError as error:
        raise _refusal(file, 1, str(error)) from error


def _header(text: str) -> Iterator[tuple[int, str, str]]:
    """Comments up to the first line that is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _LINE.fullmatch(line):
            yield number, match[1], match[2]
        elif not line.startswith("#"):
            return


def _refusal(file: Path, line: int, why: str) -> SaakmError:
    return SaakmError(f"{file}:{line}", why, "src/saakm/lab/agreement/scenario.py says the form")


def _machine(name: str) -> str:
    parse_topology(name)
    return name


def _ns(text: str) -> int:
    match = re.fullmatch(r"(\d+)(ns|us|ms|s)", text)
    if not match:
        raise ValueError(f"'{text}' is no time: 100us, 20ms")
    return int(match[1]) * _UNITS[match[2]]


def _action(text: str) -> Action:
    words = text.split()
    if len(words) != 3 or words[1] not in _ACTIONS:
        raise ValueError(f"'{text}' is no action: 50ms offline 2, or online, or eject NAME")
    return Action(_ns(words[0]), words[1], words[2])
