# SPDX-License-Identifier: GPL-2.0
"""saakm docs: the documentation as a site."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..base import paths
from ..base.process import run_logged
from ..base.progress import meter
from ..lab import lines_of_code

DOCS = paths.REPO / "docs"


def docs(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of the site.", show_default="in the cache"),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
    count: Annotated[
        bool,
        typer.Option(
            "--lines", help="Only print how many lines each scheduler takes, as Markdown."
        ),
    ] = False,
) -> None:
    """Build the documentation, with the API and all commands, as a site that needs no network."""
    if count:
        typer.echo(lines_of_code.table())
        return
    target = (out or paths.CACHE / "docs").resolve()
    # A warning is a link that leads nowhere, or worse. All pages anew: each has the list of all.
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-a", "-b", "html"]
    with meter("building the documentation"):
        run_logged(
            [*command, str(DOCS), str(target)],
            paths.LOGS / "docs.log",
            "building the documentation",
        )
    index = target / "index.html"
    typer.echo(str(index))
    if open_it:
        typer.launch(index.as_uri())
