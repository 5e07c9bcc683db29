# SPDX-License-Identifier: GPL-2.0
"""Records what a kernel asks of the class, asks the same class in user space, and compares."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ...builder.kernel import Kernel
from ...sim.kbuild import read_module
from ...sim.kinds import Recipe
from .build import build
from .races import Search
from .record import Recorded, record
from .replayer import start


@dataclass(frozen=True)
class Agreement:
    """What came out of one recording."""

    policies: tuple[str, ...]
    cpus: int
    calls: int
    equal: int
    raced: int  # equal as well, but made elsewhere in the order of what overlaps
    tried: int  # places elsewhere, to find these
    overlapping: int
    not_replayed: int
    kinds: dict[str, dict[str, int]]
    difference: str  # "": there is none
    seconds: float

    @property
    def holds(self) -> bool:
        return not self.difference and 0 < self.equal == self.calls - self.not_replayed - self.raced

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_all(
    kernel: Kernel,
    wanted: Iterable[Recorded],
    keep: Path | None,
    on_end: Callable[[Agreement], None],
) -> list[Agreement]:
    """Each is recorded, replayed, and forgotten unless `keep` is a directory for the recordings."""
    found = []
    for one in wanted:
        with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
            found.append(_compare(kernel, one, Path(name), keep))
        on_end(found[-1])
    return found


def _compare(kernel: Kernel, wanted: Recorded, scratch: Path, keep: Path | None) -> Agreement:
    begun = time.monotonic()
    names = tuple(policy.name for policy in wanted.policies)
    recording = scratch / f"{'-'.join(names)}-{wanted.cpus}.recording"
    program = build([read_module(policy) for policy in wanted.policies], Recipe())
    record(kernel, wanted, recording)
    try:
        return replay(program, recording, names, wanted.cpus, begun)
    finally:
        # Not earlier: QEMU and the replayer take no blanks and commas in paths.
        if keep:
            shutil.move(recording, keep / recording.name)


def replay(
    program: Path, recording: Path, names: tuple[str, ...], cpus: int, begun: float
) -> Agreement:
    """What the replayer says of a recording."""
    with start(program, recording, cpus) as replayer:
        search = Search(replayer)
        found = search.run()
    said = found.said
    if said["cut_off"]:
        raise SaakmError(f"{recording.name} is cut off", "its end is missing", "record it anew")
    return Agreement(
        names,
        cpus,
        said["calls"],
        said["equal"],
        said["raced"],
        search.tries,
        said["overlapping"],
        said["not_replayed"],
        said["kinds"],
        found.difference,
        round(time.monotonic() - begun, 1),
    )
