# SPDX-License-Identifier: GPL-2.0
"""saakm bench: real applications under each scheduler, side by side."""

import json
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..base.files import check_output
from ..base.progress import meter
from ..builder import agents
from ..lab.bench import boxes, comparison, export, listing, schedulers
from ..lab.bench.conduct import conduct, found_in
from ..lab.bench.figures import Figure, figures
from ..lab.bench.figures import schedulers as schedulers_of
from ..lab.bench.runner import Bench
from ..model import experiment
from ..model.workload import Workload, load_all
from ..view import plot
from ..vm.options import VmOptions, with_vm_options
from .comma_lists import words
from .under import AgentOption, one_agent

_DEFAULT_OUT = Path("results")


class Where(StrEnum):
    GUEST = "guest"
    HOST = "host"


@with_vm_options("timeout")
def bench(
    vm: VmOptions,
    names: Annotated[
        str,
        typer.Option(
            "--workloads",
            show_default="all",
            help="Comma list of NAME or NAME:VARIANT, of workloads/. What needs a file system of its own is "
            "run only where its variant is named: dbench:xfs.",
        ),
    ] = "",
    points: Annotated[
        str,
        typer.Option(
            "--points",
            show_default="the workload's",
            help="Comma list of numbers, as of groups or clients, instead of the workloads' own.",
        ),
    ] = "",
    under: Annotated[
        str,
        typer.Option(
            "--schedulers",
            help="Comma list of NAME or NAME:SETTING, as fair:NEXT_BUDDY, rr:slice_us=500, user:rustland; "
            "the first is compared with.",
        ),
    ] = schedulers.DEFAULT,
    agent: AgentOption = None,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=experiment.ROUNDS.ge,
            max=experiment.ROUNDS.le,
            help="Runs under each scheduler.",
        ),
    ] = 5,
    warm_up: Annotated[
        bool, typer.Option("--warm-up/--no-warm-up", help="A first round that does not count.")
    ] = True,
    out: Annotated[Path, typer.Option("--out", help="Directory for the results.")] = _DEFAULT_OUT,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on in --out with what is not done yet.")
    ] = False,
    boot_each: Annotated[
        bool, typer.Option("--boot-each", help="A fresh guest for each run.")
    ] = False,
    latency: Annotated[
        bool,
        typer.Option(
            "--latency",
            help="Trace how long threads waited for a CPU, instead of the "
            "workload's own figure, which tracing disturbs.",
        ),
    ] = False,
    where: Annotated[
        Where, typer.Option("--on", help="host: this machine, if it runs SaaKM.")
    ] = Where.GUEST,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write a row a run.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw box plots.")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw box plots.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="Show the workloads.")] = False,
) -> None:
    """Run applications under each scheduler, interleaved, and compare the results.

    Results are kept run by run in --out: an interrupted command goes on with --resume.
    """
    if list_them:
        _list(load_all(), as_json)
        return
    pictures = [path for path in (svg, png) if path]
    plot.prepare(pictures)
    if csv:
        check_output(csv)
    spec = experiment.Bench(
        workloads=words(names),
        points=_points(points),
        schedulers=agents.with_option(words(under), one_agent(agent)),
        rounds=rounds,
        warm_up=warm_up,
        latency=latency,
        boot_each=boot_each,
        config=vm.config,
        seed=vm.seed,
    )
    done = conduct(spec, vm, out, resume, on_host=where is Where.HOST)
    order = [named.label for named in schedulers.chosen(spec.schedulers)]
    found, base = figures(found_in(out, latency), order), order[0]
    _report(found, base, Console(stderr=as_json))
    if as_json:
        print(json.dumps(export.rows(found, base), indent=2))
    if csv:
        export.write_csv(found, csv)
    if pictures:
        with meter("drawing"):
            boxes.draw(found, schedulers_of(found, base), pictures)
    _complain(done)


def _points(text: str) -> tuple[str, ...]:
    found = words(text)
    if wrong := [word for word in found if not re.match(experiment.POINT.pattern or "", word)]:
        raise typer.BadParameter(
            f"'{wrong[0]}' is no number from 1 to 999999", param_hint="--points"
        )
    return found


def _list(known: dict[str, Workload], as_json: bool) -> None:
    if as_json:
        print(json.dumps(listing.rows(known.values()), indent=2))
    else:
        listing.show(known.values(), Console())


def _report(found: list[Figure], base: str, console: Console) -> None:
    if found:
        comparison.show(found, base, console)


def tell_splats(bench_: Bench) -> None:
    for splat in bench_.splats:
        print(f"saakm: the kernel complained:\n{splat}", file=sys.stderr)


def _complain(bench_: Bench) -> None:
    tell_splats(bench_)
    if bench_.failures:
        raise SaakmError(
            f"{len(bench_.failures)} runs failed",
            "\n".join(bench_.failures),
            "--resume tries them again; the others are kept",
        )
