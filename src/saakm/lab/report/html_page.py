# SPDX-License-Identifier: GPL-2.0
"""Results as one HTML file with interactive plots."""

import time
from pathlib import Path
from typing import Any

from ...view.html import page
from ..bench import comparison, kernel_table
from ..bench.figures import Figure, schedulers
from ..bench.figures import tables as by_title
from ..cost import where
from ..cost.axes import axis_of
from ..cost.operations import meaning
from ..cost.printed import by_operation, compared_with
from . import interactive, tables
from .inputs import Results

_TOP_FUNCTIONS = 40
_TEMPLATE = Path(__file__).with_name("report.html.j2")


def render(results: Results, title: str, base: str, sources: list[str]) -> str:
    return page(
        _TEMPLATE,
        **_content(results, base),
        title=title,
        sources=sources,
        made=time.strftime("%Y-%m-%d"),
    )


def _content(results: Results, base: str) -> dict[str, Any]:
    own = [figure for figure in results.figures if not figure.latency]
    latencies = [figure for figure in results.figures if figure.latency]
    found = tables.comparisons(own, base)
    return {
        "comparisons": [(c, tables.header(c.result), interactive.gains(c.result)) for c in found],
        "groups": _groups(own, base),
        "latencies": _groups(latencies, base),
        "rule": comparison.RULE,
        "meanings": comparison.meanings(results.figures),
        "cost": _cost(results),
        "curves": _curves(results),
        "functions": _functions(results),
        "environment": tables.environment_rows(results.environments),
        "commands": tables.commands(results.environments),
        "failures": _failures(results),
        "splats": results.splats,
    }


def _groups(found: list[Figure], base: str) -> list[dict[str, str]]:
    names = schedulers(found, base)
    return [
        {
            "title": title,
            "text": kernel_table.table(title, group, names),
            "plot": interactive.boxes(group, names[0]),
        }
        for title, group in by_title(found).items()
    ]


def _cost(results: Results) -> dict[str, Any] | None:
    if not results.costs:
        return None
    base = compared_with(results.costs).scheduler
    return {
        "base": base,
        "names": tables.cost_names(results.costs),
        "rows": tables.cost_rows(results.costs, base),
        "plot": interactive.costs(results.costs),
        "cpus": results.costs[0].cpus,
    }


def _curves(results: Results) -> list[tuple[str, str, str]]:
    """A title, what it is, and its plot."""
    return [
        (f"{name}, by {axis_of(group)}", meaning(name), interactive.curves(group))
        for rows in results.cost_runs.values()
        if axis_of(rows)
        for name, group in by_operation(rows).items()
        if axis_of(group)
    ]


def _functions(results: Results) -> list[tuple[str, list[str], list[list[str]]]]:
    return [
        (operation, [p.scheduler for p in chosen], where.table(chosen, _TOP_FUNCTIONS))
        for profiles in results.profiles.values()
        for operation, chosen in where.by_operation(profiles).items()
    ]


def _failures(results: Results) -> list[tuple[str, str]]:
    """What failed and did not succeed later, said once for each scheduler."""
    return list(
        {f"{r.workload} {r.variant} {r.scheduler}": r.error or "" for r in results.failures}.items()
    )
