# SPDX-License-Identifier: GPL-2.0
"""Which lines and branches of policies and of the class a simulation has run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ..base import paths
from ..base.errors import SaakmError
from ..view.terminal import figure, label, table
from . import kinds
from .compile import run_tool
from .kbuild import Module

PROFILE, RAW = "coverage.profdata", "coverage.profraw"
PAGE = "index.html"


@dataclass(frozen=True)
class Covered:
    """Of one file: how many there are, and how many were run."""

    file: str
    lines: int
    lines_run: int
    branches: int
    branches_run: int

    @property
    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def environment(directory: Path) -> dict[str, str]:
    """For the run: where it leaves what it has counted."""
    return {"LLVM_PROFILE_FILE": str(directory / RAW).replace("%", "%%")}


def report(program: Path, directory: Path, modules: Sequence[Module]) -> list[Covered]:
    """Writes the HTML, too; the policies' files come first."""
    raw, profile = directory / RAW, directory / PROFILE
    _run(["llvm-profdata-19", "merge", "-o", str(profile), str(raw)])
    raw.unlink()
    places = [*(str(module.directory) for module in modules), str(kinds.CLASS)]
    common = [str(program), f"-instr-profile={profile}", *places]
    exported = json.loads(_run(["llvm-cov-19", "export", "-summary-only", *common]))
    html = ["-format=html", "-show-branches=count", f"-output-dir={directory}"]
    _run(["llvm-cov-19", "show", *html, *common])
    found = [_covered(entry) for entry in exported["data"][0]["files"]]
    ours = str(kinds.CLASS.relative_to(paths.REPO))
    return sorted(found, key=lambda covered: (covered.file.startswith(ours), covered.file))


def _covered(entry: dict[str, Any]) -> Covered:
    file, of = Path(entry["filename"]), entry["summary"]
    named = file.relative_to(paths.REPO) if file.is_relative_to(paths.REPO) else file
    lines, branches = of["lines"], of["branches"]
    return Covered(
        str(named), lines["count"], lines["covered"], branches["count"], branches["covered"]
    )


def show(found: Sequence[Covered], console: Console) -> None:
    shown = table(
        "what was run", label("file"), *map(figure, ("lines run", "%", "branches run", "%"))
    )
    for one in found:
        lines = _figures(one.lines, one.lines_run)
        shown.add_row(one.file, *lines, *_figures(one.branches, one.branches_run))
    console.print(shown)


def _figures(count: int, run: int) -> list[str]:
    return [f"{run:,}/{count:,}", f"{100 * run / count:.0f}" if count else ""]


def _run(command: list[str]) -> str:
    done = run_tool(command)
    if done.returncode:
        raise SaakmError(
            "coverage cannot be told",
            f"'{command[0]}' ended with status {done.returncode}:\n{done.stderr.rstrip()}",
            "saakm doctor says what is missing",
        )
    return done.stdout
