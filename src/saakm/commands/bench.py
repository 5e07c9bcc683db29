# SPDX-License-Identifier: GPL-2.0
"""saakm bench: real applications under each scheduler, side by side."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..base.progress import meter
from ..builder import peers
from ..lab.bench import (
    boxes,
    comparison,
    environment,
    export,
    listing,
    packages,
    schedulers,
    store,
    workloads,
)
from ..lab.bench.figures import Figure, figures
from ..lab.bench.figures import schedulers as schedulers_of
from ..lab.bench.in_guest import InGuest
from ..lab.bench.on_host import OnHost
from ..lab.bench.rounds import plan
from ..lab.bench.runner import Bench, do_all
from ..lab.bench.workloads import Variant, Workload
from ..vm.options import VmOptions, with_machine_options

_DEFAULT_OUT = Path("results")


class Where(StrEnum):
    GUEST = "guest"
    HOST = "host"


@with_machine_options
def bench(
    vm: VmOptions,
    names: Annotated[
        str,
        typer.Option(
            "--workloads",
            show_default="all",
            help="Comma list of NAME or NAME:VARIANT, of workloads/.",
        ),
    ] = "",
    under: Annotated[
        str, typer.Option("--schedulers", help="Comma list; the first is compared with.")
    ] = schedulers.DEFAULT,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Runs under each scheduler.")] = 5,
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
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="Show the workloads.")] = False,
) -> None:
    """Run applications under each scheduler by turns and compare what they yield.

    Results are kept run by run in --out: an interrupted command goes on with --resume.
    """
    known = workloads.load_all()
    if list_them:
        _list(known, as_json)
        return
    variants = workloads.choose(names, known)
    chosen = schedulers.chosen_names(under)
    kept = store.Store(out)
    kept.begin(resume)
    packages.ensure(_packages(variants, known, latency))
    bench_ = _run(vm, where, variants, known, chosen, kept, rounds, warm_up, latency, boot_each)
    found = figures(
        record for record in store.runs(store.read(kept.path)) if record["traced"] == latency
    )
    _report(found, chosen[0], Console(stderr=as_json))
    if as_json:
        print(json.dumps(export.rows(found, chosen[0]), indent=2))
    if csv:
        export.write_csv(found, csv)
    if pictures := [path for path in (svg, png) if path]:
        boxes.draw(found, schedulers_of(found, chosen[0]), pictures)
    _complain(bench_)


def _list(known: dict[str, Workload], as_json: bool) -> None:
    if as_json:
        print(json.dumps(listing.rows(known.values()), indent=2))
    else:
        listing.show(known.values(), Console())


def _packages(variants: list[Variant], known: dict[str, Workload], latency: bool) -> list[str]:
    names = dict.fromkeys(variant.workload for variant in variants)
    wanted = [package for name in names for package in known[name].packages]
    return wanted + (["trace-cmd"] if latency else [])


def _run(
    vm: VmOptions,
    where: Where,
    variants: list[Variant],
    known: dict[str, Workload],
    names: list[str],
    kept: store.Store,
    rounds: int,
    warm_up: bool,
    latency: bool,
    boot_each: bool,
) -> Bench:
    policies = [name for name in names if name != schedulers.EEVDF and name not in peers.OURS]
    ext = any(name in peers.OURS for name in names)
    place = OnHost(policies) if where is Where.HOST else InGuest(vm, policies, ext)
    found = [schedulers.find(name, place.saakmctl) for name in names]
    bench_ = Bench(place, known, latency, boot_each)
    runs = bench_.todo(plan(variants, found, rounds, warm_up, vm.seed), kept.done())
    try:
        if runs:
            kept.append(
                environment.describe(place.kernel, place.machine, names, vm.seed, vm.config)
            )
            with meter("running", len(runs)) as progress:
                do_all(bench_, runs, kept.append, progress)
    finally:
        place.close()
    return bench_


def _report(found: list[Figure], base: str, console: Console) -> None:
    if found:
        comparison.show(found, base, console)


def _complain(bench_: Bench) -> None:
    for splat in bench_.splats:
        print(f"saakm: the kernel complained:\n{splat}", file=sys.stderr)
    if bench_.failures:
        raise SaakmError(
            f"{len(bench_.failures)} runs failed",
            "\n".join(bench_.failures),
            "--resume tries them again; the others are kept",
        )
