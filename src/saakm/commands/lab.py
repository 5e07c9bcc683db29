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
from ..lab.bench import conduct as bench
from ..lab.cost import conduct as conduct_cost
from ..lab.cost.where import as_rows
from ..lab.placement import conduct as placement
from ..lab.scale import conduct as scale
from ..model.experiment import (
    DIRECTORY,
    HINT,
    Bench,
    Cost,
    Experiment,
    Placement,
    Scale,
    names,
    read,
)
from ..model.schema import plain, refusal
from ..view.terminal import label, table
from ..vm.options import VmOptions
from .bench import tell_splats


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

    An experiment that has results is not run again. Of interrupted applications each run that
    ended is kept; interrupted costs begin anew.
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
    chosen = _read(wanted)
    make_output(out)
    made: list[Path] = []
    failures: list[str] = []
    for name, experiment in chosen.items():
        print(f"saakm: {name}: {experiment.what}", file=sys.stderr)
        try:
            result, failed = _run(experiment, out / name)
        except KeyboardInterrupt:
            print(f"saakm: {name} was interrupted: {_kept(experiment)}", file=sys.stderr)
            raise
        made.append(result)
        failures += failed
    print(json.dumps([*map(str, made)]) if as_json else "\n".join(map(str, made)))
    if failures:
        raise SaakmError(
            f"{len(failures)} runs failed",
            "\n".join(failures),
            "the same command tries them again; the others are kept",
        )


def _run(experiment: Experiment, result: Path) -> tuple[Path, list[str]]:
    """Where its results are, and what has failed. An experiment is of one kind."""
    if experiment.bench:
        return result, _bench(experiment.bench, result)
    if experiment.placement:
        return result, _placement(experiment.placement, result)
    file = result.with_name(f"{result.name}.json")
    if experiment.cost:
        return _cost(experiment.cost, file), []
    assert experiment.scale
    return _scale(experiment.scale, file), []


def _kept(experiment: Experiment) -> str:
    if experiment.bench or experiment.placement:
        return "runs that ended are kept, and the same command goes on with the next"
    return "nothing of it is kept, and the same command begins it anew"


def _read(wanted: list[str]) -> dict[str, Experiment]:
    """By name. All are read, and what they name is looked for, before the first one takes an hour."""
    found: dict[str, Experiment] = {}
    for file in map(_file, wanted):
        if file.stem in found:
            raise SaakmError(
                f"two experiments are called '{file.stem}'",
                "what they yield would have one name",
                "name each once, or rename one of the files",
            )
        found[file.stem] = read(file)
        _refuse_unknown(file, found[file.stem])
    return found


def _refuse_unknown(file: Path, experiment: Experiment) -> None:
    try:
        if experiment.cost:
            conduct_cost.check(experiment.cost)
        if experiment.bench:
            bench.check(experiment.bench)
        if experiment.scale:
            scale.check(experiment.scale)
        if experiment.placement:
            placement.check(experiment.placement)
    except SaakmError as error:
        raise refusal(file, "an experiment", f"{error.what}; {error.why}", HINT) from error


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
    if not _there(result):
        course = conduct_cost.prepare(spec)
        if spec.where:
            rows = plain(as_rows(conduct_cost.profiles(course), course.target.about))
        else:
            rows = plain(conduct_cost.rows(course))
        write_text(result, json.dumps(rows, indent=2) + "\n")
    return result


def _scale(spec: Scale, result: Path) -> Path:
    if not _there(result):
        write_text(result, json.dumps(plain(scale.rows(spec)), indent=2) + "\n")
    return result


def _there(result: Path) -> bool:
    if result.exists():
        print(f"saakm: {result} is there already", file=sys.stderr)
        return True
    return False


def _bench(spec: Bench, result: Path) -> list[str]:
    vm = VmOptions(
        topology=spec.topology,
        memory=spec.memory,
        deterministic=spec.deterministic,
        seed=spec.seed,
        config=spec.config,
    )
    done = bench.conduct(spec, vm, result, resume=True)
    tell_splats(done)
    return done.failures


def _placement(spec: Placement, result: Path) -> list[str]:
    done = placement.conduct(spec, result)
    tell_splats(done)
    return done.failures


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
    if experiment.scale:
        return "simulator"
    if experiment.placement:
        return "placement"
    return "cost" if experiment.cost else "applications"
