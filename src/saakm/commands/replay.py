# SPDX-License-Identifier: GPL-2.0
"""saakm replay: what a kernel asked of the class is asked again in the simulator, and compared."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..base.errors import SaakmError
from ..base.files import make_output
from ..base.progress import meter
from ..builder.kernel import build_kernel
from ..builder.policies import find_policy
from ..lab.replay.conduct import Agreement, compare_all
from ..lab.replay.record import WORKLOADS, Recorded, refuse_old_qemu
from ..sim.verdict import statuses
from ..view.terminal import figure, label, table, widened
from . import replay_fair
from .comma_lists import words

_MOST_CPUS = 64
_COLUMNS = ("CPUs", "calls", "equal", "raced", "not replayed", "overlapping")
_USUAL = ("fifo", "rr", "prio", "vtime")


@statuses()
def replay(
    context: typer.Context,
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POLICY[,POLICY...]]...",
            help="Each word a recording: one policy, or several at once.",
            show_default=" ".join(_USUAL),
        ),
    ] = None,
    cpus: Annotated[
        str,
        typer.Option("--cpus", help="Of the guest, e.g. 2,4,8,16.", show_default="2; 1 of fair"),
    ] = "",
    calls: Annotated[int, typer.Option("--calls", min=1, help="Calls to record.")] = 100_000,
    seed: Annotated[int, typer.Option("--seed", help="Another one, another run.")] = 1,
    workload: Annotated[
        str, typer.Option("--workload", help=f"One of: {', '.join(WORKLOADS)}.")
    ] = "hackbench",
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Directory for the recordings.")
    ] = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="Count each kind of call.")] = False,
    of: replay_fair.Of = replay_fair.Asked.SAAKM,
    scenario: replay_fair.ScenarioOption = "all",
    picks: replay_fair.Picks = 10_000,
    features: replay_fair.Features = "",
    param: replay_fair.Param = None,
    states: replay_fair.States = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Record the calls of the class in a guest, replay them into the class in the simulator, compare.

    Each answer, effect and state must be equal; the first that is not is shown, and the status is 1.
    A call that is equal only at another place in the order of what overlaps counts as raced.

    With --of fair what the kernel asks of fair is recorded, and asked of a policy that decides as
    fair does: who is picked, whether the running thread gives way, and who stays queued in its sleep.
    """
    replay_fair.refuse_unheeded(context, of)
    if of is replay_fair.Asked.FAIR:
        given = (scenario, picks, words(features), tuple(param or ()), seed, states)
        asked = replay_fair.Options(*given)
        replay_fair.run(_one_policy(policies), _counts(cpus or "1"), asked, keep, as_json)
        return
    wanted = [
        Recorded(tuple(map(_directory, word.split(","))), count, seed, calls, _command(workload))
        for word in policies or _USUAL
        for count in _counts(cpus or "2")
    ]
    refuse_old_qemu()
    if keep:
        make_output(keep)
    kernel = build_kernel("base")
    with meter("comparing", len(wanted)) as progress:
        found = compare_all(kernel, wanted, keep, lambda _: progress.advance())
    if as_json:
        print(json.dumps([one.as_json() for one in found], indent=2))
    else:
        _show(found, kinds)
    raise typer.Exit(any(not one.holds for one in found))


def _one_policy(policies: list[str] | None) -> Path:
    named = [name for word in policies or () for name in words(word)]
    if len(named) != 1:
        raise SaakmError("--of fair is for one policy", f"{len(named)} are named", "name one")
    return _directory(named[0])


def _command(workload: str) -> tuple[str, ...]:
    if workload not in WORKLOADS:
        raise SaakmError(
            f"there is no workload '{workload}'", f"there are {', '.join(WORKLOADS)}", "name one"
        )
    return WORKLOADS[workload]


def _counts(text: str) -> list[int]:
    found = words(text)
    if not found or not all(word.isdecimal() and 1 <= int(word) <= _MOST_CPUS for word in found):
        raise SaakmError(
            f"--cpus {text} is no list of numbers of CPUs",
            f"each is 1 to {_MOST_CPUS}",
            "saakm replay --cpus 2,4,8,16",
        )
    return list(map(int, found))


def _directory(word: str) -> Path:
    directory = find_policy(word)
    if directory is None:
        raise SaakmError(
            "there is nothing to compare", f"'{word}' means no policy", "name policies"
        )
    return directory


def _show(found: list[Agreement], kinds: bool) -> None:
    console = widened(Console())
    columns = [figure(word) for word in _COLUMNS]
    shown = table("", label("policies"), *columns)
    for one in found:
        counts = (one.calls, one.equal, one.raced, one.not_replayed, one.overlapping)
        cells = [f"{one.cpus}", *(f"{count:,}" for count in counts)]
        shown.add_row(",".join(one.policies), *cells)
    console.print(shown)
    for one in found:
        if kinds:
            console.print(_kinds(one))
        if one.difference:
            print(f"{','.join(one.policies)} on {one.cpus} CPUs:\n{one.difference}")


def _kinds(one: Agreement) -> Table:
    title = f"{','.join(one.policies)} on {one.cpus} CPUs"
    shown = table(title, label("call"), *map(figure, ("calls", "equal", "overlapping")))
    for name, counts in sorted(one.kinds.items(), key=lambda kind: -kind[1]["calls"]):
        shown.add_row(name, *(f"{counts[key]:,}" for key in ("calls", "equal", "overlapping")))
    return shown
