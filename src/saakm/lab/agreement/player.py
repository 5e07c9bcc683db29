# SPDX-License-Identifier: GPL-2.0
"""The program that plays a workload with real threads: guest/player, with the simulator's reader."""

from pathlib import Path

from ...base import cache, paths
from ...base.files import hash_files, replacing
from ...base.process import run_logged
from ...sim.kinds import ENGINE

_SOURCE = paths.GUEST_FILES / "player"
_CFLAGS = ["-O2", "-Wall", "-Werror", "-static", "-pthread", f"-I{paths.INCLUDE}", f"-I{ENGINE}"]


def build_player() -> Path:
    files = [*sorted(_SOURCE.glob("*.[ch]")), *sorted(ENGINE.glob("program*.[ch]"))]
    shared = [ENGINE / "engine.h", ENGINE / "host.h", *sorted(paths.INCLUDE.glob("*.h"))]
    digest = hash_files([*files, *shared], paths.REPO, *_CFLAGS)[:16]
    program = paths.CACHE / "programs" / f"player-{digest}"
    if not program.exists():
        cache.make(program.parent)
        code = [str(file) for file in files if file.suffix == ".c"]
        with replacing(program) as scratch:
            run_logged(
                ["gcc", *_CFLAGS, "-o", str(scratch), *code],
                paths.LOGS / f"{program.name}.log",
                "compiling the player",
            )
    return program
