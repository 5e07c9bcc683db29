# SPDX-License-Identifier: GPL-2.0
"""saakm cost: what a scheduling decision costs, in instructions."""

import json
import sys
from pathlib import Path

from rich.console import Console

from ..base.errors import SaakmError
from ..base.progress import meter
from ..lab.cost import axes, bars, curves, flame, goals, printed, sections
from ..lab.cost import baseline as baselines
from ..lab.cost import where as profiling
from ..lab.cost.baseline import FLOOR, Baseline, Change
from ..lab.cost.measure import Conditions, Row, as_json, measure
from ..lab.cost.operations import chosen_operations, chosen_schedulers, refuse_runnable
from ..lab.cost.target import Target, find_target
from . import cost_options as options
from .cost_options import Output


def cost(
    op: options.Op = "",
    schedulers: options.Schedulers = "",
    axis: options.Axis = "",
    values: options.Values = "",
    cpus: options.Cpus = 2,
    seed: options.Seed = 1,
    seeds: options.Seeds = 1,
    runnable: options.Runnable = 0,
    load: options.Load = None,
    switches: options.Switches = False,
    scale: options.Scale = 100,
    vmlinux: options.Vmlinux = None,
    baseline: options.BaselineFile = None,
    write_baseline: options.WriteBaseline = None,
    svg: options.Svg = None,
    png: options.Png = None,
    markdown: options.Markdown = None,
    where: options.Where = False,
    flame: options.Flame = None,
    top: options.Top = 40,
    json_rows: options.Json = False,
) -> None:
    """Count the executed instructions of scheduling operations, one boot a scheduler."""
    out = Output(json_rows, top, svg, png, markdown, flame)
    conditions = Conditions(cpus, runnable, switches, _besides(load or []), scale)
    numbers = list(range(seed, seed + seeds))
    if axis:
        _refuse_with_axis(baseline, write_baseline, where, flame, runnable)
        _along_axis(axis, values, op, schedulers, conditions, numbers, vmlinux, out)
        return
    before = baselines.read(baseline) if baseline else None
    if before:
        # Without its conditions the file would have nothing to compare.
        conditions, numbers = before.conditions, before.seeds
    operations = _operations(op, conditions, before)
    if schedulers:
        chosen_schedulers(schedulers, patched=True)  # before a kernel is built for nothing
    target = find_target(vmlinux)
    names = (
        before.schedulers
        if before and not schedulers
        else chosen_schedulers(schedulers, target.patched)
    )
    other = baselines.difference(before, target.identity) if before else ""
    if baseline and before and other and not (write_baseline or where or flame):
        names = _for_ratios(baseline, before, operations, names, other)
    if conditions.runnable:
        refuse_runnable(operations, names)
    if where or flame:
        _where(target, names, operations, conditions, seed, out)
        return
    rows = _measure(target, [(name, operations, conditions) for name in names], numbers)
    _tell(rows, out)
    if write_baseline:
        baselines.write(write_baseline, target.identity, rows)
    if before:
        console = Console(stderr=json_rows)
        ratios = baselines.ratio_changes(before, rows, target.identity)
        counts = [] if other else baselines.changes(before, rows)
        _compare([counts, ratios], None if write_baseline else baseline, console)


def _for_ratios(
    file: Path, before: Baseline, operations: list[str], names: list[str], reason: str
) -> list[str]:
    """Counts of another kernel say nothing; what they are beside SCHED_FIFO's does."""
    baselines.refuse_without_floor(file, before, operations, reason)
    print(f"saakm: {file}: {reason}; only ratios to {FLOOR}'s are compared", file=sys.stderr)
    return list(dict.fromkeys([FLOOR, *names]))


def _compare(kinds: list[list[Change]], file: Path | None, console: Console) -> None:
    """With a file, what got dearer is an error."""
    found = [change for changes in kinds for change in changes]
    if file:
        baselines.refuse_incomparable(found)
    for changes in kinds:
        printed.show_changes(changes, console)
    if file:
        baselines.refuse_dearer(file, found)


def _refuse_with_axis(*others: object) -> None:
    if any(others):
        raise SaakmError(
            "--axis stands alone",
            "it varies what the other options fix",
            "leave out --baseline, --write-baseline, --where, --flame, --runnable",
        )


def _along_axis(
    name: str,
    values: str,
    op: str,
    schedulers: str,
    conditions: Conditions,
    seeds: list[int],
    vmlinux: Path | None,
    out: Output,
) -> None:
    axis = axes.chosen_axis(name)
    where = axes.chosen_values(axis, values)
    most = axis.conditions(conditions, where[-1]).cpus
    operations = chosen_operations(op or axis.operations, most)
    # What is wrong is said before a kernel is built.
    chosen_schedulers(schedulers or axis.schedulers, patched=True)
    target = find_target(vmlinux)
    names = chosen_schedulers(schedulers or axis.schedulers, target.patched)
    boots = list(axes.points(axis, where, names, operations, conditions))
    _tell(_measure(target, boots, seeds), out)


def _tell(rows: list[Row], out: Output) -> None:
    varies = axes.axis_of(rows)
    if out.json:
        print(json.dumps(as_json(rows), indent=2))
    else:
        (curves if varies else printed).show(rows, Console())
        printed.show_verdicts(goals.verdicts(rows), Console())
    if out.pictures:
        (curves if varies else bars).draw(rows, out.pictures)
    if out.markdown:
        sections.write(out.markdown, rows)


def _where(
    target: Target,
    names: list[str],
    operations: list[str],
    conditions: Conditions,
    seed: int,
    out: Output,
) -> None:
    if out.flame:
        flame.prepare()
    profiles = []
    with meter("counting", len(names) * len(operations)) as progress:
        for operation in operations:
            for name in names:
                progress.describe(f"{operation} {name}")
                profiles.append(profiling.profile(target, name, operation, conditions, seed))
                progress.advance()
    if out.json:
        print(json.dumps(profiling.as_json(profiles), indent=2))
    else:
        profiling.show(profiles, out.top, Console())
    if out.flame:
        flame.draw(profiles, out.flame)


def _besides(load: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in load for name in names.split(",") if name))


def _operations(text: str, conditions: Conditions, before: Baseline | None) -> list[str]:
    if before and not text:
        return before.operations
    return chosen_operations(
        text or ("yield,crowd" if conditions.runnable else ""), conditions.cpus
    )


def _measure(
    target: Target, boots: list[tuple[str, list[str], Conditions]], seeds: list[int]
) -> list[Row]:
    rows = []
    total = sum(len(operations) for _, operations, _ in boots) * len(seeds)
    with meter("measuring", total) as progress:
        for name, operations, conditions in boots:
            progress.describe(name)
            rows += measure(target, name, operations, conditions, seeds, progress.advance)
    return rows
