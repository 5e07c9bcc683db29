# SPDX-License-Identifier: GPL-2.0
"""Figures as Markdown, with pictures in files beside it.

    python -m saakm.cost.markdown OUT.md ROWS.json [ROWS.json ...]

makes one page of what several runs of `saakm cost --json` have printed.
"""

import json
import sys
from pathlib import Path

from . import curves, picture
from .axes import AXES, axis_of
from .goals import verdicts
from .measure import Row
from .operations import OPERATIONS
from .show import by_operation, compared, compared_with


def write(path: Path, runs: list[list[Row]]) -> None:
    """A section a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = []
    for rows in runs:
        axis = axis_of(rows)
        image = path.with_name(f"{path.stem}-{axis or 'operations'}.svg")
        (curves if axis else picture).draw(rows, [image])
        sections += [_along(rows, image.name) if axis else _operations(rows, image.name)]
        if goals := _goals(rows):
            sections.append(goals)
    path.write_text("\n\n".join(sections) + "\n")


def _operations(rows: list[Row], image: str) -> str:
    meanings = [f"- `{name}`: {OPERATIONS[name].what}" for name in by_operation(rows)]
    return "\n".join([f"## {heading(rows)}", "", operations(rows), "", *meanings, "",
                      f"![instructions an operation]({image})"])


def heading(rows: list[Row]) -> str:
    cpus = " or ".join(str(n) for n in sorted({row.cpus for row in rows}))
    base = compared_with(rows).scheduler
    return f"Instructions an operation ({cpus} CPUs; in brackets the difference to {base})"


def operations(rows: list[Row]) -> str:
    """A line an operation, a column a scheduler."""
    schedulers = list(dict.fromkeys(row.scheduler for row in rows))
    lines = [_line(["operation", *schedulers]), _rule(len(schedulers))]
    for name, group in by_operation(rows).items():
        zero = compared_with(group)
        cells = {row.scheduler: compared(row, zero) for row in group}
        lines.append(_line([name, *(cells.get(s, "") for s in schedulers)]))
    return "\n".join(lines)


def _along(rows: list[Row], image: str) -> str:
    what = AXES[axis_of(rows)].what
    lines = [f"## Instructions an operation, by {what}"]
    for name, group in by_operation(rows).items():
        if not axis_of(group):
            continue
        values, figures = curves.table_of(group)
        lines += ["", f"`{name}`: {OPERATIONS[name].what}", "",
                  _line(["scheduler", *(f"{value:,}" for value in values)]), _rule(len(values))]
        for scheduler, points in figures.items():
            cells = [f"{points[v]:,.0f}" if v in points else "" for v in values]
            lines.append(_line([curves.label(scheduler), *cells]))
    return "\n".join([*lines, "", f"![instructions by {what}]({image})"])


def _goals(rows: list[Row]) -> str:
    found = verdicts(rows)
    if not found:
        return ""
    lines = [_line(["goal", "measured", "reached"]), "| --- | ---: | --- |"]
    lines += [_line([v.goal, v.measured, "yes" if v.reached else "**no**"]) for v in found]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(numbers: int) -> str:
    return _line(["---", *["---:"] * numbers])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python -m saakm.cost.markdown OUT.md ROWS.json [ROWS.json ...]")
    out, *files = map(Path, sys.argv[1:])
    write(out, [[Row(**row) for row in json.loads(file.read_text())] for file in files])
