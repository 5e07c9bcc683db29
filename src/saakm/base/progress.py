# SPDX-License-Identifier: GPL-2.0
"""Progress of work that takes more than two seconds, on stderr."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

_PLAIN_INTERVAL = 15.0  # seconds between lines when stderr is a file or a CI log
_WORTH_SAYING = 2.0  # seconds
# Before so much is done, the pace so far says little about the rest.
_TELLING_SECONDS, _TELLING_PART = 10.0, 0.02
# As much of a work as its usual pace weighs against the pace so far: what comes first may be quick.
_USUAL_PART = 0.05
# A total is what earlier work took. Past it a bar crawls, and is full only at the end.
_NEARLY = 0.99


class Meter:
    """What a task reports to: how much is done of how much, and what it does now.

    `usual_pace`: the seconds that one of `total` takes on an idle machine; `usual`: those of all of
    it, if nothing can be counted.
    """

    def __init__(
        self,
        title: str,
        total: float | None,
        bar: Progress | None,
        usual_pace: float | None = None,
        usual: float | None = None,
    ):
        self.title, self.total, self.done = title, total, 0.0
        self._usual_pace, self._usual = usual_pace, usual
        self._expected = total
        self._bar = bar
        self._task = bar.add_task(title, total=total) if bar else TaskID(0)
        self._start = time.monotonic()
        self._said = self._start
        self._saying = threading.Lock()

    def advance(self, amount: float = 1) -> None:
        self.done += amount
        # More than was expected: the expectation was wrong, not the work.
        if self.total is not None and self.done > self.total:
            self.total = self.done / _NEARLY
        self._show()

    def reach(self, done: float, total: float) -> None:
        """For work that says itself how far it is, and of how much."""
        self.done = max(done, self.done)
        self.total = self._expected = total
        self._show()

    def _show(self) -> None:
        if self._bar:
            self._bar.update(self._task, completed=self.done, total=self.total)
        else:
            self.remind()

    def remind(self) -> None:
        """Elsewhere than on a terminal a line now and then, whether or not anything was done."""
        with self._saying:
            if time.monotonic() - self._said >= _PLAIN_INTERVAL:
                self._said = time.monotonic()
                self._print(self._estimate())

    def describe(self, doing: str) -> None:
        if self._bar:
            self._bar.update(self._task, description=f"{self.title}: {doing}")

    def finish(self) -> None:
        elapsed = time.monotonic() - self._start
        if self._bar:
            self._bar.update(self._task, completed=self.done, total=self.done)
        elif elapsed > _WORTH_SAYING:
            self._print(f"done in {elapsed:.0f} s")

    def left(self) -> str:
        if self._usual is not None:
            seconds = self._usual - (time.monotonic() - self._start)
            return f"about {duration(seconds)} left" if seconds > 0 else "longer than usual"
        if not self.total or not self.done:
            return ""
        if self._expected is not None and self.done >= self._expected:
            return "nearly done"
        by_pace = self.seconds_left()
        return "" if by_pace is None else f"about {duration(by_pace)} left"

    def seconds_left(self) -> float | None:
        """Estimates by the pace since the beginning: that of the last seconds varies with what is done."""
        elapsed = time.monotonic() - self._start
        if not self.total or not self.done:
            return None
        if self._usual_pace is not None:
            known = self.total * _USUAL_PART
            pace = (elapsed + known * self._usual_pace) / (self.done + known)
        elif elapsed < _TELLING_SECONDS and self.done < self.total * _TELLING_PART:
            return None
        else:
            pace = elapsed / self.done
        return pace * (self.total - self.done)

    def _estimate(self) -> str:
        so_far = f"{time.monotonic() - self._start:.0f} s so far"
        if not self.total:
            counted = f"{self.done:.0f} done" if self.done else ""
            return ", ".join(filter(None, [counted, so_far, self.left()]))
        return f"{self.done:.0f} of {self.total:.0f}, {self.left() or so_far}"

    def _print(self, text: str) -> None:
        _STDERR.print(f"saakm: {self.title}: {text}", highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Is as exact as an estimate can be."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


_STDERR = Console(stderr=True)
REMINDER = "reminder"  # the name of a thread


@contextmanager
def meter(
    title: str,
    total: float | None = None,
    usual_pace: float | None = None,
    total_comes: bool = False,
    usual: float | None = None,
) -> Iterator[Meter]:
    """A bar on a terminal, a line now and then elsewhere. Without a total or what is usual, no estimate.

    `total_comes`: by Meter.reach().
    """
    if not _STDERR.is_terminal:
        plain = Meter(title, total, None, usual_pace, usual)
        with _reminding(plain):
            yield plain
        plain.finish()
        return
    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
    if total is not None or total_comes:
        columns += [BarColumn(), MofNCompleteColumn()]
    columns += [TimeElapsedColumn(), left := _Left()]
    # What is printed meanwhile goes above the bar, but not to the terminal if it was meant for a pipe.
    to_terminal = sys.stdout.isatty()
    with Progress(*columns, console=_STDERR, transient=True, redirect_stdout=to_terminal) as bar:
        left.meter = shown = Meter(title, total, bar, usual_pace, usual)
        yield shown
        shown.finish()


class _Left(ProgressColumn):
    """Looks at the clock each time that it is drawn."""

    meter: Meter | None = None

    def render(self, task: Task) -> Text:
        return Text(self.meter.left() if self.meter else "")


@contextmanager
def _reminding(plain: Meter) -> Iterator[None]:
    """A program that says nothing for minutes calls no meter: a thread looks at the clock."""
    over = threading.Event()

    def remind() -> None:
        while not over.wait(_PLAIN_INTERVAL):
            plain.remind()

    thread = threading.Thread(target=remind, name=REMINDER, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
