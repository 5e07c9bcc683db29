# SPDX-License-Identifier: GPL-2.0
"""saakm docs: the documentation as a site."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..base import paths
from ..base.process import run_logged
from ..base.progress import meter
from ..lab import lines_of_code

# As Sphinx says it, page by page.
_STATUS = re.compile(r"(reading sources|writing output)\.\.\. \[ *(\d+)%\]")
# What it does, in a line each: what it complains of begins with a file, or otherwise.
_ORDINARY = re.compile(
    r"[A-Za-z]+ing\b.*(\.\.\.|: |\bto /)|myst v|[Rr]unning Sphinx|[Bb]uild \w+|\s*$"
)
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
    count_class: Annotated[
        bool,
        typer.Option(
            "--class-lines", help="Only print how many lines the kernel's part has, as Markdown."
        ),
    ] = False,
) -> None:
    """Build the documentation, with the API and all commands, as a site that needs no network."""
    if count:
        typer.echo(lines_of_code.table())
        return
    if count_class:
        typer.echo(lines_of_code.class_table())
        return
    target = (out or paths.CACHE / "docs").resolve()
    # A warning is a link that leads nowhere, or worse. All pages anew: each has the list of all.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-E", "-a", "-b", "html"]
    what = "building the documentation"
    with meter(f"{what} (%)", total_comes=True) as progress:

        def step(line: str) -> None:
            if match := _STATUS.match(line):
                read = match[1] == "reading sources"
                progress.reach(int(match[2]) / 2 if read else 50 + int(match[2]) / 2, 100)

        run_logged(
            [*command, str(DOCS), str(target)],
            paths.LOGS / "docs.log",
            what,
            on_line=step,
            leave_out=_ORDINARY,
        )
    index = target / "index.html"
    typer.echo(str(index))
    if open_it:
        typer.launch(index.as_uri())
