# SPDX-License-Identifier: GPL-2.0
"""Programs that print what is in a recording."""

import contextlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import BadWorkload


def require(program: str, package: str, path: Path) -> None:
    if not shutil.which(program):
        raise BadWorkload(
            f"{path}: {program} is needed to read it",
            "this machine has none",
            f"apt-get install {package}",
        )


@contextlib.contextmanager
def lines_of(command: Sequence[str], path: Path, whole: str) -> Iterator[Iterable[str]]:
    """What it prints; that it fails is known only at the end, and is refused then."""
    with tempfile.TemporaryFile() as complaints:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints,
            text=True, errors="replace",
        )  # fmt: skip
        assert child.stdout
        try:
            yield child.stdout
        except BaseException:
            child.kill()
            raise
        finally:
            child.stdout.close()
            status = child.wait()
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip()
    if status not in (0, -signal.SIGPIPE):  # whoever had enough of it closed the pipe
        raise BadWorkload(
            f"{path}: {command[0]} cannot read all of it",
            said.splitlines()[-1] if said else f"its status is {status}",
            f"if it was copied, copy it again; else {whole}",
        )
