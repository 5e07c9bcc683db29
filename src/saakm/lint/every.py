# SPDX-License-Identifier: GPL-2.0
"""The checkers by name, and those that a run of the tests asks for."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from ..builder.kernel import Kernel
from . import kernelside, sources
from .checker import Checker, Failure, Outcome, run_side_by_side

_ALL = (*sources.CHECKERS, *kernelside.CHECKERS)
NAMES = tuple(checker.name for checker in _ALL)


def run_checkers(names: Iterable[str] = (), root: Path = paths.REPO) -> Iterator[Outcome]:
    """Runs those of `names`, or all, on a checkout."""
    wanted = set(names) or set(NAMES)
    if unknown := sorted(wanted - set(NAMES)):
        raise SaakmError(
            f"there is no checker '{unknown[0]}'",
            f"the checkers are {', '.join(NAMES)}",
            "give one of these names, or none for all",
        )
    return run_side_by_side([checker for checker in _ALL if checker.name in wanted], root)


def check_sources() -> list[Failure]:
    """All that needs no kernel tree."""
    return _failures(sources.CHECKERS)


def check_kernel(kernel: Kernel) -> list[Failure]:
    """What a built kernel makes possible."""
    return _failures(kernelside.of_kernel(kernel))


def _failures(checkers: Iterable[Checker]) -> list[Failure]:
    found = []
    for outcome in run_side_by_side(checkers, paths.REPO):
        if outcome.skipped:
            print(f"saakm: {outcome.checker} did not run: {outcome.skipped}", file=sys.stderr)
        if outcome.complaint:
            found.append(Failure(outcome.checker, outcome.complaint))
    return found
