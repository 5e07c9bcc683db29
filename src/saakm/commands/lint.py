# SPDX-License-Identifier: GPL-2.0
"""saakm lint: what checkers of the sources complain of."""

from typing import Annotated

import typer

from ..lint import NAMES, run_checkers


def lint(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Only these checkers: {', '.join(NAMES)}.")
    ] = None,
) -> None:
    """Check the sources: style, types and common mistakes.

    Each checker gets a line, with its seconds; the exit status is 1 if one complains. sparse and
    checkpatch need a kernel's tree (saakm build), and say so where there is none.
    """
    failed = False
    for outcome in run_checkers(names or ()):
        failed |= bool(outcome.complaint)
        verdict = "complains" if outcome.complaint else "clean"
        if outcome.skipped:
            verdict = f"did not run: {outcome.skipped}"
        print(f"{outcome.checker:11} {outcome.seconds:5.1f} s  {verdict}", flush=True)
        if outcome.complaint:
            print(outcome.complaint, flush=True)
    if failed:
        raise typer.Exit(1)
