# SPDX-License-Identifier: GPL-2.0
"""saakm report: results as one HTML file, or as Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..lab.report import html_page, inputs, markdown_page


def report(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Directories of saakm bench, files of saakm cost --json."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The HTML file.")] = Path("report.html"),
    as_markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write this file instead, and pictures beside it."),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base", help="Compare with this scheduler.", show_default="as in the first run"
        ),
    ] = "",
    notes: Annotated[
        Path | None,
        typer.Option("--notes", help="Markdown to stand below the title, with --markdown."),
    ] = None,
    title: Annotated[str, typer.Option("--title")] = "SaaKM: what schedulers cost and yield",
) -> None:
    """Make a report that needs no network: tables, plots, the machine, the commands to repeat it."""
    if notes and not as_markdown:
        raise SaakmError("--notes goes with --markdown", "they are Markdown", "add --markdown FILE")
    results = inputs.read(sources)
    if not (results.figures or results.cost_runs or results.profiles):
        raise SaakmError(
            "there is nothing to report",
            "no run has succeeded in what was given",
            "saakm bench --out DIR, or saakm cost --json >FILE",
        )
    base = base or results.base
    _check_base(base, results)
    if as_markdown:
        heading = f"# {title}" + (f"\n\n{notes.read_text().strip()}" if notes else "")
        markdown_page.write(as_markdown, results, heading, base)
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(html_page.render(results, title, base, [str(path) for path in sources]))
    typer.echo(str(as_markdown or out))


def _check_base(base: str, results: inputs.Results) -> None:
    names = dict.fromkeys(name for figure in results.figures for name in figure.values)
    if base and base not in names:
        raise SaakmError(
            f"no run was under '{base}'",
            f"there are {', '.join(names)}",
            "--base NAME, or leave it out",
        )
