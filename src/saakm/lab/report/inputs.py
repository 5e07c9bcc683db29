# SPDX-License-Identifier: GPL-2.0
"""Finds out what the given files are: results of saakm bench or of saakm cost."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import BadInput, SaakmError
from ...model.cost_rows import FunctionRow, Row
from ...model.fair_class import renamed
from ...model.results import EnvironmentRecord, RunRecord
from ...model.scale_rows import ScaleRow
from ...model.schema import fit, parse_json, refuse_later
from ..bench import store
from ..bench.columns import refuse_mixture
from ..bench.figures import Figure, figures
from ..cost.axes import axis_of
from ..cost.where import Profile, from_rows


@dataclass
class Results:
    figures: list[Figure] = field(default_factory=list)
    cost_runs: dict[str, list[Row]] = field(default_factory=dict)  # by the name of their file
    profiles: dict[str, list[Profile]] = field(default_factory=dict)  # likewise
    scales: dict[str, list[ScaleRow]] = field(default_factory=dict)  # likewise
    environments: list[EnvironmentRecord] = field(default_factory=list)
    records: list[RunRecord] = field(default_factory=list)

    @property
    def base(self) -> str:
        """What saakm bench compared with."""
        return self.environments[0].schedulers[0] if self.environments else ""

    @property
    def costs(self) -> list[Row]:
        """Returns the costs of operations that were not measured along an axis."""
        return [row for rows in self.cost_runs.values() if not axis_of(rows) for row in rows]

    @property
    def failures(self) -> list[RunRecord]:
        return [record for record in self.records if record.error]

    @property
    def splats(self) -> list[str]:
        return [splat for record in self.records for splat in record.splats]


def read(paths: Iterable[Path]) -> Results:
    found, lines = Results(), []
    for path in paths:
        if path.is_dir() or path.suffix == ".jsonl":
            lines += store.read(path)
        else:
            _add_costs(path, found)
    found.records = store.runs(lines)
    refuse_mixture(found.records)
    _refuse_kernels(found)
    found.environments = store.environments(lines)
    order = [name for environment in found.environments for name in environment.schedulers]
    found.figures = figures(found.records, order)
    return found


def _refuse_kernels(found: Results) -> None:
    """Costs of two kernels in one table would be taken for costs of two schedulers."""
    kernels = {(row.kernel, row.preemption) for row in found.costs if row.kernel}
    if len(kernels) > 1:
        named = "; ".join(f"Linux {', '.join(kernel)}" for kernel in sorted(kernels))
        raise BadInput(
            "these costs do not belong together",
            f"they are of different kernels: {named}",
            "make a report of each",
        )


def _add_costs(path: Path, found: Results) -> None:
    try:
        content = renamed(parse_json(path.read_text()), path)
        refuse_later(content)
        # A baseline has its rows below what its kernel was.
        rows = content.get("rows") if isinstance(content, dict) else content
        if rows and isinstance(rows, list) and isinstance(rows[0], dict) and "function" in rows[0]:
            found.profiles[path.stem] = from_rows(fit(rows, list[FunctionRow]))
        elif (
            rows and isinstance(rows, list) and isinstance(rows[0], dict) and "peak_kib" in rows[0]
        ):
            found.scales[path.stem] = fit(rows, list[ScaleRow])
        elif costs := fit(rows, list[Row]):
            found.cost_runs[path.stem] = costs
        else:
            raise ValueError("it has no rows")
    except (OSError, ValueError) as error:
        hint = "name directories of saakm bench, or files of saakm cost --json"
        raise SaakmError(f"{path} has no results", str(error), hint) from error
