# SPDX-License-Identifier: GPL-2.0
"""Of all workers together: boots, and what the class has stood."""

from collections import Counter
from typing import Any

import pytest

_FOUND = pytest.StashKey[list[tuple[dict[str, int], int, float]]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_FOUND] = []


def add_totals(
    config: pytest.Config, counts: dict[str, int], boots: int, boot_seconds: float
) -> None:
    """What this process knows; a worker's goes to the one that has the terminal."""
    found = (counts, boots, boot_seconds)
    if hasattr(config, "workeroutput"):
        config.workeroutput["guests"] = found
    else:
        config.stash[_FOUND].append(found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if found := getattr(node, "workeroutput", {}).get("guests"):
        node.config.stash[_FOUND].append(found)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The table of docs/reference/safety.md is made of the second part."""
    counts: Counter[str] = Counter()
    boots, seconds = 0, 0.0
    for its_counts, its_boots, its_seconds in config.stash[_FOUND]:
        counts.update(its_counts)
        boots, seconds = boots + its_boots, seconds + its_seconds
    if boots:
        terminalreporter.section("guests")
        terminalreporter.write_line(
            f"{boots} boots took {seconds:.0f} s, without those of commands that tests run"
        )
    if counts:
        terminalreporter.section("storms, none with a loss")
        for what, count in sorted(counts.items()):
            terminalreporter.write_line(f"{count:>9,}  {what}")
