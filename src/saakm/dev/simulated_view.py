# SPDX-License-Identifier: GPL-2.0
"""What saakm dev --sim says: lines and tables, or JSON for scripts."""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console

from ..builder.policies import module_name
from ..model.schema import plain
from ..model.simulation import Simulation
from ..sim.durations import shown
from ..sim.table import Before, show
from ..view.text import counted
from .simulated import Run

_SAID = {
    "ran": "ran",
    "misbehaved": "MISBEHAVED",
    "crashed": "CRASHED",
    "compile-error": "did not compile",
    "refused": "were refused",
}


class SimulatedView:
    """On stdout; as JSON objects, a line each, with `as_json`."""

    def __init__(self, source: Path, as_json: bool):
        self._source, self._name, self._json = source, module_name(source), as_json
        self._began = time.monotonic()
        self._before: Before | None = None
        self._versions: dict[int, str] = {}
        self._outcomes: Counter[str] = Counter()
        self._saves = 0

    def __enter__(self) -> "SimulatedView":
        return self

    def __exit__(self, *_: object) -> None:
        summary = self._summary()
        self._say({"event": "ended", "summary": summary}, "\n".join(summary))

    def started(self, workload: str) -> None:
        text = f"{workload}; edit {self._source} and save it; Ctrl-C ends"
        self._say({"event": "started", "workload": workload}, text)

    def ran(self, run: Run) -> None:
        self._saves += run.saves
        self._outcomes[run.outcome] += run.saves > 0
        if run.outcome in ("ran", "misbehaved", "crashed"):
            self._versions[run.version] = _told(run)
        self._say(_document(run), "\n".join([tell(run, self._name), *_indented(run.complaints)]))
        if not run.result:
            return
        called = f"version {run.version}"
        if not self._json:
            show(run.result, f"{run.title}, {called}", Console(), self._before)
            sys.stdout.flush()  # a pipe's reader waits for it as well
        if run.outcome == "ran":  # what ended early says nothing of the next
            self._before = Before(run.result.simulation, called)

    def _summary(self) -> list[str]:
        parts = [
            f"{self._outcomes[one]} {words}" for one, words in _SAID.items() if self._outcomes[one]
        ]
        if overtaken := self._saves - sum(self._outcomes.values()):
            parts.append(f"{overtaken} overtaken by a later one")
        saves = counted(self._saves, "save") + (f": {', '.join(parts)}" if parts else "")
        first = f"{time.monotonic() - self._began:.0f} s, {saves}"
        return [first, *(f"version {number}: {told}" for number, told in self._versions.items())]

    def _say(self, document: dict[str, Any], text: str) -> None:
        seconds = time.monotonic() - self._began
        line = json.dumps({"seconds": round(seconds, 3), **document})
        print(line if self._json else f"[{seconds:6.1f}] {text}", flush=True)


def tell(run: Run, name: str) -> str:
    """One line on what became of a save, or of several that were run together."""
    several = f"{run.saves} saves at once: " if run.saves > 1 else ""
    last = f"; version {run.version} is the last that ran" if run.version else ""
    if run.outcome == "compile-error":
        return f"{several}{name} does not compile{last}"
    if run.outcome == "refused":
        return f"{several}the new {name} was refused{last}"
    when = f" {run.seconds:.2f} s after the save" if run.saves else ""
    built = f" (build {run.build_seconds:.2f} s)" if run.result else ""
    return f"{several}version {run.version} {_SAID[run.outcome]}{when}{built}"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _told(run: Run) -> str:
    """For the end: enough to choose among versions."""
    if not run.result:
        return "crashed"
    found = run.result.simulation
    waits = ", ".join(_waits(found))
    early = (
        ", but it misbehaved" * run.result.misbehaved or ", then interrupted" * found.interrupted
    )
    return f"{shown(found.end_ns)} simulated{early}{waits}"


def _waits(found: Simulation) -> list[str]:
    groups = [group for group in found.groups if group.waits.count]
    told = [f"{group.name} {shown(group.waits.p99_ns)}" for group in groups]
    return [f"; p99 of CPU waits: {told[0]}", *told[1:]] if told else []


def _document(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = {
        "event": run.outcome,
        "version": run.version,
        "saves": run.saves,
        "after_save_seconds": round(run.seconds, 3),
        "build_seconds": round(run.build_seconds, 3),
        "complaints": run.complaints,
    }
    if run.result:
        document["simulation"] = plain(run.result.simulation)
        document["command"] = list(run.result.command)
    return document
