# SPDX-License-Identifier: GPL-2.0
"""What a checker is, and how several run side by side."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path


class Skipped(Exception):
    """A checker did not run: why, and what to do."""


@dataclass(frozen=True)
class Checker:
    """`examine` takes the checkout, and returns what is wrong with it: nothing, if it is clean."""

    name: str
    examine: Callable[[Path], str]


@dataclass(frozen=True)
class Failure:
    checker: str
    complaint: str

    def __str__(self) -> str:
        return f"{self.checker} complains:\n{self.complaint}"


@dataclass(frozen=True)
class Outcome:
    """Clean if there is neither a complaint nor a reason why the checker did not run."""

    checker: str
    seconds: float
    complaint: str = ""
    skipped: str = ""


def run_side_by_side(checkers: Iterable[Checker], root: Path) -> Iterator[Outcome]:
    """Outcomes as they come. Most checkers have one thread, or wait for each other's locks."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in as_completed([pool.submit(_run, checker, root) for checker in checkers]):
            yield done.result()


def _run(checker: Checker, root: Path) -> Outcome:
    start, complaint, skipped = time.monotonic(), "", ""
    try:
        complaint = checker.examine(root)
    except Skipped as why:
        skipped = str(why)
    return Outcome(checker.name, time.monotonic() - start, complaint, skipped)


def complaint_of(command: list[str], cwd: Path, **environment: str) -> str:
    """All that a program says if it fails; a program that is missing skips its checker."""
    if not shutil.which(command[0]):
        raise Skipped(f"there is no program '{command[0]}'; saakm doctor says what to install")
    done = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
    )
    if not done.returncode:
        return ""
    return done.stdout.strip() or f"'{command[0]}' ended with status {done.returncode}"
