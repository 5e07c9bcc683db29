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

from ..base.progress import meter


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


_SOON_S = 0.05
# What runs now: whoever is interrupted ends it.
_running: set[subprocess.Popen[str]] = set()


def run_side_by_side(checkers: Iterable[Checker], root: Path) -> Iterator[Outcome]:
    """Outcomes as they come. Most checkers have one thread, or wait for each other's locks."""
    checkers = list(checkers)
    left = [checker.name for checker in checkers]
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        meter("checking the sources", len(checkers)) as progress,
    ):
        examinations = [pool.submit(_run, checker, root) for checker in checkers]
        try:
            for done in as_completed(examinations):
                left.remove(done.result().checker)
                progress.describe(" ".join(left))
                progress.advance()
                yield done.result()
        finally:
            # Of what is left, that which has not begun does not; more than once, as it may begin now.
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(examination.done() for examination in examinations):
                for program in list(_running):
                    program.terminate()
                time.sleep(_SOON_S)


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
    try:
        program = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **environment},
        )
    except OSError as error:
        return f"'{shutil.which(command[0])}' does not run: {error.strerror}"
    _running.add(program)
    try:
        said, _ = program.communicate()
    finally:
        _running.discard(program)
    if not program.returncode:
        return ""
    return said.strip() or f"'{command[0]}' ended with status {program.returncode}"
