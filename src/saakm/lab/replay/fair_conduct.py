# SPDX-License-Identifier: GPL-2.0
"""Records what a kernel asks of fair, asks the same of a policy in user space, and compares decisions."""

import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ...sim.kbuild import Module, read_module
from ...sim.kinds import Recipe
from .build import build_fair
from .fair_record import FairRecorded, record_fair

_SECONDS = 3600
# Of the first difference both states are shown; a terminal's worth is enough.
_MOST_LINES = 150


@dataclass(frozen=True)
class FairAgreement:
    """What came out of one recording."""

    scenario: str
    features: tuple[str, ...]
    policy: str
    cpus: int
    kernel: str  # its configuration
    calls: int
    picks: int  # of the same thread
    picks_of_boot: int  # of these, before the scenario began
    choices: int  # picks of one of several
    preemptions: int  # whether the running thread gives way was decided so often, likewise
    delays: int  # sleeps that were delayed, likewise
    states: int  # pairs of vruntime and deadline that were equal; 0: they were not compared
    difference: str  # "": there is none
    seconds: float

    @property
    def holds(self) -> bool:
        return not self.difference and self.picks > self.picks_of_boot

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_with_fair(
    policy: Path,
    wanted: Iterable[FairRecorded],
    params: Sequence[str],
    keep: Path | None,
    on_begin: Callable[[FairRecorded], None],
) -> Iterator[FairAgreement]:
    """Each is recorded, replayed, and forgotten unless `keep` is a directory for the recordings."""
    module = read_module(policy)
    program = build_fair(module, Recipe())
    for one in wanted:
        with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
            recording = Path(name) / f"fair-{one.scenario.name}-{one.cpus}.recording"
            begun = time.monotonic()
            on_begin(one)
            record_fair(one, recording)
            try:
                yield replay_fair(program, module, recording, one, params, begun)
            finally:
                # Not earlier: QEMU takes no commas in paths.
                if keep:
                    shutil.move(recording, keep / recording.name)


def replay_fair(
    program: Path,
    module: Module,
    recording: Path,
    wanted: FairRecorded,
    params: Sequence[str],
    begun: float,
) -> FairAgreement:
    """What the replayer (sim/fair) says of a recording."""
    said, text = _run(program, module, recording, wanted, params)
    if said["cut_off"]:
        raise SaakmError(f"{recording.name} is cut off", "its end is missing", "record it anew")
    return FairAgreement(
        wanted.scenario.name,
        wanted.all_features,
        module.name,
        wanted.cpus,
        wanted.config,
        said["calls"],
        said["picks"],
        said["picks_of_boot"],
        said["choices"],
        said["preemptions"],
        said["delays"],
        said["states"],
        _difference(text) if said["differs"] else "",
        round(time.monotonic() - begun, 1),
    )


def _run(
    program: Path, module: Module, recording: Path, wanted: FairRecorded, params: Sequence[str]
) -> tuple[dict[str, Any], str]:
    cpus = wanted.cpus
    machine = [f"cpus={cpus}", "smt=1", f"llc={cpus}", f"node={cpus}"]
    given = [f"{module.modname}.{text}" for text in params]
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
        text = Path(name) / "program"
        lines = [f"recording {recording}", *map(feature_line, wanted.all_features)]
        lines += ["states"] if wanted.states else []
        text.write_text("\n".join([*lines, ""]))
        done = subprocess.run(
            [str(program), *machine, *given, str(text)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    if not done.stdout.strip():
        raise SaakmError(
            f"{recording.name} could not be replayed",
            done.stderr[-1000:] or f"the replayer ended with status {done.returncode}",
            "if a parameter was refused: what the policy has is in its README; else record it anew",
        )
    return json.loads(done.stdout), done.stderr


def feature_line(feature: str) -> str:
    """A feature of fair's is a parameter of the policy, under the same name in small letters."""
    off = feature.startswith("NO_")
    name = feature.removeprefix("NO_").lower()
    on = "old" if name == "next_buddy" else "1"
    return f"feature {feature} {name} {'0' if off else on}"


def _difference(text: str) -> str:
    lines = [re.sub(r"^\[ *[\d.]+\] ", "", line) for line in text.splitlines()]
    return "\n".join(lines[:_MOST_LINES]) or "the replayer has failed, and does not say why"
