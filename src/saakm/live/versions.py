# SPDX-License-Identifier: GPL-2.0
"""Builds one policy again and again, each time as a module of another name.

No two modules of one name can be loaded, and the old one must stay until the
new one has its threads.
"""

import os
import re
import shutil
from pathlib import Path

from ..errors import SaakmError
from ..kernel import Kernel, environment, hash_files, make_command
from ..process import run_logged

# gcc's and modpost's; what else make says is of no use to an author.
_COMPLAINT = re.compile(r"(error|warning|ERROR|undefined)\b")
_MOST_LINES = 12


class CompileError(SaakmError):
    """`lines`: what the compiler said, about the user's own files."""

    def __init__(self, source: Path, lines: list[str]):
        super().__init__(f"{source.name} does not compile", "\n".join(lines), "mend it and save again")
        self.lines = lines


class Versions:
    """`module` and `number` are of the version that was built last."""

    def __init__(self, kernel: Kernel, source: Path):
        self.kernel, self.source = kernel, source
        self.number = 0
        self._directory = kernel.modules / f"{source.name}-dev-{os.getpid()}"

    def digest(self) -> str:
        """Changes with what is saved. Editors' files that come and go are no sources."""
        names = ("*.c", "*.h", "Kbuild")
        try:
            return hash_files((f for n in names for f in self.source.rglob(n)), self.source)
        except FileNotFoundError:  # an editor is just renaming
            return ""

    def saved_at(self) -> float:
        return max(f.stat().st_mtime for f in self.source.rglob("*") if f.suffix in (".c", ".h"))

    def build(self) -> Path:
        """The next version's file; the number counts only if it compiles."""
        number = self.number + 1
        module = f"{self.source.name}_{number}"
        copy = self._directory / module
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.source, copy)
        with (copy / "Kbuild").open("a") as kbuild:
            kbuild.write(_renamed(self.source.name, module))
        log = self._directory / "build.log"
        try:
            command = [*make_command(self.kernel.build), f"M={copy}", "modules"]
            run_logged(command, log, f"building {module}", env=environment())
        except SaakmError as error:
            raise CompileError(self.source, _complaints(log, copy, self.source)) from error
        shutil.rmtree(self._directory / f"{self.source.name}_{self.number - 1}", ignore_errors=True)
        self.number = number
        return copy / f"{module}.ko"

    def close(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)


def _renamed(name: str, module: str) -> str:
    """The objects of NAME as a module of another name."""
    objects = f"$(or $(strip $({name}-y) $({name}-objs)),{name}.o)"
    return f"\n{module}-y := {objects}\nobj-m := {module}.o\n"


def _complaints(log: Path, copy: Path, source: Path) -> list[str]:
    lines = log.read_text(errors="replace").splitlines()
    found = [i for i, line in enumerate(lines) if _COMPLAINT.search(line) and not line.startswith("make")]
    if not found:
        return lines[-_MOST_LINES:]
    told = [line.replace(f"{copy}/", "") for line in lines[found[0] :] if not line.startswith("make")]
    return told[:_MOST_LINES]
