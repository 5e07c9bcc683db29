# SPDX-License-Identifier: GPL-2.0
"""lavd where scheduling costs nothing: programs, its dump, who idled while others waited."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe

LAVD = paths.POLICIES / "lavd"
TICK = 4_000_000
SLICE = 2 * TICK  # of 5 ms, which ends with a tick
MS = 1_000_000
S = 1000 * MS
HOG = "loop forever\nrun 1000000\nend\n"
# What torture asks for and cannot have, as it changes the machine meanwhile.
EXPECTED = re.compile(
    r"was refused: -|keeps its policy: sched_setattr: (no policy has the id|policy \w+ was ejected)"
)


@cache
def simulator(source: Path = LAVD) -> Path:
    return build([read_module(source)], Recipe(Kind.SANITIZE))


# As fast as can be built.
_COPY = Recipe(Kind.PLAIN, level="-O0")


@cache
def intact() -> Path:
    return build([read_module(LAVD)], _COPY)


def with_fault(directory: Path, file: str, old: str, new: str) -> Path:
    """A simulator of lavd with one place of its source replaced."""
    broken = shutil.copytree(LAVD, directory / "lavd")
    source = broken / file
    text = source.read_text()
    assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
    source.write_text(text.replace(old, new))
    return build([read_module(broken)], _COPY)


def is_noticed(directory: Path, file: str, old: str, new: str, check: Callable) -> None:
    """A `check` of (program, directory) fails without that place of the source, not else."""
    check(intact(), directory)
    broken = with_fault(directory, file, old, new)
    with pytest.raises(AssertionError):
        check(broken, directory)


# --- programs ---


def wakes(run_ns: int, sleep_ns: int, times: str = "forever") -> str:
    return f"loop {times}\nrun {run_ns}\nsleep {sleep_ns}\nend\n"


@dataclass(frozen=True)
class G:
    """A group of threads; `body`: its operations."""

    body: str
    n: int = 1
    cpus: str = "all"
    nice: int = 0
    start: int = 0
    policy: str = "main"


def text(groups: dict[str, G], objects: str = "") -> str:
    heads = "".join(
        f"group {name} {g.n} {g.start} {g.policy} {g.nice} {g.cpus} none\n"
        for name, g in groups.items()
    )
    bodies = "".join(f"program {name}\n{g.body}end\n" for name, g in groups.items())
    return f"saakm-program 1\n{objects}{heads}{bodies}"


def hogs(n: int, **all_of_them) -> dict[str, G]:
    """One to a group, so that each has its own figures."""
    return {f"h{i}": G(HOG, **all_of_them) for i in range(n)}


def touched(cpus: int) -> dict[str, G]:
    """Each CPU has been busy once: from then on it counts how long it idles."""
    return {f"touch{cpu}": G("run 1000\n", cpus=str(cpu)) for cpu in range(cpus)}


# --- machines and what comes of them ---


@dataclass(frozen=True)
class Machine:
    """CPUs in all, to a cache, to a node, to a core; 0: as the next larger one."""

    cpus: int = 1
    llc: int = 0
    node: int = 0
    smt: int = 1

    @property
    def words(self) -> list[str]:
        node = self.node or self.cpus
        return [f"cpus={self.cpus}", f"llc={self.llc or node}", f"node={node}", f"smt={self.smt}"]


@dataclass(frozen=True)
class Domain:
    cpus: str
    in_use: int
    load: int
    waiting: int
    takes: bool
    gives: bool


@dataclass(frozen=True)
class Dump:
    slice_us: int
    criticality: int
    in_use: int
    online: int
    mode: str
    busy: int
    waiting: int
    asked: int
    crossings: int
    domains: list[Domain]


_DUMP = re.compile(
    r"slice (\d+) us, criticality (\d+) on average, \d+ at most, \d+ preempt\n"
    r"(\d+) of (\d+) CPUs in use \((\w+)\), (\d+) % busy, (\d+) wait\n"
    r"(\d+) asked to make way, (\d+) turns in another domain than before\n"
)
_DOMAIN = re.compile(
    r"domain \d+: CPUs (\S*), (\d+) in use, load (\d+), (\d+) wait(, takes)?(, gives)?\n"
)


def parse(dump: str) -> Dump:
    head = _DUMP.match(dump)
    assert head, dump
    slice_us, criticality, in_use, online, mode, busy, waiting, asked, crossings = head.groups()
    rest = dump[head.end() :]
    domains = [
        Domain(m[1], int(m[2]), int(m[3]), int(m[4]), bool(m[5]), bool(m[6]))
        for m in _DOMAIN.finditer(rest)
    ]
    assert len(domains) == rest.count("\n")
    numbers = map(int, (busy, waiting, asked, crossings))
    sizes = map(int, (slice_us, criticality, in_use, online))
    return Dump(*sizes, mode, *numbers, domains)


@dataclass(frozen=True)
class Run:
    groups: dict[str, dict]
    dump: Dump
    whole: dict
    trace: Path = field(default=Path("/none"))

    def ran(self, name: str) -> int:
        return self.groups[name]["run_ns"]

    def shares(self, names: Iterable[str]) -> list[float]:
        """Of what each would have if all had the same."""
        ran = [self.ran(name) for name in names]
        return [one * len(ran) / sum(ran) for one in ran]

    def longest_wait(self, *names: str) -> int:
        """Of those that ended."""
        return max(self.groups[name]["waits"]["max_ns"] for name in names or self.groups)


def start(
    program: Path, directory: Path, source: str, ns: int, machine: Machine, *settings: str
) -> subprocess.CompletedProcess[str]:
    file = directory / "program"
    file.write_text(source)
    words = [*machine.words, "check=1", "costs=free", f"for={ns}"]
    command = [program, *words, "read=/sys/kernel/debug/saakm/dump"]
    for setting in settings:
        own = re.fullmatch(r"(at|trace|seed|interleave|set)=.*", setting)
        command.append(setting if own else f"lavd.{setting}")
    return subprocess.run([*command, file], capture_output=True, text=True, timeout=300)


def run(
    program: Path,
    directory: Path,
    groups: dict[str, G],
    ns: int,
    machine: Machine = Machine(),
    *settings: str,
    objects: str = "",
    traced: bool = False,
) -> Run:
    """`settings`: the policy's parameters, or the simulator's own options."""
    trace = directory / "trace"
    own = [f"trace={trace}"] if traced else []
    done = start(program, directory, text(groups, objects), ns, machine, *settings, *own)
    # No AssertionError: by that a check notices what is missing.
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    if unexpected := [one for one in found["warnings"] if not EXPECTED.search(one)]:
        raise RuntimeError(unexpected)
    (policy,) = json.loads(done.stderr[done.stderr.index("[{") :])
    by_name = {group["name"]: group for group in found["groups"]}
    return Run(by_name, parse(policy["dump"]), found, trace)


# --- traces ---

_SWITCH = re.compile(
    r"\[(\d+)\] \S+ (\d+): sched_switch: prev_comm=(\S+) prev_pid=(\d+) prev_prio=\d+ "
    r"prev_state=(\w+) ==> next_comm=(\S+) next_pid=(\d+)"
)
_WAKEUP = re.compile(r"\] \S+ (\d+): sched_wakeup(?:_new)?: comm=(\S+) pid=(\d+)")


def cpus_of(words: str, cpus: int) -> set[int]:
    if words == "all":
        return set(range(cpus))
    ends = [part.partition("-") for part in words.split(",")]
    return {cpu for a, _, b in ends for cpu in range(int(a), int(b or a) + 1)}


def turns(trace: Path) -> Iterator[tuple[int, str, int]]:
    """When who begins to run on which CPU."""
    for line in trace.open(errors="replace"):
        if m := _SWITCH.search(line):
            yield int(m[2]), m[6], int(m[1])


def ran_on(trace: Path, name: str, ns: int, since: int = 0) -> dict[int, int]:
    """For how long threads of that name ran on each CPU."""
    began: dict[int, tuple[int, str]] = {}
    found: dict[int, int] = {}

    def ends(cpu: int, at: int) -> None:
        begin, who = began.get(cpu, (at, ""))
        if who == name:
            found[cpu] = found.get(cpu, 0) + max(at - max(begin, since), 0)

    for at, who, cpu in turns(trace):
        ends(cpu, at)
        began[cpu] = (at, who)
    for cpu in began:
        ends(cpu, ns)
    return found


class Idleness:
    """Which CPU has idled for how long while anybody waited who may run there."""

    def __init__(self, groups: dict[str, G], cpus: int) -> None:
        self._may = {name: cpus_of(g.cpus, cpus) for name, g in groups.items()}
        self._idle = set(range(cpus))
        self._waiting: dict[str, str] = {}
        self._since: dict[int, int] = {}
        self.longest, self.where = 0, (-1, 0)

    def _note(self, at: int) -> None:
        wanted = set().union(*(self._may[name] for name in self._waiting.values()))
        vain = self._idle & wanted
        for cpu in set(self._since) - vain:
            begun = self._since.pop(cpu)
            if at - begun > self.longest:
                self.longest, self.where = at - begun, (cpu, begun)
        for cpu in vain - set(self._since):
            self._since[cpu] = at

    def _apply(self, line: str) -> None:
        if m := _SWITCH.search(line):
            if m[3] in self._may and int(m[5], 16) in (0, 0x100):
                self._waiting[m[4]] = m[3]
            self._waiting.pop(m[7], None)
            (self._idle.add if m[7] == "0" else self._idle.discard)(int(m[1]))
        elif (m := _WAKEUP.search(line)) and m[2] in self._may:
            self._waiting[m[3]] = m[2]

    def read(self, trace: Path, ns: int) -> "Idleness":
        last = 0
        for line in trace.open(errors="replace"):
            m = _SWITCH.search(line) or _WAKEUP.search(line)
            if not m:
                continue
            at = int(m[2] if m.re is _SWITCH else m[1])
            if at != last:
                self._note(last)
                last = at
            self._apply(line)
        self._note(last)
        self._idle.clear()
        self._note(ns)
        return self
