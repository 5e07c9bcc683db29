# SPDX-License-Identifier: GPL-2.0
"""saakm cost: what a scheduling decision costs, in instructions."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..cost import baseline as baselines
from ..cost import picture, show
from ..cost import where as profiling
from ..cost.baseline import Baseline
from ..cost.measure import Conditions, Row, as_json, measure
from ..cost.operations import OPERATIONS, chosen_operations, chosen_schedulers
from ..cost.target import Target, find_target
from ..errors import SaakmError
from ..progress import meter

_MOST_CPUS = 64
_MOST_RUNNABLE = 10000


def cost(
    op: Annotated[
        str, typer.Option("--op", help=f"Comma list: {', '.join(OPERATIONS)}.", show_default="all")
    ] = "",
    schedulers: Annotated[
        str,
        typer.Option("--schedulers", show_default="all",
                     help="Comma list: eevdf, sched_fifo, scx_fifo, policies."),
    ] = "",
    cpus: Annotated[int, typer.Option("--cpus", min=1, max=_MOST_CPUS)] = 2,
    seed: Annotated[int, typer.Option("--seed", help="The first seed.")] = 1,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Replicates, each with another seed.")
    ] = 1,
    runnable: Annotated[
        int,
        typer.Option("--runnable", min=0, max=_MOST_RUNNABLE,
                     help="More runnable threads on the CPU; for yield alone."),
    ] = 0,
    load: Annotated[
        str, typer.Option("--load", help="Policies to load besides, without threads.")
    ] = "",
    switches: Annotated[
        bool, typer.Option("--switches", help="With the checks of /sys/kernel/saakm on.")
    ] = False,
    scale: Annotated[
        int, typer.Option("--scale", min=1, help="Per cent of the usual number of rounds.")
    ] = 100,
    vmlinux: Annotated[
        Path | None,
        typer.Option("--kernel", help="Another vmlinux, in its build directory."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Measure what this file has; fail if more than 1 % dearer."),
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", help="Write such a file.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw a picture.")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a picture.")] = None,
    where: Annotated[
        bool, typer.Option("--where", help="By function of the kernel; one boot each, slower.")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=1, help="Functions to show.")] = 40,
    json_rows: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Count the executed instructions of scheduling operations, one boot a scheduler."""
    before = baselines.read(baseline) if baseline else None
    conditions = Conditions(cpus, runnable, switches, _besides(load), scale)
    numbers = list(range(seed, seed + seeds))
    if before:
        # Without its conditions the file would have nothing to compare.
        conditions, numbers = before.conditions, before.seeds
    operations = _operations(op, conditions, before)
    target = find_target(vmlinux)
    if before and not write_baseline:
        baselines.refuse_another_kernel(baseline, before, target.identity)
    names = (before.schedulers if before and not schedulers
             else chosen_schedulers(schedulers, target.patched))
    if where:
        _where(target, names, operations, conditions, seed, None if json_rows else top)
        return
    rows = _measure(target, names, operations, conditions, numbers)
    console = Console(stderr=json_rows)
    if json_rows:
        print(json.dumps(as_json(rows), indent=2))
    else:
        show.show(rows, console)
    if pictures := [path for path in (svg, png) if path]:
        picture.draw(rows, pictures)
    if write_baseline:
        baselines.write(write_baseline, target.identity, rows)
    if before:
        found = baselines.changes(before, rows)
        show.show_changes(found, console)
        if not write_baseline:
            baselines.refuse_dearer(baseline, found)


def _where(target: Target, names: list[str], operations: list[str], conditions: Conditions,
           seed: int, top: int | None) -> None:
    profiles = []
    with meter("counting", len(names) * len(operations)) as progress:
        for operation in operations:
            for name in names:
                progress.describe(f"{operation} {name}")
                profiles.append(profiling.profile(target, name, operation, conditions, seed))
                progress.advance()
    if top is None:
        print(json.dumps(profiling.as_json(profiles), indent=2))
    else:
        profiling.show(profiles, top, Console())


def _besides(load: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in load.split(",") if name))


def _operations(text: str, conditions: Conditions, before: Baseline | None) -> list[str]:
    if before and not text:
        return before.operations
    if conditions.runnable and not text:
        text = "yield"
    names = chosen_operations(text, conditions.cpus)
    if conditions.runnable and names != ["yield"]:
        raise SaakmError(
            f"--runnable says nothing about {names[0]}",
            "a policy may let the other threads run in between, and their work would be counted",
            "saakm cost --op yield --runnable " + str(conditions.runnable),
        )
    return names


def _measure(target: Target, names: list[str], operations: list[str], conditions: Conditions,
             seeds: list[int]) -> list[Row]:
    rows = []
    with meter("measuring", len(names) * len(seeds) * len(operations)) as progress:
        for name in names:
            progress.describe(name)
            rows += measure(target, name, operations, conditions, seeds, progress.advance)
    return rows
