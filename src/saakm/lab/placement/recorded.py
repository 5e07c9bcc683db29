# SPDX-License-Identifier: GPL-2.0
"""Reads what trace-cmd has recorded in the guest."""

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ...base.errors import SaakmError
from ...model.placement import Placement
from ...trace.cut import Cut
from ...trace.events import parse_event
from ...trace.placement import Placements
from ..bench.latency import LOST


def of_file(path: Path, root: int, cut: Cut) -> Placement:
    """Of the descendants of the process `root`. The file is gone afterwards."""
    if not path.exists():
        raise SaakmError("left no trace", f"there is no {path}", "")
    report = ["trace-cmd", "report", "-R", "-t", "-i", str(path)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(report, stdout=subprocess.PIPE, stderr=errors, text=True,
                         errors="replace") as child,
    ):  # fmt: skip
        assert child.stdout
        try:
            found = of_lines(child.stdout, root, cut)
        except SaakmError:
            child.kill()
            raise
        finally:
            path.unlink()
        if child.wait():
            errors.seek(0)
            raise SaakmError("left a trace that cannot be read", errors.read()[-500:], "")
    return found


def of_lines(lines: Iterable[str], root: int, cut: Cut) -> Placement:
    """A part of a run would be taken for all of it, so that it is refused."""
    placements = Placements(root, cut)
    for line in lines:
        if match := LOST.match(line):
            raise SaakmError(
                "was not recorded whole",
                f"the buffer of CPU {match[1]} was full: name a larger `buffer`, or a shorter run",
                "",
            )
        if event := parse_event(line):
            placements.add(event)
    found = placements.finish()
    if not found.threads:
        raise SaakmError("left a trace without its threads", f"none descends from {root}", "")
    return found
