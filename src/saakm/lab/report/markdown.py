# SPDX-License-Identifier: GPL-2.0
"""A page of documentation, pictures beside it, with the commands that made the figures."""

from collections.abc import Sequence
from pathlib import Path

from ..bench import show
from ..bench.figures import Figure
from ..cost import markdown as costs
from . import tables
from .inputs import Results
from .tables import Cell

_BOLD = ("won", "lost")


def write(path: Path, results: Results, heading: str, base: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([heading, *_parts(results, base, path)]) + "\n")


def _parts(results: Results, base: str, page: Path) -> list[str]:
    own = [figure for figure in results.figures if not figure.latency]
    latencies = [figure for figure in results.figures if figure.latency]
    parts = []
    for name, rows in results.cost_runs.items():
        image = page.with_name(f"{page.stem}-{name}.svg")
        parts += costs.section(name.capitalize(), rows, image)
    parts += [*costs.functions(results.profiles), *_comparisons(own, base)]
    if own:
        parts += ["## Applications: tables", _code(tables.kernel_tables(own, base))]
    if latencies:
        parts += ["## Latencies", _code(tables.kernel_tables(latencies, base))]
    return parts + _origin(results)


def _comparisons(found: list[Figure], base: str) -> list[str]:
    parts = []
    for comparison in tables.comparisons(found, base):
        result = comparison.result
        parts += [
            f"## {result.scheduler} against {result.base}",
            _table(tables.header(result), [[_cell(c) for c in row] for row in comparison.rows]),
            comparison.sentence,
        ]
    if parts:
        parts += [show.RULE, "\n".join(f"- {text}" for text in show.meanings(found))]
    return parts


def _origin(results: Results) -> list[str]:
    parts = []
    if failures := results.failures:
        names = dict.fromkeys(
            f"{r['workload']} {r['variant']} under {r['scheduler']}: {r['error'].splitlines()[0]}"
            for r in failures
        )
        parts += ["## Did not run", "\n".join(f"- {name}" for name in names)]
    if results.environments:
        rows = [list(row) for row in tables.environment_rows(results.environments)]
        commands = "\n".join(tables.commands(results.environments))
        parts += ["## Where and how", _table(["", ""], rows), _code(commands)]
    return parts


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines
    )


def _cell(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.kind in _BOLD and cell.text in _BOLD else cell.text


def _code(text: str) -> str:
    return f"```\n{text}\n```"
