# SPDX-License-Identifier: GPL-2.0
"""Figures of an earlier day in a file, and what has got dearer since."""

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import SaakmError
from .measure import Conditions, Row, as_json

TOLERANCE = 0.01
# By how much builds of one kernel differ, down to the number in their banner: in what lives long,
# where memory lies; and in whom fair threads wake all at once, where each instruction of timing counts.
NOISE = {"fork": 0.02, "exec": 0.02, "migration": 0.06, "crowd": 0.04}


@dataclass(frozen=True)
class Baseline:
    identity: dict[str, str]  # of the kernel
    rows: list[Row]

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
    def conditions(self) -> Conditions:
        """Of all its rows: a file is written by one run."""
        row = self.rows[0]
        besides = [name for name in row.loaded if name != row.scheduler]
        return Conditions(
            row.cpus, row.runnable, row.switches, tuple(besides), row.scale, row.bystanders
        )


@dataclass(frozen=True)
class Change:
    scheduler: str
    operation: str
    before: float
    now: float

    @property
    def part(self) -> float:
        return round(self.now / self.before - 1, 6)


def write(path: Path, identity: dict[str, str], rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**identity, "rows": as_json(rows)}, indent=1) + "\n")


def read(path: Path) -> Baseline:
    try:
        content = json.loads(path.read_text())
        rows = [Row(**row) for row in content.pop("rows")]
        if not rows:
            raise ValueError("it has no rows")
    except OSError as error:
        raise SaakmError(f"there is no baseline {path}", str(error), _renew(path)) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SaakmError(f"{path} is not a baseline", f"{error}", _renew(path)) from error
    return Baseline(content, rows)


def refuse_another_kernel(path: Path, baseline: Baseline, identity: dict[str, str]) -> None:
    if reason := difference(baseline, identity):
        raise SaakmError(f"{path} cannot be compared with", reason, _renew(path))


def difference(baseline: Baseline, identity: dict[str, str]) -> str:
    """Why this kernel's figures cannot be compared with the file's; empty if they can."""
    differing = [
        f"its {name} was {was}, this one's is {identity.get(name)}"
        for name, was in baseline.identity.items()
        if identity.get(name) != was
    ]
    return "; ".join(differing)


def changes(baseline: Baseline, rows: list[Row]) -> list[Change]:
    before = {row.key: row.instructions for row in baseline.rows}
    found = [
        Change(row.scheduler, row.operation, before[row.key], row.instructions)
        for row in rows
        if row.key in before
    ]
    if not found:
        raise SaakmError(
            "nothing can be compared with the baseline",
            "it has none of the operations, schedulers and conditions of this run",
            "leave out --op, --schedulers and --cpus: the file says what to measure",
        )
    return found


def _noise() -> str:
    return ", ".join(f"{name} {part:.0%}" for name, part in NOISE.items())


def refuse_dearer(path: Path, found: list[Change]) -> None:
    dearer = [change for change in found if change.part > NOISE.get(change.operation, TOLERANCE)]
    if dearer:
        raise SaakmError(
            f"{len(dearer)} of {len(found)} figures got more than {TOLERANCE:.0%} dearer ({_noise()})",
            "; ".join(
                f"{c.scheduler} {c.operation}: {c.before:,.0f}, now {c.now:,.0f} ({c.part:+.1%})"
                for c in dearer
            ),
            f"see where: saakm cost --where --op OPERATION --schedulers NAME; "
            f"or, if it has to be: {_renew(path)}",
        )


def _renew(path: Path) -> str:
    base = f"--baseline {path} " if path.exists() else ""
    return f"saakm cost {base}--write-baseline {path}"
