# SPDX-License-Identifier: GPL-2.0
"""saakm cost: what a scheduling decision costs, in instructions."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .. import initramfs, kernel, modules, paths
from ..errors import SaakmError
from ..progress import meter

# No policy is loaded for these.
_CLASSES = ("eevdf", "sched_fifo")
_DEFAULT = "eevdf,sched_fifo,fifo,rr,prio,vtime"


@dataclass(frozen=True)
class Row:
    """Instructions of a pipe round trip: two wakeups and two switches, on one CPU."""

    scheduler: str
    operation: str
    instructions: float
    loaded: list[str]


def cost(
    schedulers: Annotated[
        str, typer.Option("--schedulers", help="Comma list: eevdf, sched_fifo, policies.")
    ] = _DEFAULT,
    load: Annotated[
        str, typer.Option("--load", help="Policies to load besides, without threads.")
    ] = "",
    vmlinux: Annotated[
        Path | None, typer.Option("--kernel", help="Another vmlinux, to compare with.")
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", help="Round trips.")] = 20000,
    cpus: Annotated[int, typer.Option("--cpus", help="Number of CPUs.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another replicate.")] = 1,
    switches: Annotated[
        bool, typer.Option("--switches", help="With the checks of /sys/kernel/saakm on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Measure a pipe round trip in executed instructions, one boot a scheduler."""
    built = kernel.build_kernel("base")
    modules.build_modules(built)
    program = initramfs.compile_static(paths.GUEST_FILES / "cost_init.c")
    names = schedulers.split(",")
    besides = [name for name in load.split(",") if name]
    rows = []
    with meter("measuring", len(names)) as progress:
        for name in names:
            progress.describe(name)
            loaded = besides + ([name] if name not in (*_CLASSES, *besides) else [])
            files = [modules.module_file(built, policy) for policy in loaded]
            append = f"scheduler={name} rounds={rounds}" + (" switches=1" if switches else "")
            if files:
                append += " modules=" + ",".join(file.name for file in files)
            text = initramfs.run(vmlinux or built.vmlinux, program, files, append, cpus=cpus, seed=seed)
            rows.append(Row(name, "pipe round trip", _result(name, text), loaded))
            progress.advance()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _report(rows)


def _result(name: str, text: str) -> float:
    if match := re.search(r"^RESULT ([\d.]+)", text, re.M):
        return float(match[1])
    said = re.search(r"^ERROR (.*)", text, re.M)
    raise SaakmError(
        f"{name} could not be measured",
        said[1].strip() if said else "the guest printed no result:\n" + text[-2000:],
        "try it by hand: saakm run " + name + " -- true",
    )


def _report(rows: list[Row]) -> None:
    base = next((row for row in rows if row.scheduler == "sched_fifo"), rows[0])
    table = Table(title="instructions per pipe round trip on one CPU")
    for column in ("scheduler", "loaded", "instructions", f"to {base.scheduler}"):
        table.add_column(column, justify="right" if column[0] in "it" else "left")
    for row in rows:
        table.add_row(row.scheduler, " ".join(row.loaded), f"{row.instructions:,.0f}",
                      f"{row.instructions / base.instructions:.3f}")
    Console().print(table)
