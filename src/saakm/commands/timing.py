# SPDX-License-Identifier: GPL-2.0
"""saakm timing: how long threads of an rt-app file wait, in a guest and in the simulator."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..base.files import make_output
from ..base.progress import meter
from ..lab.bench.packages import ensure
from ..lab.timing.case import POLICIES, Case, find, read_all
from ..lab.timing.compare import LIMITS, Row, apart
from ..lab.timing.conduct import compared, in_one_guest, kept
from ..lab.timing.in_guest import PACKAGES
from ..model.schema import plain
from ..sim.verdict import statuses
from ..view.terminal import figure, label, table
from .comma_lists import words


@statuses()
def timing(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="Names of --list, or NAME.TOPOLOGY.json.", show_default="all"
        ),
    ] = None,
    policies: Annotated[
        str, typer.Option("--policies", help="Of fifo, rr, prio, vtime, with commas.")
    ] = ",".join(POLICIES),
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Directory for the events of the guests.")
    ] = None,
    reuse: Annotated[
        Path | None,
        typer.Option("--kept", help="Compare with what --keep has kept there; boots no guest."),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show the files.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Run files of rt-app in a guest, by rt-app itself, and in the simulator; compare how long threads wait.

    Shown are the guest's figures, and by how much the simulator's differ, in the median of nine runs that
    begin up to 16 us earlier or later. Switches may differ by 2 %, waits for a CPU (median and 99th
    percentile) by 5 %; the status is 1 if some differ by more.
    """
    cases = [find(name) for name in dict.fromkeys(names or ())] or read_all()
    if list_them:
        print(json.dumps([one.name for one in cases]) if as_json else "\n".join(map(_name, cases)))
        return
    if keep and reuse:
        raise SaakmError(
            "--keep and --kept are both given",
            "--keep runs guests, and --kept compares with what they did before",
            "give one of them",
        )
    chosen = _policies(policies)
    found = _again(reuse, cases, chosen) if reuse else _anew(cases, chosen, keep)
    rows = list(found)
    if as_json:
        documents = [_document(row) for row in rows]
        print(json.dumps(documents, indent=2))
    else:
        _show(rows)
    raise typer.Exit(any(row.misses for row in rows))


def _document(row: Row) -> dict[str, Any]:
    simulated = plain(row.simulated)
    return {**plain(row), "simulated": simulated, "misses": row.misses, "verdict": row.verdict}


def _name(case: Case) -> str:
    return case.name


def _policies(given: str) -> list[str]:
    chosen = list(words(given))
    for unknown in [word for word in chosen or [given] if word not in POLICIES]:
        raise SaakmError(
            f"--policies {given}: {unknown!r} is not compared",
            f"there are {', '.join(POLICIES)}",
            "name some of these, with commas",
        )
    return chosen


def _again(directory: Path, cases: list[Case], policies: list[str]) -> Iterator[Row]:
    pairs = list(itertools.product(cases, policies))
    with meter("simulating", len(pairs)) as progress:
        for case, policy in pairs:
            yield compared(kept(directory, case, policy), case, policy)
            progress.advance(1)


def _anew(cases: list[Case], policies: list[str], keep: Path | None) -> Iterator[Row]:
    if keep:
        make_output(keep)
    ensure(PACKAGES)
    by_machine = sorted(cases, key=lambda one: one.machine)
    for _, group in itertools.groupby(by_machine, key=lambda one: one.machine):
        yield from in_one_guest(list(group), policies, keep)


def _show(rows: list[Row]) -> None:
    shown = table("", label("file"), label("policy"), *map(figure, ("switches", "median", "p99")))
    for row in rows:
        shown.add_row(row.name, row.policy, *(_cell(row, name) for name in LIMITS))
    Console().print(shown)
    print("waits for a CPU in us: the guest's, and by how much the simulator's differ")
    for row in rows:
        for name in row.misses:
            print(f"{row.name} under {row.policy}: {_miss(row, name)}")


def _cell(row: Row, name: str) -> str:
    parted = f"{100 * apart(row.guest, row.simulated, name):+.1f} %"
    mark = "[red]{}[/red]" if name in row.misses else "{}"
    return f"{getattr(row.guest, name):,.0f} {mark.format(parted)}"


def _miss(row: Row, name: str) -> str:
    if name not in LIMITS:
        return f"too few waits to compare, {row.guest.waits} in the guest"
    told = 100 * apart(row.guest, row.told, name)
    low, high = row.range_of(name)
    return (
        f"{name} differs; {told:+.1f} % if told when the kernel's own threads ran, {low:,.0f} to "
        f"{high:,.0f} in all ten runs"
    )
