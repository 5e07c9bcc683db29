# SPDX-License-Identifier: GPL-2.0
"""saakm dev without a terminal: a line a thing, and JSON for scripts."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..builder.policies import module_name
from .loop import Update
from .sample import Snapshot
from .sentences import figures, tell
from .story import Story

_SECONDS = 5.0  # between two lines of figures


class Plain:
    """Lines, on stdout; as JSON objects with `as_json`."""

    def __init__(self, source: Path, as_json: bool, name: str = ""):
        self._name, self._json = name or module_name(source), as_json
        self._said = 0.0
        self._story = Story()

    def __enter__(self) -> "Plain":
        return self

    def __exit__(self, *_: object) -> None:
        summary = self._story.summary()
        self._say({"event": "ended", "summary": summary}, "\n".join(summary))

    def started(self, workload: str) -> None:
        self._say({"event": "started", "workload": workload}, f"version 1 schedules: {workload}")

    def building(self) -> None:
        pass

    def updated(self, update: Update) -> None:
        self._story.add_update(update)
        lines = [tell(update, self._name), *(f"    {line}" for line in update.complaints)]
        self._say({"event": update.outcome, **asdict(update)}, "\n".join(lines))

    def sampled(self, now: Snapshot) -> None:
        for end in self._story.add_sample(now):
            text = f"EJECTED: {end['kind']} in {end['handler']}: {end['reason']}"
            self._say({"event": "ejected", **end}, text)
        if time.monotonic() - self._said < _SECONDS:
            return
        # The next sample, a second later, knows the rate of a version that has just begun.
        if now.switches_rate is None and now.policy_id is not None:
            return
        self._said = time.monotonic()
        queues = " ".join(str(cpu.ready) for cpu in now.cpus)
        text = f"{figures(now)}; READY by CPU: {queues}"
        self._say({"event": "sample", **asdict(now)}, text)

    def _say(self, document: dict[str, Any], text: str) -> None:
        seconds = time.monotonic() - self._story.began
        line = json.dumps({"seconds": round(seconds, 3), **document}) if self._json else text
        print(line if self._json else f"[{seconds:6.1f}] {line}", flush=True)
