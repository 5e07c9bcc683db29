# SPDX-License-Identifier: GPL-2.0
"""One HTML file that needs nothing else, not even a network."""

import time
from pathlib import Path
from typing import Any

from ..bench import show
from ..bench import table as kernel_table
from ..bench.figures import Figure, schedulers
from ..bench.figures import tables as by_title
from ..cost import where
from ..cost.axes import axis_of
from ..cost.operations import OPERATIONS
from ..cost.show import by_operation, compared_with
from . import plots, tables
from .inputs import Results

_TOP_FUNCTIONS = 40
_TEMPLATE = Path(__file__).with_name("report.html.j2")


def render(results: Results, title: str, base: str, sources: list[str]) -> str:
    # Slow to import, and not needed by other commands.
    import jinja2
    from plotly.offline import get_plotlyjs

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_TEMPLATE.read_text())
    return template.render(
        **_content(results, base),
        title=title,
        sources=sources,
        plotly=get_plotlyjs(),
        made=time.strftime("%Y-%m-%d"),
    )


def _content(results: Results, base: str) -> dict[str, Any]:
    own = [figure for figure in results.figures if not figure.latency]
    latencies = [figure for figure in results.figures if figure.latency]
    found = tables.comparisons(own, base)
    return {
        "comparisons": [(c, tables.header(c.result), plots.gains(c.result)) for c in found],
        "groups": _groups(own, base),
        "latencies": _groups(latencies, base),
        "rule": show.RULE,
        "meanings": show.meanings(results.figures),
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
            "plot": plots.boxes(group, names[0]),
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
        "plot": plots.costs(results.costs),
        "cpus": results.costs[0].cpus,
    }


def _curves(results: Results) -> list[tuple[str, str, str]]:
    """A title, what it is, and its plot."""
    return [
        (f"{name}, by {axis_of(group)}", OPERATIONS[name].what, plots.curves(group))
        for rows in results.cost_runs.values()
        if axis_of(rows)
        for name, group in by_operation(rows).items()
        if axis_of(group)
    ]


def _functions(results: Results) -> list[tuple[str, list[str], list[list[str]]]]:
    return [
        (operation, [p.scheduler for p in chosen], where.table(chosen, _TOP_FUNCTIONS))
        for operation, chosen in where.by_operation(results.profiles).items()
    ]


def _failures(results: Results) -> list[tuple[str, str]]:
    """What failed and did not succeed later, said once for each scheduler."""
    return list(
        {
            f"{r['workload']} {r['variant']} {r['scheduler']}": r["error"] for r in results.failures
        }.items()
    )
