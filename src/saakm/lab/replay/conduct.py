# SPDX-License-Identifier: GPL-2.0
"""Records what a kernel asks of the class, asks the same class in user space, and compares."""

import json
import math
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ...builder.kernel import Kernel
from ...sim.kbuild import read_module
from ...sim.kinds import Recipe
from .build import build
from .record import Recorded, record

BAD_INPUT = 2
# Of the first difference both states are shown; a terminal's worth is enough.
_MOST_LINES = 150
_ARGUMENTS = "smt=1 llc={cpus} node={cpus}"
_MOST_RACES = 100
_SECONDS = 1200

# A call by its number, and where it is made: "begin", "end", or cut in two at a read, by its number.
Race = tuple[int, str]
Races = tuple[Race, ...]


@dataclass(frozen=True)
class Agreement:
    """What came out of one recording."""

    policies: tuple[str, ...]
    cpus: int
    calls: int
    equal: int
    raced: int  # equal as well, but made elsewhere in the order of what overlaps
    overlapping: int
    not_replayed: int
    kinds: dict[str, dict[str, int]]
    difference: str  # "": there is none
    seconds: float

    @property
    def holds(self) -> bool:
        return not self.difference and 0 < self.equal == self.calls - self.not_replayed - self.raced

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_all(
    kernel: Kernel,
    wanted: Iterable[Recorded],
    keep: Path | None,
    on_end: Callable[[Agreement], None],
) -> list[Agreement]:
    """Each is recorded, replayed, and forgotten unless `keep` is a directory for the recordings."""
    found = []
    for one in wanted:
        with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
            found.append(_compare(kernel, one, Path(name), keep))
        on_end(found[-1])
    return found


def _compare(kernel: Kernel, wanted: Recorded, scratch: Path, keep: Path | None) -> Agreement:
    begun = time.monotonic()
    names = tuple(policy.name for policy in wanted.policies)
    recording = scratch / f"{'-'.join(names)}-{wanted.cpus}.recording"
    program = build([read_module(policy) for policy in wanted.policies], Recipe())
    record(kernel, wanted, recording)
    try:
        return replay(program, recording, names, wanted.cpus, begun)
    finally:
        # Not earlier: QEMU and the replayer take no blanks and commas in paths.
        if keep:
            shutil.move(recording, keep / recording.name)


def replay(
    program: Path, recording: Path, names: tuple[str, ...], cpus: int, begun: float
) -> Agreement:
    """What the replayer says of a recording."""
    found = _with_races(lambda races: _run(program, recording, cpus, races))
    said = found.said
    if said["cut_off"]:
        raise SaakmError(f"{recording.name} is cut off", "its end is missing", "record it anew")
    return Agreement(
        names,
        cpus,
        said["calls"],
        said["equal"],
        said["raced"],
        said["overlapping"],
        said["not_replayed"],
        said["kinds"],
        found.difference,
        round(time.monotonic() - begun, 1),
    )


@dataclass(frozen=True)
class _Replayed:
    said: dict[str, Any]
    difference: str

    @property
    def reached(self) -> float:
        return self.said["reached"] if self.difference else math.inf

    @property
    def differs_in(self) -> int | None:
        """The call that differs."""
        return self.said["differs_in"] if self.difference else None

    def suspects(self, races: Races) -> list[int]:
        """Calls that may have raced, and are not moved yet."""
        moved = {frame for frame, _ in races}
        return [frame for frame in dict.fromkeys(self.said["suspects"]) if frame not in moved]

    def overlapping(self, races: Races) -> list[int]:
        """Of these the ones that have not ended."""
        first = self.said["suspects"][: self.said["open"]]
        return [frame for frame in self.suspects(races) if frame in first]


def _with_races(run: Callable[[Races], _Replayed | None]) -> _Replayed:
    """Where it differs while calls of several CPUs overlap, these are made at their begin or end.

    What of each other such calls have seen is not recorded. Of all that may have raced,
    the one is moved with which the replay gets furthest. If that is not beyond this call, they are
    cut in two as well: one may have read one thing before others came, and the next after them.
    """
    races: Races = ()
    best = run(races)
    assert best
    while best.difference and len(races) < _MOST_RACES:
        done = _moved(run, races, best.suspects(races))
        further = [pair for pair in done if pair[0].reached > best.reached]
        if all(again.differs_in == best.differs_in for again, _ in further):
            done = _cut(run, races, best.overlapping(races))
            further += [pair for pair in done if pair[0].reached > best.reached]
        if not further:
            break
        best, races = max(further, key=lambda pair: pair[0].reached)
    return best


def _moved(
    run: Callable[[Races], _Replayed | None], races: Races, suspects: Sequence[int]
) -> list[tuple[_Replayed, Races]]:
    tries = [(*races, (frame, where)) for frame in suspects for where in ("end", "begin")]
    return [(again, one) for one in tries if (again := run(one))]


def _cut(
    run: Callable[[Races], _Replayed | None], races: Races, suspects: Sequence[int]
) -> list[tuple[_Replayed, Races]]:
    """Each at its first read of what others write, at its second ... as far as it comes."""
    done: list[tuple[_Replayed, Races]] = []
    cut_before = sum(where.isdigit() for _, where in races)
    for frame in suspects:
        for read in count(1):
            one = (*races, (frame, str(read)))
            again = run(one)
            if not again or again.said["cut"] <= cut_before:
                break
            done.append((again, one))
    return done


def _run(program: Path, recording: Path, cpus: int, races: Races) -> _Replayed | None:
    """None: with these races it cannot be replayed."""
    lines = [f"recording {recording}", *(f"raced {frame} {where}" for frame, where in races)]
    with tempfile.NamedTemporaryFile("w", prefix="saakm-replay-") as text:
        text.write("".join(f"{line}\n" for line in lines))
        text.flush()
        words = [f"cpus={cpus}", *_ARGUMENTS.format(cpus=cpus).split(), text.name]
        try:
            done = subprocess.run(
                [str(program), *words], capture_output=True, text=True, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            if races:
                return None
            raise _failed(recording, f"it takes more than {_SECONDS} s") from error
    if done.returncode == BAD_INPUT or not done.stdout.startswith("{"):
        if races:
            return None
        raise _failed(
            recording, done.stderr[-1000:] or f"the replayer ended with status {done.returncode}"
        )
    return _Replayed(json.loads(done.stdout), _difference(done.stderr) if done.returncode else "")


def _failed(recording: Path, why: str) -> SaakmError:
    return SaakmError(
        f"{recording.name} could not be replayed",
        why,
        "record it anew; if that does not help, it is a fault of sim/replay",
    )


def _difference(text: str) -> str:
    lines = [re.sub(r"^\[ *[\d.]+\] ", "", line) for line in text.splitlines()]
    return "\n".join(lines[:_MOST_LINES]) or "the replayer has failed, and does not say why"
