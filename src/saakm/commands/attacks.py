# SPDX-License-Identifier: GPL-2.0
"""saakm attacks: wrong policies, made on purpose, and what each does to the rest of the machine."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.progress import meter
from ..lab.attacks import boots, overview
from ..lab.attacks.catalogue import chosen_attacks
from ..lab.attacks.outcome import Outcome
from ..lab.cost.target import find_target


def attacks(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Only these, see --list.", show_default=False),
    ] = None,
    list_attacks: Annotated[bool, typer.Option("--list", help="Say what each does.")] = False,
    include_fatal: Annotated[
        bool, typer.Option("--include-fatal", help="Also those that end any machine.")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option("-j", "--jobs", min=1, help="Guests at a time.", show_default="a CPU each"),
    ] = len(os.sched_getaffinity(0)),
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write the table into this page, between its markers."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Load wrong policies beside good ones, each in a boot of its own, in counted time.

    The status is 0 if the class contained all of them.
    """
    if list_attacks:
        overview.show_list(Console())
        return
    chosen = chosen_attacks(names or [], include_fatal)
    if markdown:
        overview.page_with_place(markdown)  # or a refusal, before they take minutes
    scene = boots.prepare(find_target().built)
    with meter("attacking", len(chosen)) as progress:

        def on_end(outcome: Outcome) -> None:
            progress.describe(f"{outcome.attack} {'held' if outcome.held else 'NOT held'}")
            progress.advance()

        outcomes = boots.run_all(scene, chosen, jobs, on_end)
    if as_json:
        print(json.dumps([outcome.as_json() for outcome in outcomes], indent=2))
    else:
        overview.show(outcomes, Console())
    if markdown:
        overview.write(markdown, outcomes)
    raise typer.Exit(any(not outcome.held for outcome in outcomes))
