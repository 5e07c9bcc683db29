# SPDX-License-Identifier: GPL-2.0
"""A replayer that runs: processes at places of a recording, each the child of the one before."""

import json
import math
import os
import re
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ...base.errors import SaakmError

_ARGUMENTS = "smt=1 llc={cpus} node={cpus}"
_SECONDS = 1200
# Of the first difference both states are shown; a terminal's worth is enough.
_MOST_LINES = 150

# A call by its number, and where it is made: "begin", "end", "patched" (it is the first in code that
# was being patched), or cut in two at a read, by its number.
Race = tuple[int, str]


@dataclass(frozen=True)
class Replayed:
    """How far it came, and what the replayer says of that."""

    said: dict[str, Any]
    difference: str  # "": there is none so far

    @property
    def over(self) -> bool:
        """It goes no further: it differs, or this is the end."""
        return bool(self.difference or self.said["ended"])

    @property
    def reached(self) -> float:
        return self.said["reached"] if self.difference else math.inf

    @property
    def differs_in(self) -> int:
        """The call that differs."""
        return int(self.said["differs_in"])

    def suspects(self, races: Iterable[Race]) -> list[int]:
        """Calls that may have raced, and are not moved yet."""
        moved = {frame for frame, _ in races}
        return [frame for frame in dict.fromkeys(self.said["suspects"]) if frame not in moved]

    def overlapping(self, races: Iterable[Race]) -> list[int]:
        """Of these the ones that have not ended."""
        first = self.said["suspects"][: self.said["open"]]
        return [frame for frame in self.suspects(races) if frame in first]


@contextmanager
def start(program: Path, recording: Path, cpus: int) -> Iterator["Replayer"]:
    """Its first process, before the first call."""
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
        text = Path(name) / "program"
        text.write_text(f"recording {recording}\n")
        words = [f"cpus={cpus}", *_ARGUMENTS.format(cpus=cpus).split(), str(text)]
        with (Path(name) / "errors").open("a+") as errors:
            process = subprocess.Popen(
                [str(program), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            try:
                yield Replayer(process, errors, recording.name)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


class Replayer:
    """sim/replay/conduct.c says what it understands."""

    def __init__(self, process: subprocess.Popen[bytes], errors: TextIO, name: str) -> None:
        self._process = process
        self._errors = errors
        self._name = name
        self._last_words = ""
        self._asked = 0

    def go(self, call: int, races: Iterable[Race] = ()) -> Replayed | None:
        """A new process goes on to this call with these races besides, and stays there.

        None: it has died of that.
        """
        self._asked += 1
        moves = (f"raced {frame} {where}" for frame, where in races)
        self._tell([*moves, f"go {call} {self._asked}"])
        said = self._answer()
        self._last_words = self._take_errors()
        if said["asked"] != self._asked:
            raise self._error("a process that stood at an earlier call has died: is memory short?")
        if "died" in said:
            return None
        differs = said["differs"] or said["warnings"]
        return Replayed(said, _difference(self._last_words) if differs else "")

    def back(self) -> None:
        """Ends the process that has come last; the one before it stands where it did."""
        self._tell(["back"])

    def _tell(self, lines: list[str]) -> None:
        pipe = self._process.stdin
        assert pipe
        try:
            pipe.write("".join(f"{line}\n" for line in lines).encode())
            pipe.flush()
        except BrokenPipeError as error:
            raise self._failed() from error

    def _answer(self) -> dict[str, Any]:
        pipe = self._process.stdout
        assert pipe
        if not select.select([pipe], [], [], _SECONDS)[0]:
            raise self._error(f"it takes more than {_SECONDS} s")
        line = pipe.readline()
        if not line:
            raise self._failed()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _take_errors(self) -> str:
        """What has come since the last time."""
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.truncate(0)
        return text

    def _failed(self) -> SaakmError:
        status = self._process.wait()
        said = self._take_errors()[-1000:]
        return self._error(said or f"the replayer ended with status {status}")

    def died(self) -> SaakmError:
        """The last process has, and nobody wanted it to."""
        return self._error(self._last_words[-1000:] or "the replayer has died")

    def _error(self, why: str) -> SaakmError:
        return SaakmError(
            f"{self._name} could not be replayed",
            why,
            "record it anew; if that does not help, it is a fault of sim/replay",
        )


def _difference(text: str) -> str:
    lines = [re.sub(r"^\[ *[\d.]+\] ", "", line) for line in text.splitlines()]
    return "\n".join(lines[:_MOST_LINES]) or "the replayer has failed, and does not say why"
