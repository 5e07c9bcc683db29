# SPDX-License-Identifier: GPL-2.0
"""The trace of a simulation: the same files as of a guest's, out of the events that it writes."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..base import cache
from ..base.files import make_output, replacing
from ..builder.source import SERIES
from ..model.fair_class import FAIR
from ..model.schema import plain
from ..model.simulation import Simulation
from ..model.trace_metadata import Recorded, Summary
from ..trace.recording import draw_pictures, summarise, write_trace
from ..vm.topology import Topology
from .compile import CACHE

TRACE = "trace.perfetto-trace"


def is_file(target: Path) -> bool:
    """Whether a trace alone is meant, and not a directory with pictures as well."""
    return target.suffix in (".perfetto", ".perfetto-trace", ".pftrace")


def file_of(target: Path) -> Path:
    """The trace itself."""
    return target if is_file(target) else target / TRACE


@contextlib.contextmanager
def events_file() -> Iterator[Path]:
    """A place for what the program writes: of a file without a name, so that none is ever left behind."""
    with tempfile.TemporaryFile(dir=cache.make(CACHE / "runs")) as file:
        yield Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


def write(
    events: Path, found: Simulation, topology: Topology, target: Path, title: str
) -> Summary | None:
    """None of a trace alone: its summary would need a place."""
    recorded = _recorded(events, found)
    if not is_file(target):
        make_output(target)
    with events.open(errors="replace") as lines, replacing(file_of(target)) as scratch:
        timeline = write_trace(lines, recorded, scratch)
    if is_file(target):
        return None
    draw_pictures(timeline, topology, target, "png", title, "simulated time")
    name = found.policies[0].name if found.policies else FAIR
    summary = summarise(name, timeline, recorded, target)
    (target / "summary.json").write_text(json.dumps(plain(summary), indent=2) + "\n")
    return summary


def _recorded(events: Path, found: Simulation) -> Recorded:
    with events.open("rb") as file:
        entries = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    policy_id = found.policies[0].id if found.policies else 0
    return Recorded(
        status=0,
        policy_id=policy_id,
        policy={},
        cpus=found.cpus,
        release=f"{SERIES}.0",
        entries=entries,
        lost=0,
        tgids={},
    )
