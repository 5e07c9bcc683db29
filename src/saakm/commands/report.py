# SPDX-License-Identifier: GPL-2.0
"""saakm report: results as one HTML file, or as Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import BadInput, SaakmError
from ..base.files import check_output
from ..base.progress import meter
from ..lab.bench import curves
from ..lab.bench.figures import Figure
from ..lab.bench.kernel_table import plain
from ..lab.cost import bars
from ..lab.placement import table as placement_table
from ..lab.report import html_page, inputs, markdown_page, traced
from ..model.cost_rows import Row
from ..view import plot
from .comma_lists import words

_PAGE = Path("report.html")


def report(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Directories of saakm bench, files of saakm cost --json."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The HTML file.", show_default=str(_PAGE))
    ] = None,
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
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            help="Only draw, into this file (.svg or .png): costs as bars, or, of workloads that "
            "were run at several points, what they yielded as curves.",
        ),
    ] = None,
    op: Annotated[
        str,
        typer.Option(
            "--op", help="Operations, or rows of tables, for --picture.", show_default="all"
        ),
    ] = "",
    columns: Annotated[
        str | None,
        typer.Option(
            "--tables",
            help="Only print tables as in the kernel's commit messages, of these columns; the first "
            "is compared with.",
            show_default="no",
        ),
    ] = None,
    traces: Annotated[
        bool,
        typer.Option(
            "--traces",
            help="Only print tables of gaps and decisions, of directories of saakm trace.",
        ),
    ] = False,
    placement: Annotated[
        bool,
        typer.Option(
            "--placement",
            help="Only print tables of where threads ran, of directories of saakm lab.",
        ),
    ] = False,
    title: Annotated[str, typer.Option("--title")] = "SaaKM: what schedulers cost and yield",
) -> None:
    """Make a report that needs no network: tables, plots, the machine, the commands to repeat it."""
    if traces:
        typer.echo(traced.tables(sources))
        return
    if placement:
        typer.echo(placement_table.tables(sources))
        return
    if notes and not as_markdown:
        raise BadInput("--notes goes with --markdown", "they are Markdown", "add --markdown FILE")
    if op and not picture:
        raise BadInput("--op goes with --picture", "a report shows all", "add --picture FILE")
    if picture and (as_markdown or base):
        raise BadInput(
            "--picture makes no report", "--markdown and --base belong to one", "leave them out"
        )
    if columns is not None and (as_markdown or base or picture):
        raise BadInput(
            "--tables makes no report",
            "--markdown, --picture and --base belong to one",
            "leave them out; the first column is what others are compared with",
        )
    if out and (as_markdown or picture or columns is not None):
        raise BadInput(
            "--out is of the HTML page, and none is made",
            "--markdown, --picture and --tables are made in its place",
            "leave out --out, or what stands in its place",
        )
    out = out or _PAGE
    if columns is not None:
        typer.echo(_tables(inputs.read(sources).figures, words(columns)))
        return
    heading = _heading(title, notes)
    if picture:
        plot.prepare([picture])
    else:
        check_output(as_markdown or out)
    results = inputs.read(sources)
    if not (results.figures or results.cost_runs or results.profiles or results.scales):
        raise SaakmError(
            "there is nothing to report",
            "no run has succeeded in what was given",
            "saakm bench --out DIR, or saakm cost --json >FILE",
        )
    if picture:
        with meter("drawing"):
            _draw(results, op, picture)
        typer.echo(str(picture))
        return
    base = base or results.base
    _check_base(base, results)
    if as_markdown:
        pictures = len(results.cost_runs) + len(results.scales)
        with meter("drawing", pictures) as progress:
            markdown_page.write(as_markdown, results, heading, base, progress.advance)
    else:
        with meter("drawing"):
            page = html_page.render(results, title, base, [str(path) for path in sources])
        out.write_text(page)
    typer.echo(str(as_markdown or out))


def _heading(title: str, notes: Path | None) -> str:
    try:
        return f"# {title}" + (f"\n\n{notes.read_text().strip()}" if notes else "")
    except (OSError, ValueError) as error:
        raise SaakmError(
            f"cannot read the notes {notes}", str(error), "--notes FILE, of Markdown"
        ) from error


def _tables(found: Sequence[Figure], columns: Sequence[str]) -> str:
    there = dict.fromkeys(name for figure in found for name in figure.values)
    missing = [name for name in columns if name not in there]
    if not there:
        raise BadInput(
            "there is nothing to print tables of",
            "what was given has no figures of saakm bench",
            "name directories that saakm bench --out has written",
        )
    if missing or not columns:
        raise BadInput(
            f"no run was under '{missing[0]}'" if missing else "--tables names no column",
            f"there are {', '.join(there)}",
            "--tables NAME,NAME, of these",
        )
    having = [figure for figure in found if set(columns) & set(figure.values)]
    return plain(having, columns, intervals=False)


def _check_base(base: str, results: inputs.Results) -> None:
    names = dict.fromkeys(name for figure in results.figures for name in figure.values)
    if base and base not in names:
        raise SaakmError(
            f"no run was under '{base}'",
            f"there are {', '.join(names)}",
            "--base NAME, or leave it out",
        )


def _draw(results: inputs.Results, op: str, picture: Path) -> None:
    found = curves.rows(results.figures)
    wanted = list(words(op))
    if results.costs and found and not wanted:
        raise SaakmError(
            "costs and runs do not go into one picture",
            "costs are bars, runs at several points are curves, and both were given",
            "name either of them by --op, or give one alone",
        )
    if results.costs and not (found and set(wanted) <= set(found)):
        bars.draw(_chosen(results.costs, op), [picture])
        return
    if not found:
        raise SaakmError(
            "there are no costs to draw as bars, nor runs at several points to draw as curves",
            "what was given has none, or runs at one point, or costs along an axis or by function",
            "name a file of saakm cost --json, or a directory of saakm bench --points N,N; "
            "a report shows the others: leave out --picture",
        )
    wanted = wanted or list(found)
    if missing := [name for name in wanted if name not in found]:
        raise SaakmError(
            f"no row '{missing[0]}' is in what was given, at several points",
            f"there are {', '.join(found)}",
            "name some of them by --op",
        )
    curves.draw({name: found[name] for name in wanted}, [picture])


def _chosen(rows: list[Row], op: str) -> list[Row]:
    wanted = list(words(op)) or list(dict.fromkeys(row.operation for row in rows))
    chosen = [row for row in rows if row.operation in wanted]
    there = {row.operation for row in chosen}
    if missing := [name for name in wanted if op and name not in there]:
        raise SaakmError(
            f"no cost of '{missing[0]}' is in what was given",
            f"there are {', '.join(dict.fromkeys(row.operation for row in rows)) or 'none'}",
            "name one of them by --op, or a file of saakm cost --json that has it",
        )
    return chosen
