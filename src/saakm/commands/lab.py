# SPDX-License-Identifier: GPL-2.0
"""saakm lab: experiments, each of which is a file."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..base.files import make_output, write_text
from ..lab.bench.conduct import conduct as conduct_bench
from ..lab.cost import conduct as conduct_cost
from ..lab.cost.where import as_rows
from ..model.experiment import DIRECTORY, Bench, Cost, Experiment, names, read
from ..model.schema import plain
from ..view.terminal import label, table
from ..vm.options import VmOptions


def lab(
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT...", help="Names in lab/, or files.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Directory for the results.")] = Path(
        "results"
    ),
    list_them: Annotated[bool, typer.Option("--list", help="Show the experiments.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Run experiments, and keep the results: OUT/NAME.json, or a directory OUT/NAME.

    An experiment that has results is not run again; an interrupted one is continued.
    """
    if list_them:
        _list(as_json)
        return
    if not wanted:
        raise SaakmError(
            "no experiment is named",
            f"there are {', '.join(names())}",
            "saakm lab NAME..., or --list",
        )
    # All are read before the first one takes an hour.
    chosen = {(file := _file(word)).stem: read(file) for word in wanted}
    make_output(out)
    made, failures = [], []
    for name, experiment in chosen.items():
        print(f"saakm: {name}: {experiment.what}", file=sys.stderr)
        if experiment.cost:
            made.append(_cost(experiment.cost, out / f"{name}.json"))
        if experiment.bench:
            made.append(out / name)
            failures += _bench(experiment.bench, made[-1])
    print(json.dumps([*map(str, made)]) if as_json else "\n".join(map(str, made)))
    if failures:
        raise SaakmError(
            f"{len(failures)} runs failed",
            "\n".join(failures),
            "the same command tries them again; the others are kept",
        )


def _file(word: str) -> Path:
    if word.endswith(".toml"):
        return Path(word)
    if word not in names():
        raise SaakmError(
            f"there is no experiment '{word}'",
            f"there are {', '.join(names())}",
            f"saakm lab NAME, or FILE.toml; {DIRECTORY}/README.md says what such a file holds",
        )
    return DIRECTORY / f"{word}.toml"


def _cost(spec: Cost, result: Path) -> Path:
    if result.exists():
        print(f"saakm: {result} is there already", file=sys.stderr)
        return result
    course = conduct_cost.prepare(spec)
    rows = as_rows(conduct_cost.profiles(course)) if spec.where else conduct_cost.rows(course)
    write_text(result, json.dumps(plain(rows), indent=2) + "\n")
    return result


def _bench(spec: Bench, result: Path) -> list[str]:
    vm = VmOptions(
        topology=spec.topology,
        memory=spec.memory,
        deterministic=spec.deterministic,
        seed=spec.seed,
        config=spec.config,
    )
    return conduct_bench(spec, vm, result, resume=True).failures


def _list(as_json: bool) -> None:
    found = {name: read(DIRECTORY / f"{name}.toml") for name in names()}
    if as_json:
        print(json.dumps({name: plain(experiment) for name, experiment in found.items()}, indent=2))
        return
    shown = table("", label("experiment"), label("kind"), "what it tells")
    for name, experiment in found.items():
        shown.add_row(name, _kind(experiment), experiment.what)
    Console().print(shown)


def _kind(experiment: Experiment) -> str:
    return "cost" if experiment.cost else "applications"
