# SPDX-License-Identifier: GPL-2.0
"""Profiles as a flame graph: who called whom, and what each cost."""

import subprocess
from pathlib import Path

from ...base.errors import SaakmError
from ...builder import crates
from .where import Profile

_INFERNO = crates.Crate(
    "inferno", "0.12.8", "inferno-flamegraph", ("--no-default-features", "--features", "cli")
)
# It takes whole numbers: hundredths of an instruction.
_PARTS = 100
_WIDTH = 1600


def prepare() -> Path:
    """The program that draws; before anything is measured, for it may take minutes or fail."""
    return crates.build(_INFERNO)


def draw(profiles: list[Profile], path: Path) -> None:
    title = _title(profiles)
    command = [
        str(prepare()),
        "--title",
        title,
        "--countname",
        "instructions",
        "--nametype",
        "function:",
        "--width",
        str(_WIDTH),
        "--factor",
        str(1 / _PARTS),
        "--colors",
        "hot",
        "--hash",
    ]
    done = subprocess.run(
        command, input="\n".join(folded(profiles)), capture_output=True, text=True
    )
    if done.returncode:
        raise SaakmError(
            f"the flame graph {path} could not be drawn",
            done.stderr.strip(),
            "saakm cost --where shows the same as a table",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(done.stdout)


def folded(profiles: list[Profile]) -> list[str]:
    """A line a stack. Several operations or schedulers are roots of their own."""
    operations, schedulers = _names(profiles)
    lines = []
    for p in profiles:
        roots = [
            name
            for name, several in (
                (p.operation, len(operations) > 1),
                (p.scheduler, len(schedulers) > 1),
            )
            if several
        ]
        for stack, value in p.stacks.items():
            if count := round(value * _PARTS):
                lines.append(";".join([*roots, *stack]) + f" {count}")
    return lines


def _names(profiles: list[Profile]) -> tuple[list[str], list[str]]:
    return (
        list(dict.fromkeys(p.operation for p in profiles)),
        list(dict.fromkeys(p.scheduler for p in profiles)),
    )


def _title(profiles: list[Profile]) -> str:
    operations, schedulers = _names(profiles)
    return f"{', '.join(operations)} under {', '.join(schedulers)}: instructions an operation"
