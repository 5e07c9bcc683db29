# SPDX-License-Identifier: GPL-2.0
"""Runs cargo, with progress: it says itself how many units it has to build."""

import re
import shutil
from pathlib import Path

from ..base import cache, paths
from ..base.files import hash_files, write_text
from ..base.process import run_logged
from ..base.progress import meter

_BUILDING = re.compile(r"^\s*Building \[[=> ]*\] (\d+)/(\d+)(?:: (.*\S))?")
# Else it says so only to a terminal.
_TELL = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "100"}


def run_cargo(
    arguments: list[str], log: Path, what: str, target: Path, cwd: Path, **environment: str
) -> None:
    """`what` as in "building saakmctl"; `target` is cargo's directory for what it builds."""
    with meter(what, total_comes=True) as progress:

        def step(line: str) -> None:
            if match := _BUILDING.match(line):
                progress.reach(int(match[1]), int(match[2]))
                progress.describe(match[3] or "")

        run_logged(
            ["cargo", *arguments],
            log,
            what,
            env={"CARGO_TARGET_DIR": str(target), **_TELL, **environment},
            cwd=cwd,
            on_line=step,
            leave_out=_BUILDING,
        )


def forget_other_checkouts(built: Path, root: Path) -> None:
    """Cargo compares times only: what another checkout has built last passes for ours.

    `built`: cargo's directory for a profile, as debug; `root`: the checkout.
    """
    whose = built / "saakm-checkout"
    if whose.exists() and whose.read_text() == str(root):
        return
    forget(built)
    write_text(cache.make(built) / whose.name, str(root))


def inputs_of_crates(*without: str) -> str:
    """A hash of what programs of crates/ are built from, but for these crates, which others use."""
    files = (file for file in paths.CRATES.rglob("*") if file.is_file())
    parts = {file: file.relative_to(paths.CRATES).parts for file in files}
    wanted = [file for file, at in parts.items() if "target" not in at and at[0] not in without]
    return hash_files(wanted, paths.CRATES)


def forget(built: Path) -> None:
    """What is ours is built anew, and what we use is not."""
    for fingerprint in (built / ".fingerprint").glob("saakm*-*"):
        shutil.rmtree(fingerprint)
