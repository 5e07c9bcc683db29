# SPDX-License-Identifier: GPL-2.0
"""saakm bench --list: what there is to run."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Column

from ...model.workload import Workload
from ...view.terminal import table
from . import packages


def rows(known: Iterable[Workload]) -> list[dict[str, Any]]:
    return [
        {
            "name": workload.name,
            "what": workload.what,
            "input": workload.input,
            "paper": workload.paper,
            "packages": list(workload.packages),
            "missing": packages.missing(workload.packages),
            "variants": [
                {
                    "name": v.name,
                    "what": v.what,
                    "unit": v.unit,
                    "better": v.better,
                    "meaning": v.meaning,
                    "command": v.command,
                    "tables": [
                        {key: getattr(one, key) for key in ("name", "unit", "better", "meaning")}
                        for one in v.tables
                    ],
                }
                for v in workload.variants
            ],
        }
        for workload in known
    ]


def show(known: Iterable[Workload], console: Console) -> None:
    columns = ("workload", "what it does, and its input", "variants", "figure", "programs")
    shown = table("", *(Column(name, overflow="fold") for name in columns))
    for workload in known:
        absent = packages.missing(workload.packages)
        state = f"[yellow]to install: {' '.join(absent)}[/]" if absent else "installed"
        variants = list(dict.fromkeys(_family(v.family, v.point) for v in workload.variants))
        figures = dict.fromkeys(
            f"{one.meaning}: {one.unit}, {'less' if one.better == 'lower' else 'more'} is better"
            for v in workload.variants
            for one in v.tables or (v,)
        )
        shown.add_row(
            workload.name,
            f"{workload.what}\n[dim]{workload.input}[/]",
            "\n".join(variants),
            "\n".join(figures),
            state,
        )
        shown.add_section()
    console.print(shown)


def _family(family: str, point: str) -> str:
    return f"{family}-{point}" if point else family
