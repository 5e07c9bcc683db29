# SPDX-License-Identifier: GPL-2.0
"""Checkers of Python, Rust and shell: they need no kernel."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from ..base import cache, paths
from ..base.locks import locked
from ..builder.cargo import forget_other_checkouts
from .checker import Checker, Skipped, complaint_of

# What keeps a checker quick the next time.
CACHE = paths.CACHE / "lint"
# Of the two that build; the file's lock is between processes, and says so.
_CARGO = threading.Lock()
# Scripts that another one sources or runs by `sh` have no first line; they say it to shellcheck.
_SHELL = re.compile(rb"\A#! ?\S*(/|/env )(ba|da)?sh\b|^# shellcheck shell=", re.M)
_HEAD = 300  # bytes in which it must stand
_NOT_OURS = {".git", "target", "results", "packages", "__pycache__"}


def _ruff(root: Path) -> str:
    return complaint_of([*_ruff_command(), "check", "--quiet", "."], root)


def _format(root: Path) -> str:
    return complaint_of([*_ruff_command(), "format", "--check", "--quiet", "--diff", "."], root)


def _ruff_command() -> list[str]:
    return [sys.executable, "-m", "ruff", f"--config=cache-dir='{CACHE / 'ruff'}'"]


def _mypy(root: Path) -> str:
    # Its cache is one data base: a second mypy would wait for it and give up.
    with locked(CACHE / "mypy.lock"):
        command = [sys.executable, "-m", "mypy", "--no-error-summary"]
        return complaint_of([*command, f"--cache-dir={CACHE / 'mypy'}"], root)


def _clippy(root: Path) -> str:
    _refuse_without("cargo-clippy", "rust-web-clippy", "clippy")
    return cargo(root, "clippy", "--locked", "--quiet", "--all-targets", "--", "-D", "warnings")


def _rustfmt(root: Path) -> str:
    _refuse_without("rustfmt", "rustfmt-web", "rustfmt")
    return complaint_of(["cargo", "fmt", "--check"], root / "crates")


def _cargo_test(root: Path) -> str:
    # Those build a simulator: tests/unit/test_sim_user.py runs them.
    return cargo(root, "test", "--locked", "--quiet", "--", "--skip", "simulated::")


def cargo(root: Path, *arguments: str) -> str:
    """What it complains of; nothing, if it has nothing to."""
    target = cache.make(paths.CARGO)
    # What is built of crates/ has one name for all checkouts that share the cache.
    with _CARGO, locked(CACHE / "cargo.lock"):
        forget_other_checkouts(target / "debug", root)
        return complaint_of(["cargo", *arguments], root / "crates", CARGO_TARGET_DIR=str(target))


def _refuse_without(program: str, package: str, component: str) -> None:
    """With rustup the program is always there, and says only when it runs that it is not."""
    try:
        there = not subprocess.run([program, "--version"], capture_output=True).returncode
    except FileNotFoundError:
        there = False
    if not there:
        raise Skipped(
            f"{program} does not run; apt-get install {package}, or rustup component add {component}"
        )


def shell_scripts(root: Path) -> Iterator[Path]:
    for directory, below, files in os.walk(root):
        below[:] = sorted(set(below) - _NOT_OURS)
        for file in (Path(directory, name) for name in sorted(files)):
            if file.is_file() and not file.is_symlink() and file.suffix not in (".md", ".py"):
                with file.open("rb") as opened:
                    if _SHELL.search(opened.read(_HEAD)):
                        yield file


def _shellcheck(root: Path) -> str:
    scripts = [str(script.relative_to(root)) for script in shell_scripts(root)]
    return complaint_of(["shellcheck", "--color=never", *scripts], root)


# The slow ones first: the others fit in beside them.
CHECKERS = (
    Checker("mypy", _mypy),
    Checker("clippy", _clippy),
    Checker("cargo-test", _cargo_test),
    Checker("shellcheck", _shellcheck),
    Checker("ruff", _ruff),
    Checker("format", _format),
    Checker("rustfmt", _rustfmt),
)
