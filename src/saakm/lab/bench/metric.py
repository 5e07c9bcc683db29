# SPDX-License-Identifier: GPL-2.0
"""The figure in what a program prints."""

import re
import statistics
from collections.abc import Callable

from ...base.errors import SaakmError
from ...model.results import Row
from ...model.workload import ELAPSED, Table, Variant

_PICK: dict[str, Callable[[list[float]], float]] = {
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": statistics.fmean,
    "max": max,
}


def value_of(variant: Variant, output: str, seconds: float) -> float:
    if variant.metric == ELAPSED:
        return seconds * variant.scale
    found = re.findall(variant.metric, output, re.M)
    if not found:
        raise _no_figure(variant, variant.metric, output)
    value = _PICK[variant.pick]([_number(text) for text in found]) * variant.scale
    if value <= 0 and variant.better == "higher":
        raise _nothing_done(variant, f"{value:g} {variant.unit} after {seconds:.1f} s")
    return value


def rows_of(variant: Variant, output: str, counts: bool) -> tuple[Row, ...]:
    """The figures of its tables. `counts`: by a clock that counts instructions."""
    return tuple(row for table in variant.tables for row in _rows(variant, table, output, counts))


def _rows(variant: Variant, table: Table, output: str, counts: bool) -> list[Row]:
    rows = []
    for match in re.finditer(table.metric, output, re.M):
        found = match.groupdict()
        label = "-".join(filter(None, [found.get("row"), variant.point]))
        row = Row(
            table=table.name,
            label=label,
            value=_number(found["value"]),
            unit=table.unit,
            better=table.better,
            meaning="cost" if counts and table.meaning == "time" else table.meaning,
            stddev=_number(found["stddev"]) if found.get("stddev") else None,
        )
        if row.value <= 0 and row.better == "higher":
            raise _nothing_done(variant, f"{row.label}: {row.value:g} {row.unit}")
        rows.append(row)
    if not rows:
        raise _no_figure(variant, table.metric, output)
    return rows


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _no_figure(variant: Variant, pattern: str, output: str) -> SaakmError:
    return SaakmError(
        f"{variant.workload} {variant.name} printed no figure",
        f"nothing matches '{pattern}' in: {output.strip()[-500:] or 'nothing at all'}",
        f"try it by hand: saakm run none -- sh -c '{variant.command.splitlines()[-1]}'",
    )


def _nothing_done(variant: Variant, how_much: str) -> SaakmError:
    return SaakmError(
        f"{variant.workload} {variant.name} got nothing done",
        how_much,
        "its threads starved, or waited for each other by spinning",
    )
