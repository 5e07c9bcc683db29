# SPDX-License-Identifier: GPL-2.0
"""Progress of work that takes more than two seconds, on stderr."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_PLAIN_INTERVAL = 15.0  # seconds between lines when stderr is a file or a CI log

_WORTH_SAYING = 2.0  # seconds


class Meter:
    """What a task reports to: how much is done of how much, and what it does now."""

    def __init__(self, title: str, total: float | None, bar: Progress | None):
        self.title, self.total, self.done = title, total, 0.0
        self._bar = bar
        self._task = bar.add_task(title, total=total) if bar else None
        self._start = time.monotonic()
        self._said = self._start

    def advance(self, amount: float = 1) -> None:
        self.done += amount
        # More than was expected: the expectation was wrong, not the work.
        if self.total is not None and self.done > self.total:
            self.total = self.done
        if self._bar:
            self._bar.update(self._task, completed=self.done, total=self.total)
        elif time.monotonic() - self._said > _PLAIN_INTERVAL:
            self._said = time.monotonic()
            self._print(self._estimate())

    def describe(self, doing: str) -> None:
        if self._bar:
            self._bar.update(self._task, description=f"{self.title}: {doing}")

    def finish(self) -> None:
        elapsed = time.monotonic() - self._start
        if not self._bar and elapsed > _WORTH_SAYING:
            self._print(f"done in {elapsed:.0f} s")

    def _estimate(self) -> str:
        elapsed = time.monotonic() - self._start
        if not self.total:
            return f"{self.done:.0f} done, {elapsed:.0f} s so far"
        left = elapsed / self.done * (self.total - self.done) if self.done else 0
        return f"{self.done:.0f} of {self.total:.0f}, about {left:.0f} s left"

    def _print(self, text: str) -> None:
        _STDERR.print(f"saakm: {self.title}: {text}", highlight=False, soft_wrap=True)


_STDERR = Console(stderr=True)


@contextmanager
def meter(title: str, total: float | None = None) -> Iterator[Meter]:
    """A bar on a terminal, a line now and then elsewhere. Without a total, no estimate."""
    if not _STDERR.is_terminal:
        plain = Meter(title, total, None)
        yield plain
        plain.finish()
        return
    columns = [SpinnerColumn(), TextColumn("{task.description}")]
    if total is not None:
        columns += [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    else:
        columns += [TextColumn("{task.completed:.0f}"), TimeElapsedColumn()]
    with Progress(*columns, console=_STDERR, transient=True) as bar:
        yield Meter(title, total, bar)
