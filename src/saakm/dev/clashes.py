# SPDX-License-Identifier: GPL-2.0
"""Whether a new policy's names are taken: gcc and a built kernel are asked, which know."""

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..base.errors import SaakmError
from ..base.process import run_logged
from ..builder.kernel import environment, make_command
from ..builder.policies import source_files

# If the code does not even compile under this name, another name is not what is wrong.
_NEUTRAL = "zz_neutral"
# "FILE:LINE:COLUMN: note: previous declaration of 'u64' ...", quoted as the locale has it.
_DECLARED = re.compile(r"^([^\s:]+):[\d:]+ note: previous \w+ of ['‘](\w+)", re.M)
_HEADER = re.compile(r"(?:arch/\w+/)?include/.*")
_ERROR = re.compile(r"error: (.*)")
# Such parts of the kernel have a directory in /sys/module, as if they had been loaded.
_BUILT_IN = re.compile(rb"(?:^|\0)([\w-]+)\.(?:parmtype|version)=")


def fault_in_compiler(name: str) -> str | None:
    """Why gcc alone does not take `name`, whatever is included."""
    try:
        done = subprocess.run(
            ["gcc", "-std=gnu11", "-E", "-P", "-x", "c", "-"],
            input=name,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return None  # saakm doctor says that it is missing
    meaning = done.stdout.strip()
    if done.returncode or meaning == name:
        return None
    return f"it is a macro of gcc's own, which stands for {meaning or 'nothing'}"


def fault_in_kernel(
    name: str, files_of: Callable[[str], dict[str, str]], build: Path
) -> str | None:
    """Why the policy `name` would not compile or not load. `files_of`: the policy of a name.

    The kernel of `build` may be of an older linux/: a fault that any name has is none of the name.
    """
    if name in _built_in(build):
        return "the kernel has a part of this name built in, and takes no module that is called so"
    said = _compile(build, name, files_of(name))
    if not said or _compile(build, _NEUTRAL, files_of(_NEUTRAL)):
        return None
    if declared := _DECLARED.search(said):
        header = _HEADER.search(declared[1])
        return f"{header[0] if header else declared[1]} of the kernel declares '{declared[2]}'"
    error = _ERROR.search(said)
    return (
        f"the kernel's headers have a macro '{name}', or one that begins so; gcc says: "
        f"{error[1] if error else said.strip()}"
    )


def _built_in(build: Path) -> set[str]:
    try:
        data = (build / "modules.builtin.modinfo").read_bytes()
    except OSError:
        return set()
    return {match.decode().replace("-", "_") for match in _BUILT_IN.findall(data)}


def _compile(build: Path, name: str, files: dict[str, str]) -> str:
    """What make says if it fails."""
    with tempfile.TemporaryDirectory(prefix="saakm-new-") as scratch:
        directory = Path(scratch) / name
        directory.mkdir()
        for file, text in files.items():
            (directory / file).write_text(text)
        for place, header in source_files(directory).items():
            if not (directory / place).exists():  # those that policies share
                (directory / place).parent.mkdir(exist_ok=True)
                (directory / place).write_bytes(header.read_bytes())
        command = [*make_command(build, jobs=1), f"M={directory}", f"{name}.o"]
        log = Path(scratch) / "log"
        try:
            run_logged(command, log, "compiling", env=environment())
        except SaakmError:
            return log.read_text()
    return ""
