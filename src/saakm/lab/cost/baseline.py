# SPDX-License-Identifier: GPL-2.0
"""A baseline: figures in a file, and regressions against them."""

import json
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import BadInput, SaakmError
from ...builder.about import About, series_of
from ...model.cost_rows import BaselineFile, Row
from ...model.fair_class import renamed
from ...model.schema import SCHEMA, fit, parse_json, plain
from .measure import Conditions
from .target import Target

FLOOR = "sched_fifo"
# Of counts, for one identity: kernel, compiler, QEMU.
TOLERANCE = 0.01
# By how much builds of one kernel differ, down to the number in their banner: in what lives long,
# where memory lies; and in whom fair threads wake all at once, where each instruction of timing counts.
NOISE = {"fork": 0.02, "exec": 0.02, "migration": 0.06, "crowd": 0.04}
# Of ratios to SCHED_FIFO's counts of the same run. Under QEMU 10.0.2 instead of 7.2.22 those of six
# schedulers moved by at most 0.12 % (pipe, pipe2, futex, eventfd, yield, newidle), 0.25 (tick, sleep),
# 0.6 (fork, exec), 1.0 (setattr), 2.5 (crowd), 7.1 (migration); counts, by up to 11.5 % (fork).
# Between builds and boots both parts of a ratio move: fork's by 1.1 %, crowd's by 2.8 % so far.
RATIO_TOLERANCE = 0.01
RATIO_NOISE = {"fork": 0.03, "exec": 0.03, "setattr": 0.02, "migration": 0.10, "crowd": 0.05}
# Of another kernel's or compiler's: from -Os to -O2 fair's pipe moved by 2.6 %, in counts by 18.
REBUILT_TOLERANCE = 0.05
_BUILD = ("kernel", "compiler")


@dataclass(frozen=True)
class Baseline:
    identity: dict[str, str]  # of the kernel
    rows: list[Row]
    preemption: str = "PREEMPT"
    patched: bool = True

    @property
    def schedulers(self) -> list[str]:
        return list(dict.fromkeys(row.scheduler for row in self.rows))

    @property
    def operations(self) -> list[str]:
        return list(dict.fromkeys(row.operation for row in self.rows))

    @property
    def seeds(self) -> list[int]:
        return self.rows[0].seeds

    @property
    def floor(self) -> dict[str, float]:
        return _floor(self.rows)

    @property
    def conditions(self) -> Conditions:
        """All its rows have the same ones: a file is written by one run."""
        row = self.rows[0]
        return Conditions(
            row.cpus,
            row.runnable,
            row.switches,
            tuple(row.besides),
            row.scale,
            row.bystanders,
            tuple(row.features),
        )


@dataclass(frozen=True)
class Change:
    """Is a change of a count, or of its ratio to SCHED_FIFO's count of the same run."""

    scheduler: str
    operation: str
    before: float
    now: float
    allowed: float
    is_ratio: bool = False

    @property
    def part(self) -> float:
        return round(self.now / self.before - 1, 6)

    @property
    def is_regression(self) -> bool:
        return self.part > self.allowed

    def text(self, figure: float) -> str:
        return f"{figure:.3f}" if self.is_ratio else f"{figure:,.0f}"


def write(path: Path, target: Target, rows: list[Row]) -> None:
    about = target.about
    kind = {"preemption": about.preemption, "patched": about.has_class}
    content = {**target.identity, **kind, "schema": SCHEMA, "rows": plain(rows)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def read(path: Path) -> Baseline:
    try:
        content = fit(renamed(parse_json(path.read_text()), path), BaselineFile)
        if not content.rows:
            raise ValueError("it has no rows")
    except OSError as error:
        raise SaakmError(f"there is no baseline {path}", str(error), _renew(path)) from error
    except ValueError as error:
        raise SaakmError(f"{path} is not a baseline", f"{error}", _renew(path)) from error
    return Baseline(content.identity, content.rows, content.preemption, content.patched)


def difference(baseline: Baseline, identity: dict[str, str]) -> str:
    """Why counts of here cannot be compared with the file's; empty if they can."""
    was = baseline.identity
    differing = [
        f"its {name} was {was.get(name, 'not noted')}, this one's is {identity.get(name)}"
        for name in was | identity
        if identity.get(name) != was.get(name)
    ]
    return "; ".join(differing)


def refuse_another(path: Path, baseline: Baseline, about: About) -> None:
    """Another build of a kernel is told from the file's by ratios; another kernel says nothing."""
    was = baseline.identity.get("kernel", "")
    same = (
        series_of(was) in ("", about.series),
        baseline.preemption == about.preemption,
        baseline.patched == about.has_class,
    )
    if not all(same):
        kinds = {True: "with SaaKM's class", False: "without SaaKM's class"}
        raise BadInput(
            f"{path} is of another kernel",
            f"it is of Linux {was}, {baseline.preemption}, {kinds[baseline.patched]}; this one is "
            f"{about}, {kinds[about.has_class]}",
            "measure both in tables of their own, or write another file: --write-baseline FILE",
        )


def refuse_without_floor(
    path: Path, baseline: Baseline, operations: list[str], reason: str
) -> None:
    if lacking := [name for name in operations if name not in baseline.floor]:
        schedulers = dict.fromkeys([FLOOR, *baseline.schedulers])
        raise SaakmError(
            f"{path} cannot be compared with",
            f"{reason}; ratios to {FLOOR}'s could be, and it has none of {', '.join(lacking)}",
            f"{_renew(path)} --schedulers {','.join(schedulers)}",
        )


def changes(baseline: Baseline, rows: list[Row]) -> list[Change]:
    """Compares counts."""
    before = {row.key: row.instructions for row in baseline.rows}
    return [
        Change(
            row.scheduler,
            row.operation,
            before[row.key],
            row.instructions,
            NOISE.get(row.operation, TOLERANCE),
        )
        for row in rows
        if row.key in before
    ]


def ratio_changes(baseline: Baseline, rows: list[Row], identity: dict[str, str]) -> list[Change]:
    """Compares ratios to SCHED_FIFO's counts, where both have some. It does not see what all share."""
    was, now = baseline.floor, _floor(rows)
    rebuilt = any(identity.get(name) != baseline.identity.get(name) for name in _BUILD)
    least = REBUILT_TOLERANCE if rebuilt else RATIO_TOLERANCE
    return [
        Change(
            count.scheduler,
            count.operation,
            count.before / was[count.operation],
            count.now / now[count.operation],
            max(least, RATIO_NOISE.get(count.operation, 0)),
            is_ratio=True,
        )
        for count in changes(baseline, rows)
        if count.scheduler != FLOOR and count.operation in was and count.operation in now
    ]


def _floor(rows: list[Row]) -> dict[str, float]:
    """Returns SCHED_FIFO's counts by operation; all of them are of one run."""
    return {row.operation: row.instructions for row in rows if row.scheduler == FLOOR}


def refuse_incomparable(found: list[Change]) -> None:
    if not found:
        raise SaakmError(
            "nothing can be compared with the baseline",
            "it has none of the operations, schedulers and conditions of this run",
            "leave out --op, --schedulers and --cpus: the file says what to measure",
        )


def refuse_regressions(path: Path, found: list[Change]) -> None:
    worse = [change for change in found if change.is_regression]
    if worse:
        raise SaakmError(
            f"{len(worse)} of {len(found)} figures are regressions",
            "; ".join(_tell(change) for change in worse),
            f"see where: saakm cost --where --op OPERATION --schedulers NAME; "
            f"or, if it has to be: {_renew(path)}",
        )


def _tell(c: Change) -> str:
    unit = f" of {FLOOR}'s" if c.is_ratio else ""
    return (
        f"{c.scheduler} {c.operation}: {c.text(c.before)}{unit}, now {c.text(c.now)} "
        f"({c.part:+.2%}, allowed {c.allowed:.0%})"
    )


def _renew(path: Path) -> str:
    base = f"--baseline {path} " if path.exists() else ""
    return f"saakm cost {base}--write-baseline {path}"
