# SPDX-License-Identifier: GPL-2.0
"""saakm cost: what a scheduling decision costs, in instructions."""

import json
import sys
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from ..base.errors import SaakmError
from ..base.files import check_output
from ..base.progress import meter
from ..builder import agents
from ..lab.cost import axes, bars, conduct, curves, decisions, flame, goals, printed, sections
from ..lab.cost import baseline as baselines
from ..lab.cost import where as profiling
from ..lab.cost.baseline import FLOOR, Baseline, Change
from ..lab.cost.conduct import Course
from ..model.cost_rows import Row
from ..model.experiment import Cost
from ..model.schema import plain
from ..view import plot
from ..view.terminal import widened
from . import cost_options as options
from .comma_lists import words
from .cost_options import Output
from .under import one_agent


def cost(
    op: options.Op = "",
    schedulers: options.Schedulers = "",
    agent: options.Agent = None,
    axis: options.Axis = "",
    values: options.Values = "",
    cpus: options.Cpus = 2,
    seed: options.Seed = 1,
    seeds: options.Seeds = 1,
    runnable: options.Runnable = 0,
    load: options.Load = None,
    switches: options.Switches = False,
    scale: options.Scale = 100,
    kernel: options.Kernel = "",
    features: options.Features = "",
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
    """Count the executed instructions of scheduling operations, in one boot for each scheduler."""
    out = Output(json_rows, top, svg, png, markdown, flame)
    _refuse_with_axis(axis, values, baseline, write_baseline, where, flame, runnable)
    plot.prepare(out.pictures)
    for file in filter(None, (flame, markdown, write_baseline)):
        check_output(file)
    spec = Cost(
        op=words(op),
        schedulers=agents.with_option(words(schedulers), one_agent(agent)),
        axis=axis,
        values=_numbers(values),
        cpus=cpus,
        seed=seed,
        seeds=seeds,
        runnable=runnable,
        load=words(",".join(load or [])),
        switches=switches,
        features=words(features),
        scale=scale,
    )
    before = baselines.read(baseline) if baseline else None
    course = conduct.prepare(_like(before, spec) if before else spec, kernel)
    if baseline and before and not write_baseline:
        baselines.refuse_another(baseline, before, course.target.about)
    if where or flame:
        _where(course, out)
        return
    other = baselines.difference(before, course.target.identity) if before else ""
    if baseline and before and other and not write_baseline:
        course = _for_ratios(baseline, before, course, other)
    rows = conduct.rows(course)
    _tell(rows, out)
    if write_baseline:
        baselines.write(write_baseline, course.target, rows)
    if before:
        console = Console(stderr=json_rows)
        ratios = baselines.ratio_changes(before, rows, course.target.identity)
        counts = [] if other else baselines.changes(before, rows)
        _compare([counts, ratios], None if write_baseline else baseline, console)


def _like(before: Baseline, spec: Cost) -> Cost:
    """Measures under the file's conditions: others could not be compared."""
    was = before.conditions
    return replace(
        spec,
        op=spec.op or tuple(before.operations),
        schedulers=spec.schedulers or tuple(before.schedulers),
        cpus=was.cpus,
        seed=before.seeds[0],
        seeds=len(before.seeds),
        runnable=was.runnable,
        load=was.besides,
        switches=was.switches,
        features=was.features,
        scale=was.scale,
    )


def _for_ratios(file: Path, before: Baseline, course: Course, reason: str) -> Course:
    """Counts of another kernel say nothing; what they are beside SCHED_FIFO's does."""
    baselines.refuse_without_floor(file, before, course.boots[0].operations, reason)
    print(f"saakm: {file}: {reason}; only ratios to {FLOOR}'s are compared", file=sys.stderr)
    return course.beginning_with(FLOOR)


def _compare(kinds: list[list[Change]], file: Path | None, console: Console) -> None:
    """Prints the changes. With a file, a regression is an error."""
    found = [change for changes in kinds for change in changes]
    if file:
        baselines.refuse_incomparable(found)
    for changes in kinds:
        printed.show_changes(changes, console)
    if file:
        baselines.refuse_regressions(file, found)


def _refuse_with_axis(axis: str, values: str, *others: object) -> None:
    if values and not axis:
        raise SaakmError(
            f"'{values}' are values of no axis", "none is named", "saakm cost --axis NAME"
        )
    if axis and any(others):
        raise SaakmError(
            "--axis stands alone",
            "it varies what the other options fix",
            "leave out --baseline, --write-baseline, --where, --flame, --runnable",
        )


def _tell(rows: list[Row], out: Output) -> None:
    varies = axes.axis_of(rows)
    if out.json:
        print(json.dumps(plain(rows), indent=2))
    else:
        (curves if varies else printed).show(rows, widened(Console()))
        printed.show_verdicts(goals.verdicts(rows), Console())
        decisions.show(decisions.decisions(rows), Console())
    if out.pictures:
        with meter("drawing"):
            (curves if varies else bars).draw(rows, out.pictures)
    if out.markdown:
        sections.write(out.markdown, rows)


def _where(course: Course, out: Output) -> None:
    if out.flame:
        flame.prepare()
    profiles = conduct.profiles(course)
    if out.json:
        print(json.dumps(plain(profiling.as_rows(profiles, course.target.about)), indent=2))
    else:
        profiling.show(profiles, out.top, widened(Console()))
        print(course.target.about)
    if out.flame:
        flame.draw(profiles, out.flame)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, words(text)))
    except ValueError as error:
        raise SaakmError(
            f"'{text}' are no values of an axis",
            str(error),
            "saakm cost --axis NAME --values 2,100,1000",
        ) from error
