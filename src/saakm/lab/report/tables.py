# SPDX-License-Identifier: GPL-2.0
"""What stands in the tables of a report, whatever it is written in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model.cost_rows import Row
from ...model.results import EnvironmentRecord, Shape
from ..bench import comparison, kernel_table, stats
from ..bench.figures import Figure, Tally, schedulers, tally
from ..cost.operations import meaning
from ..cost.printed import by_operation, compared


@dataclass(frozen=True)
class Cell:
    text: str
    kind: str = ""  # won, lost, noise: how it may be coloured


@dataclass(frozen=True)
class Comparison:
    """One scheduler against the baseline, a line a figure."""

    result: Tally
    sentence: str
    rows: list[list[Cell]]


_KINDS = {stats.WON: "won", stats.LOST: "lost", stats.NOISE: "noise", stats.UNKNOWN: "noise"}
COMPARISON_HEADER = (
    "workload",
    "unit, better",
    "{base}",
    "{scheduler}",
    "gain",
    "95 %",
    "switches",
    "verdict",
)


def comparisons(found: Sequence[Figure], base: str) -> list[Comparison]:
    names = schedulers(found, base)
    results = [tally(found, names[0], name) for name in names[1:]]
    return [
        Comparison(r, comparison.sentence(r), _rows(found, r)) for r in results if r.differences
    ]


def _rows(found: Sequence[Figure], result: Tally) -> list[list[Cell]]:
    rows = []
    for figure in found:
        if figure.name not in result.differences:
            continue
        kind = _KINDS[result.differences[figure.name].verdict]
        first = [figure.name, f"{figure.unit}, {'less' if figure.better == 'lower' else 'more'}"]
        rows.append(
            [Cell(text) for text in first]
            + [Cell(text, kind) for text in comparison.gain_cells(figure, result)]
        )
    return rows


def header(result: Tally) -> list[str]:
    return [word.format(base=result.base, scheduler=result.scheduler) for word in COMPARISON_HEADER]


def kernel_tables(found: Sequence[Figure], base: str) -> str:
    return kernel_table.plain(found, schedulers(found, base))


def cost_names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.scheduler for row in rows))


def cost_rows(rows: Sequence[Row], base: str) -> list[tuple[str, str, list[Cell]]]:
    """An operation, what it is, and each scheduler's instructions with the difference to `base`."""
    lines = []
    for name, group in by_operation(list(rows)).items():
        by_name = {row.scheduler: row for row in group}
        zero = by_name.get(base)
        cells = [_cost_cell(by_name.get(scheduler), zero) for scheduler in cost_names(rows)]
        lines.append((name, meaning(name), cells))
    return lines


def _cost_cell(row: Row | None, zero: Row | None) -> Cell:
    if not row:
        return Cell("-")
    change = row.instructions - zero.instructions if zero else 0
    return Cell(compared(row, zero), "won" if change < 0 else "lost" if change > 0 else "")


def environment_rows(records: Sequence[EnvironmentRecord]) -> list[tuple[str, str]]:
    """The same thing is said once, also if ten invocations found it."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for name, value in _facts(record):
            found.setdefault(name, {})[value] = None
    return [(name, "; ".join(values)) for name, values in found.items()]


def _facts(record: EnvironmentRecord) -> list[tuple[str, str]]:
    machine, host = record.machine, record.host
    emulated = machine.emulated
    facts: list[tuple[str, Any]] = [
        (
            "kernel",
            f"{record.kernel}" + (f", config {record.config}" if record.config else ""),
        ),
        ("Linux", str(record.linux).removeprefix("Linux ")),
        ("commit", record.commit),
        ("machine", _machine(machine)),
        (
            "time",
            "executed instructions"
            if machine.deterministic
            else "emulated: ratios only"
            if emulated
            else "of the clock",
        ),
        ("QEMU", record.qemu),
        ("host", f"{host.cpus} CPUs, {host.cpu}, Linux {host.kernel}"),
        ("order seed", record.seed),
    ]
    return [(name, str(value)) for name, value in facts if value not in ("", None)]


def _machine(machine: Shape) -> str:
    if machine.on == "host":
        return f"this host, {machine.cpus} CPUs"
    return f"guest {machine.topology}, {machine.cpus} CPUs, {machine.accel}"


def commands(records: Sequence[EnvironmentRecord]) -> list[str]:
    return list(dict.fromkeys(record.command for record in records))
