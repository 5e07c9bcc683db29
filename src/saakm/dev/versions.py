# SPDX-License-Identifier: GPL-2.0
"""Builds one policy again and again, each time as a module of another name.

No two modules of one name can be loaded, and the old one must stay until the
new one has its threads: two names take turns, each with a directory that is
kept, so that make compiles only what was edited. What was built gets a directory of
its own each time: a guest goes on serving a file that it has read once.
"""

import re
import shutil
import tempfile
from pathlib import Path

from ..base import cache
from ..base.errors import SaakmError
from ..base.files import hash_named
from ..base.process import run_logged
from ..builder.kernel import Kernel, environment, make_command
from ..builder.policies import module_name, source_files

# gcc's and modpost's; what else make says is of no use to an author.
_COMPLAINT = re.compile(r"(error|warning|ERROR|undefined)\b")
_MOST_LINES = 12


class CompileError(SaakmError):
    """`lines`: what the compiler said, about the user's own files."""

    def __init__(self, source: Path, lines: list[str]):
        super().__init__(
            f"{source.name} does not compile", "\n".join(lines), "mend it and save again"
        )
        self.lines = lines


class Versions:
    """`number` is that of the version that is loaded."""

    def __init__(self, kernel: Kernel, source: Path):
        self.kernel, self.source = kernel, source
        self.name = module_name(source)
        self.number = 0
        self._builds = 0
        # Not by process number: another container may use the same cache.
        name = f"{source.name}-dev-"
        self._directory = Path(tempfile.mkdtemp(prefix=name, dir=cache.make(kernel.modules)))

    def digest(self) -> str:
        """Changes with what is saved."""
        try:
            return hash_named(source_files(self.source))
        except FileNotFoundError:  # an editor is just renaming
            return ""

    def saved_at(self) -> float:
        return max(
            (file.stat().st_mtime for file in source_files(self.source).values()), default=0.0
        )

    def build(self) -> Path:
        """The next version's file. It counts once it is accepted."""
        module = f"{self.name}_{'ab'[self.number % 2]}"
        copy = self._directory / module
        self._copy_to(copy, module)
        log = self._directory / "build.log"
        try:
            command = [*make_command(self.kernel.build), f"M={copy}", "modules"]
            run_logged(command, log, f"building {module}", env=environment())
        except SaakmError as error:
            raise CompileError(self.source, _complaints(log, copy)) from error
        self._builds += 1
        built = self._directory / str(self._builds)
        built.mkdir()
        return Path(shutil.copy(copy / f"{module}.ko", built))

    def accept(self) -> int:
        """The version that was built is loaded: its name is taken. Returns its number."""
        self.number += 1
        return self.number

    def _copy_to(self, copy: Path, module: str) -> None:
        """Copies only what differs: make sees by its date what to compile."""
        wanted = {place: file.read_bytes() for place, file in source_files(self.source).items()}
        kbuild = "Kbuild"
        wanted[kbuild] = wanted.get(kbuild, b"") + _renamed(self.name, module).encode()
        for name, content in wanted.items():
            target = copy / name
            if not target.exists() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        for left in copy.rglob("*.h"):
            if str(left.relative_to(copy)) not in wanted:
                left.unlink()

    def close(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)


def _renamed(name: str, module: str) -> str:
    """The objects of NAME as a module of another name."""
    objects = f"$(or $(strip $({name}-y) $({name}-objs)),{name}.o)"
    return f"\n{module}-y := {objects}\nobj-m := {module}.o\n"


def _complaints(log: Path, copy: Path) -> list[str]:
    lines = log.read_text(errors="replace").splitlines()
    found = [
        i for i, line in enumerate(lines) if _COMPLAINT.search(line) and not line.startswith("make")
    ]
    if not found:
        return lines[-_MOST_LINES:]
    told = [
        line.replace(f"{copy}/", "") for line in lines[found[0] :] if not line.startswith("make")
    ]
    return told[:_MOST_LINES]
