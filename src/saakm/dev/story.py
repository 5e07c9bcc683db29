# SPDX-License-Identifier: GPL-2.0
"""What has happened since saakm dev began: for the screen's curves, and for the words at its end."""

import time
from collections import Counter, deque
from dataclasses import dataclass, field

from ..view.text import counted
from .loop import Update
from .sample import Snapshot

_KEPT = 1000  # samples, one a second


@dataclass
class Version:
    """What the workload made of it."""

    rounds: list[float] = field(default_factory=list)  # seconds of those that succeeded
    failed: int = 0


@dataclass
class Story:
    began: float = field(default_factory=time.monotonic)
    samples: deque[Snapshot] = field(default_factory=lambda: deque(maxlen=_KEPT))
    saves: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    ejections: list[dict[str, str]] = field(default_factory=list)
    longest_pause_ns: int = 0
    versions: dict[int, Version] = field(default_factory=lambda: {1: Version()})

    def add_update(self, update: Update) -> None:
        self.saves += update.saves
        self.outcomes[update.outcome] += 1
        pause = update.replacement.get("longest_pause_ns", 0)
        self.longest_pause_ns = max(self.longest_pause_ns, pause)
        self.versions.setdefault(update.version, Version())

    def add_sample(self, now: Snapshot) -> list[dict[str, str]]:
        """Returns the ejections that are new."""
        # The kernel forgets one whose module is unloaded, which the next version's loading does.
        known = {end["id"] for end in self.ejections}
        new = [end for end in now.ejected if end["id"] not in known]
        self.ejections += new
        before = len(self.samples[-1].rounds) if self.samples else 0
        # A round counts for the version under which it ended.
        for (status, seconds), number in list(zip(now.rounds, now.round_versions))[before:]:
            current = self.versions.setdefault(number, Version())
            if status:
                current.failed += 1
            else:
                current.rounds.append(seconds)
        self.samples.append(now)
        return new

    def summary(self) -> list[str]:
        seconds = time.monotonic() - self.began
        counts = {
            "replaced": "took over",
            "reloaded": "came after an ejection",
            "compile-error": "did not compile",
            "refused": "were refused",
        }
        parts = [
            f"{self.outcomes[one]} {words}" for one, words in counts.items() if self.outcomes[one]
        ]
        if overtaken := self.saves - sum(self.outcomes.values()):
            parts.append(f"{overtaken} overtaken by a later one")
        saves = ", ".join(parts)
        pause = f"; longest pause {self.longest_pause_ns / 1e6:.2f} ms" * bool(
            self.longest_pause_ns
        )
        lines = [
            f"{seconds:.0f} s, {counted(self.saves, 'save')}"
            + (f": {saves}{pause}" if saves else "")
        ]
        lines += [line for number, one in self.versions.items() if (line := _tell(number, one))]
        lines += [f"ejected: {e['kind']} in {e['handler']}: {e['reason']}" for e in self.ejections]
        return lines


def _tell(number: int, version: Version) -> str:
    done, failed = len(version.rounds), version.failed
    if not done and not failed:
        return ""
    words = f"version {number}: {counted(done, 'round')} of the workload"
    if done:
        mean = sum(version.rounds) / done
        words += f", {mean:.2f} s each ({min(version.rounds):.2f} to {max(version.rounds):.2f})"
    return words + (f", {failed} failed" if failed else "")
