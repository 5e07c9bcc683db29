# SPDX-License-Identifier: GPL-2.0
"""Finds out what the given files are: results of saakm bench or of saakm cost."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ..bench import store
from ..bench.figures import Figure, figures
from ..bench.store import Record
from ..cost.axes import axis_of
from ..cost.measure import Row
from ..cost.where import Profile, from_json


@dataclass
class Results:
    figures: list[Figure] = field(default_factory=list)
    cost_runs: dict[str, list[Row]] = field(default_factory=dict)  # by the name of their file
    profiles: list[Profile] = field(default_factory=list)
    environments: list[Record] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def base(self) -> str:
        """What saakm bench compared with."""
        return self.environments[0]["schedulers"][0] if self.environments else ""

    @property
    def costs(self) -> list[Row]:
        """Of operations, not along an axis."""
        return [row for rows in self.cost_runs.values() if not axis_of(rows) for row in rows]

    @property
    def failures(self) -> list[Record]:
        return [record for record in self.records if record["error"]]

    @property
    def splats(self) -> list[str]:
        return [splat for record in self.records for splat in record.get("splats", [])]


def read(paths: Iterable[Path]) -> Results:
    found, lines = Results(), []
    for path in paths:
        if path.is_dir() or path.suffix == ".jsonl":
            lines += store.read(path)
        else:
            _add_costs(path, found)
    found.records = store.runs(lines)
    _refuse_mixture(found.records)
    found.environments = store.environments(lines)
    found.figures = figures(found.records)
    return found


def _add_costs(path: Path, found: Results) -> None:
    try:
        content = json.loads(path.read_text())
        # A baseline has its rows below what its kernel was.
        rows = content["rows"] if isinstance(content, dict) else content
        if "function" in rows[0]:
            found.profiles += from_json(rows)
        else:
            found.cost_runs[path.stem] = [Row(**row) for row in rows]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SaakmError(
            f"{path} has no results",
            str(error),
            "name directories of saakm bench, or files of saakm cost --json",
        ) from error


def _refuse_mixture(records: list[Record]) -> None:
    """Runs of two kernels or machines in one mean would be a lie."""
    seen: dict[tuple[object, ...], str] = {}
    for record in records:
        what = (record["workload"], record["variant"], record["traced"])
        where = json.dumps([record["kernel"], _shape(record), record["definition"]], sort_keys=True)
        if seen.setdefault(what, where) != where:
            raise SaakmError(
                f"the results of {record['workload']} {record['variant']} do not belong together",
                "they are of different kernels, machines or versions of the workload",
                "make a report of each, or start again in an empty directory: saakm bench --out DIR",
            )


def _shape(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record["machine"].items() if name != "memory"}
