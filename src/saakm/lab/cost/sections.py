# SPDX-License-Identifier: GPL-2.0
"""Figures as Markdown, with pictures in files beside it."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from ...builder.about import series_of
from ...model.cost_rows import Row
from ...view.markdown import code, table
from . import bars, curves, where
from .axes import AXES, axis_of
from .goals import verdicts
from .operations import meaning
from .printed import by_operation, compared, compared_with, kernel_of
from .where import Profile

_TOP_FUNCTIONS = 40


def write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = path.with_name(f"{path.stem}-{axis_of(rows) or 'operations'}.svg")
    path.write_text("\n\n".join(section("Cost", rows, image)) + "\n")


def section(title: str, rows: list[Row], image: Path) -> list[str]:
    """Makes the section of one run, and draws its picture."""
    axis = axis_of(rows)
    (curves if axis else bars).draw(rows, [image])
    parts = _along(rows) if axis else _operations(rows)
    return [
        f"## {title}: instructions an operation, {_of_what(rows)}",
        *parts,
        f"![the same as a picture]({image.name})",
        *_goals(rows),
        code(command(rows)),
    ]


def _operations(rows: list[Row]) -> list[str]:
    meanings = [f"- `{name}`: {meaning(name)}" for name in by_operation(rows)]
    return [_table_of(rows), "\n".join(meanings)]


def _of_what(rows: list[Row]) -> str:
    if axis := axis_of(rows):
        return f"by {AXES[axis].what}"
    cpus = " or ".join(str(n) for n in sorted({row.cpus for row in rows}))
    kernel = "" if rows[0].patched else f", {kernel_of(rows[0])}"
    return f"on {cpus} CPUs{kernel}, with the difference to {compared_with(rows).scheduler}"


def _table_of(rows: list[Row]) -> str:
    """A line an operation, a column a scheduler."""
    schedulers = list(dict.fromkeys(row.scheduler for row in rows))
    lines = []
    for name, group in by_operation(rows).items():
        zero = compared_with(group)
        cells = {row.scheduler: compared(row, zero) for row in group}
        lines.append([name, *(cells.get(s, "") for s in schedulers)])
    return table(["operation", *schedulers], lines, figures=True)


def _along(rows: list[Row]) -> list[str]:
    parts = []
    for name, group in by_operation(rows).items():
        if not axis_of(group):
            continue
        values, figures = curves.table_of(group)
        lines = [
            [curves.described(s), *(f"{points[v]:,.0f}" if v in points else "" for v in values)]
            for s, points in figures.items()
        ]
        parts += [
            f"`{name}`: {meaning(name)}",
            table(["scheduler", *(f"{value:,}" for value in values)], lines, figures=True),
        ]
    return parts


def _goals(rows: list[Row]) -> list[str]:
    found = verdicts(rows)
    lines = [[v.goal, v.measured, "yes" if v.reached else "**no**"] for v in found]
    return [table(["goal", "measured", "reached"], lines, figures=True)] if found else []


def functions(profiles: list[Profile]) -> list[str]:
    parts = []
    for operation, chosen in where.by_operation(profiles).items():
        names = [p.scheduler for p in chosen]
        lines = [[f"`{line[0]}`", *line[1:]] for line in where.table(chosen, _TOP_FUNCTIONS)]
        parts += [
            f"## Where they go: `{operation}` under {', '.join(names)}, by function",
            table(["part", *names], where.parts(chosen), figures=True),
            table(["function", *names], lines, figures=True),
            code(
                f"saakm cost --where --op {operation} --schedulers {shlex.quote(','.join(names))}"
            ),
        ]
    return parts


def command(rows: list[Row]) -> str:
    """That makes these rows again."""
    first, axis = rows[0], axis_of(rows)
    words = ["saakm cost"]
    words += (
        [f"--axis {axis} --values {_list(AXES[axis].value(row) for row in rows)}"] if axis else []
    )
    words += [
        f"--op {_list(row.operation for row in rows)}",
        f"--schedulers {shlex.quote(_list(row.scheduler for row in rows))}",
    ]
    words += [f"--cpus {first.cpus}"] if axis != "cpus" else []
    words += [f"--runnable {first.runnable}"] if first.runnable and axis != "runnable" else []
    words += [f"--seeds {len(first.seeds)}"] if len(first.seeds) > 1 else []
    words += ["--switches"] if first.switches else []
    words += [f"--features {_list(first.features)}"] if first.features else []
    words += [] if first.patched else [f"--kernel {series_of(first.kernel)}"]
    return " ".join([*words, "--json"])


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, dict.fromkeys(values)))
