# SPDX-License-Identifier: GPL-2.0
"""Compiles C files to objects, some at a time, each once for each content of all that it is made of."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache as remembered
from functools import cached_property
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import hash_named, replacing
from ..base.progress import Meter, meter

CACHE = paths.CACHE / "sim"
_JOBS = 2
_UNUSED_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class Unit:
    """One C file. `inputs`: a hash of what it includes, and of whatever else decides the outcome.

    `look_again` finds that hash anew, if it may change while the compiler reads.
    """

    source: Path
    compiler: str
    flags: tuple[str, ...]
    inputs: str
    of_policy: bool = False
    look_again: Callable[[], str] | None = field(default=None, compare=False)

    @cached_property
    def object(self) -> Path:
        """By what is there at the first look: it stays the same whatever is edited later."""
        return self._object_for(self.inputs)

    def refuse_edited(self) -> None:
        """What was compiled may be neither what was there before nor what is there now."""
        inputs = self.look_again() if self.look_again else self.inputs
        if self._object_for(inputs) != self.object:
            raise Edited(self.source)

    def _object_for(self, inputs: str) -> Path:
        try:
            named = {str(self.source): self.source}
            digest = hash_named(named, inputs, version(self.compiler), *self.flags)
        except FileNotFoundError as error:  # an editor may put another one there just now
            raise Edited(self.source) from error
        return CACHE / "objects" / f"{self.source.stem}-{digest[:24]}.o"


class Edited(SaakmError):
    """A file changed while it was compiled."""

    def __init__(self, source: Path):
        super().__init__(
            f"{source} cannot be compiled",
            "it, or what it includes, is edited while the compiler reads it",
            "wait until whatever writes it has done, then the same again",
        )


class CompileError(Exception):
    """What the compiler said of a unit."""

    def __init__(self, unit: Unit, said: str):
        super().__init__(said)
        self.unit, self.said = unit, said


@remembered
def version(compiler: str) -> str:
    return _answer(compiler, "--version").partition("\n")[0]


@remembered
def headers_of(compiler: str) -> Path:
    """The directory of the compiler's own headers: stdarg.h and the like."""
    return Path(_answer(compiler, "-print-file-name=include").strip())


def _answer(compiler: str, *arguments: str) -> str:
    return run_tool([compiler, *arguments]).stdout


def run_tool(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """In plain English and ASCII quotes, as complaints are looked through for what they say."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
        )
    except FileNotFoundError as error:
        raise SaakmError(
            "the simulator cannot be built",
            f"there is no program '{command[0]}'",
            "saakm doctor says what is missing",
        ) from error


def compile_all(units: Iterable[Unit]) -> dict[Unit, Path]:
    """The objects. What the compiler warns of in policies goes to stderr."""
    wanted = {unit: unit.object for unit in units}
    missing = [unit for unit, file in wanted.items() if not use(file)]
    if missing:
        cache.make(CACHE / "objects")
        with meter("building the simulator", len(missing)) as progress:
            _compile_missing(missing, progress)
    return wanted


def use(file: Path) -> bool:
    """Whether it is there; it then counts as used now, unless the cache may only be read."""
    try:
        os.utime(file)
    except FileNotFoundError:
        return False
    except OSError:
        return file.exists()
    return True


def _compile_missing(units: list[Unit], progress: Meter) -> None:
    """What takes longest first: the largest file."""
    units = sorted(units, key=lambda unit: -_size(unit.source))
    with ThreadPoolExecutor(_JOBS) as pool:
        running = {pool.submit(_compile, unit): unit for unit in units}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    unit = running.pop(future)
                    said = future.result()
                    if said:
                        print(said, end="", file=sys.stderr)
                    progress.describe(unit.source.name)
                    progress.advance()
        finally:
            for future in running:
                future.cancel()


def _size(source: Path) -> int:
    try:
        return source.stat().st_size
    except FileNotFoundError as error:
        raise Edited(source) from error


def _compile(unit: Unit) -> str:
    """What the compiler said, if it is somebody's business: warnings of policies are."""
    with replacing(unit.object) as scratch:
        command = [unit.compiler, *unit.flags, "-c", str(unit.source), "-o", str(scratch)]
        done = run_tool(command)
        unit.refuse_edited()
        if done.returncode:
            raise CompileError(unit, done.stderr)
    return done.stderr if unit.of_policy else ""


def remove_unused() -> None:
    """Objects and programs that nobody has used for a week: each edit of a policy leaves some."""
    before = time.time() - _UNUSED_SECONDS
    for part in ("objects", "programs", "runs"):
        for path in _entries(CACHE / part):
            try:
                if path.stat().st_mtime < before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            except OSError:
                continue  # somebody else has removed it


def _entries(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.is_dir() else []
