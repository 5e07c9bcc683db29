# SPDX-License-Identifier: GPL-2.0
"""A simulation that is run again with each save of a policy."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..base.errors import SaakmError
from ..base.files import hash_named
from ..builder import agents
from ..builder.policies import source_files
from ..sim.asked import Asked
from ..sim.build import build
from ..sim.compile import Edited
from ..sim.complaints import NotBuilt
from ..sim.crash import Failed
from ..sim.run import Outcome, run
from ..sim.verdict import sentences
from .saves import Saves

_MOST_OF_COMPILER = 12  # lines, as when a guest runs
_MOST_OF_KERNEL = 20
OnProgress = Callable[[int, int], None]


@dataclass
class Run:
    """What became of a save. Seconds are the host's."""

    version: int  # that ran last
    outcome: str  # ran, misbehaved, crashed, compile-error or refused
    complaints: list[str] = field(default_factory=list)
    result: Outcome | None = None
    title: str = ""
    seconds: float = 0.0  # from the save to the result
    build_seconds: float = 0.0
    saves: int = 0  # that it answers: those that come meanwhile end it, and are run instead


class _Overtaken(Exception):
    """There is a newer version: nobody waits for this one any more."""


class Simulated:
    """`asked` is read anew for each save: its Kbuild may change as well.

    Of a policy whose agent is a project of the user's, saves of that are simulated, too.
    """

    def __init__(self, asked: Asked, source: Path):
        self.asked, self.source = asked, source
        self._agent = agents.chosen(asked.policy, asked.agent)
        self.version = 0
        self._saves = Saves(self._digest)

    def first(self, on_progress: OnProgress) -> Run:
        """What is wrong with the command line raises; a policy may be mended later."""
        return self._latest(0, on_progress, is_first=True)

    def saved(self) -> int:
        """How many saves there were since it was asked last."""
        return self._saves.take()

    def update(self, saves: int, on_progress: OnProgress) -> Run:
        """Builds what was saved, and runs it."""
        return self._latest(saves, on_progress)

    def close(self) -> None:
        self._saves.close()

    def _digest(self) -> str:
        try:
            return hash_named(self._files())
        except FileNotFoundError:  # an editor is just renaming
            return ""

    def _files(self) -> dict[str, Path]:
        theirs = self._agent.sources() if self._agent and not self._agent.is_ours else []
        return {**source_files(self.source), **{str(file): file for file in theirs}}

    def _saved_at(self) -> float:
        times = [file.stat().st_mtime for file in self._files().values()]
        # A file may be put in place with an old date.
        saved, now = max(times, default=0.0), time.time()
        return saved if now - 2 < saved <= now else now

    def _latest(self, saves: int, on_progress: OnProgress, is_first: bool = False) -> Run:
        while True:
            begin = time.time() if is_first else self._saved_at()
            try:
                found = self._attempt(on_progress, is_first)
            except _Overtaken:
                saves += self._saves.take()
                continue
            found.version, found.saves, found.seconds = self.version, saves, time.time() - begin
            return found

    def _attempt(self, on_progress: OnProgress, is_first: bool) -> Run:
        try:
            return self._run(on_progress)
        except NotBuilt as error:
            lines = error.lines(self.source)
            return Run(0, "compile-error", _few(lines, _MOST_OF_COMPILER))
        except Failed as error:
            self.version += 1
            return Run(0, "crashed", str(error).splitlines())
        except Edited as error:
            if self._saves.waiting():
                raise _Overtaken from error
            return Run(0, "refused", str(error).splitlines())
        except SaakmError as error:
            if is_first:
                raise
            return Run(0, "refused", str(error).splitlines())

    def _run(self, on_progress: OnProgress) -> Run:
        def watch(ns: int, events: int) -> None:
            if self._saves.waiting():
                raise _Overtaken
            on_progress(ns, events)

        begin = time.time()
        course = self.asked.course()
        program = build(course.modules, course.recipe, course.agent)
        built = time.time()
        result = run(program, course.scenario, on_progress=watch, partial=True)
        self.version += 1
        outcome = "misbehaved" if result.misbehaved else "ran"
        found = Run(0, outcome, _complaints(result), result, course.title)
        found.build_seconds = built - begin
        return found


def _complaints(result: Outcome) -> list[str]:
    told = sentences(result)
    return [*_few(result.log.splitlines(), _MOST_OF_KERNEL), *told] if told else []


def _few(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"... and {len(lines) - most + 1} lines more: saakm sim shows all"]
