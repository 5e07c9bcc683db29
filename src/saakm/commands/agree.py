# SPDX-License-Identifier: GPL-2.0
"""saakm agree: the same scripts in the simulator and in a guest, step by step."""

import itertools
import json
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..base.files import make_output
from ..base.progress import Meter, meter
from ..lab.agreement.conduct import Result, guest_for, run_in_guest, run_simulated, verdict
from ..lab.agreement.scenario import Scenario, find, read_all
from ..sim.verdict import statuses
from ..view.terminal import label, table


class Side(StrEnum):
    SIMULATOR = "simulator"
    GUEST = "guest"


@statuses()
def agree(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Scenarios of --list.", show_default="all"),
    ] = None,
    only: Annotated[
        Side | None, typer.Option("--only", help="Run one of the two, and compare nothing.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Directory for the traces, and what they tell.")
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show the scenarios.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Play scenarios in the simulator and in a guest, and compare what each thread and CPU does.

    The order of steps has to be the same, and their times nearly; the first difference is shown, and
    the status is 1. What single calls of the class answer is compared by saakm replay.
    """
    scenarios = [find(name) for name in dict.fromkeys(names or ())] or read_all()
    if list_them:
        _list(scenarios, as_json)
        return
    if keep:
        make_output(keep)
    steps = len(scenarios) * (1 if only else 2)
    results: list[Result] = []
    with meter("playing scenarios", steps) as progress:
        by_machine = sorted(scenarios, key=lambda one: one.machine)
        for _, group in itertools.groupby(by_machine, key=lambda one: one.machine):
            for result in _play(list(group), only, progress):
                results.append(result)
                if keep:
                    result.keep(keep)
                if not as_json:
                    typer.echo(verdict(result))
    failed = sum(not result.agrees for result in results)
    if as_json:
        print(json.dumps([_document(result) for result in results], indent=2))
    else:
        word = "run" if only else "agree"
        typer.echo(f"{len(results) - failed} of {len(results)} scenarios {word}")
    raise typer.Exit(failed > 0)


def _play(scenarios: list[Scenario], only: Side | None, progress: Meter) -> list[Result]:
    """Those of one machine: a guest is booted once for them."""
    results = [Result(one) for one in scenarios]

    def each(step: Callable[[Result], None]) -> None:
        for result in results:
            progress.describe(result.scenario.name)
            try:
                step(result)
            except SaakmError as error:
                result.faults.append(str(error))
            progress.advance()

    if only is not Side.GUEST:
        each(run_simulated)
    if only is not Side.SIMULATOR:
        with guest_for(scenarios[0].topology) as guest:
            each(partial(run_in_guest, guest))
    return results


def _list(scenarios: list[Scenario], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_listed(one) for one in scenarios], indent=2))
        return
    shown = table("", label("scenario"), label("policy"), label("machine"), "what it shows")
    for one in scenarios:
        shown.add_row(one.name, " ".join(one.policies), one.machine, one.shows)
    Console().print(shown)


def _listed(one: Scenario) -> dict[str, Any]:
    policies = list(one.policies)
    return {"name": one.name, "policies": policies, "machine": one.machine, "shows": one.shows}


def _document(result: Result) -> dict[str, Any]:
    found = result.comparison
    difference = str(found.difference) if found and found.difference else None
    return {
        "name": result.scenario.name,
        "agrees": result.agrees if found else None,
        "steps": found.steps if found else None,
        "apart_ns": found.late_ns if found else None,
        "tries": result.tries,
        "difference": difference,
        "faults": result.faults,
    }
