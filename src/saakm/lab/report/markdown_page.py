# SPDX-License-Identifier: GPL-2.0
"""A page of documentation, pictures beside it, with the commands that made the figures."""

from collections.abc import Callable
from pathlib import Path

from ...view.markdown import code, table
from ..bench import comparison
from ..bench.figures import Figure
from ..cost import sections
from ..scale import sections as scale
from . import tables
from .inputs import Results
from .tables import Cell

_BOLD = ("won", "lost")


def write(
    path: Path, results: Results, heading: str, base: str, on_section: Callable[[], None]
) -> None:
    """`on_section` hears of each part that has a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([heading, *_parts(results, base, path, on_section)]) + "\n")


def _parts(results: Results, base: str, page: Path, on_section: Callable[[], None]) -> list[str]:
    own = [figure for figure in results.figures if not figure.latency]
    latencies = [figure for figure in results.figures if figure.latency]
    parts = []
    for name, rows in results.cost_runs.items():
        image = page.with_name(f"{page.stem}-{name}.svg")
        parts += sections.section(name.capitalize(), rows, image)
        on_section()
    for profiles in results.profiles.values():
        parts += sections.functions(profiles)
    for name, scales in results.scales.items():
        parts += scale.section(name, scales, page.with_name(f"{page.stem}-{name}.svg"))
        on_section()
    parts += _comparisons(own, base)
    if own:
        parts += ["## Applications: tables", code(tables.kernel_tables(own, base))]
    if latencies:
        parts += ["## Latencies", code(tables.kernel_tables(latencies, base))]
    return parts + _origin(results)


def _comparisons(found: list[Figure], base: str) -> list[str]:
    parts = []
    for one in tables.comparisons(found, base):
        result = one.result
        parts += [
            f"## {result.scheduler} against {result.base}",
            table(tables.header(result), [[_cell(c) for c in row] for row in one.rows]),
            one.sentence,
        ]
    if parts:
        parts += [comparison.RULE, "\n".join(f"- {text}" for text in comparison.meanings(found))]
    return parts


def _origin(results: Results) -> list[str]:
    parts = []
    if failures := results.failures:
        names = dict.fromkeys(
            f"{r.workload} {r.variant} under {r.scheduler}: {(r.error or '').splitlines()[0]}"
            for r in failures
        )
        parts += ["## Did not run", "\n".join(f"- {name}" for name in names)]
    if results.environments:
        rows = [list(row) for row in tables.environment_rows(results.environments)]
        commands = "\n".join(tables.commands(results.environments))
        parts += ["## Where and how", table(["", ""], rows), code(commands)]
    return parts


def _cell(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.kind in _BOLD and cell.text in _BOLD else cell.text
