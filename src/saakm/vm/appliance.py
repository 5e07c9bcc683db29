# SPDX-License-Identifier: GPL-2.0
"""A guest without the host's file system: one static program and some files.

Seeded and with a clock that counts instructions, such a run is repeated to the
bit; one on the host's root file system is not.
"""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import GuestDied, GuestHung
from ..base.process import tail
from .command import bare_command
from .machine import Machine
from .patience import Patience
from .running import is_held
from .splats import last_words
from .topology import flat_topology, parse_topology

_POLL_SECONDS = 0.2
_running: set[subprocess.Popen[Any]] = set()


def with_libraries(program: Path) -> dict[str, Path]:
    """What a dynamic program needs, by its place in the guest: itself in /, the rest as here."""
    return {program.name: program, **libraries(program)}


def libraries(program: Path) -> dict[str, Path]:
    """None, if it is static."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    found = re.findall(r"(/\S+) \(0x", listed.stdout)
    return {path.lstrip("/"): Path(path) for path in found}


@dataclass(frozen=True)
class Appliance:
    """What is run: everything that decides the outcome, to the instruction."""

    vmlinux: Path
    program: Path  # its init
    files: dict[str, Path] = field(default_factory=dict)  # by their place in the guest
    arguments: tuple[str, ...] = ()  # for the kernel, and for the program
    machine: Machine = field(default_factory=lambda: counted_machine("1s4c"))


def counted_machine(topology: str | int, memory: int = 512, **more: Any) -> Machine:
    """A machine whose time is counted; `topology` may be a mere number of CPUs. `memory`: MiB."""
    cpus = flat_topology(topology) if isinstance(topology, int) else parse_topology(topology)
    return Machine(cpus, f"{memory}M", deterministic=True, **more)


def run(
    appliance: Appliance,
    on_line: Callable[[str], None] | None = None,
    timeout: float = 300,
    options: Sequence[str] = (),
    directory: Path | None = None,
) -> str:
    """The console's text; the program has to power off.

    `options`: more of QEMU's, which do not decide the outcome. `directory`: where a debugger looks.
    """
    with tempfile.TemporaryDirectory(prefix="saakm-") as name:
        image = pack(Path(name), appliance)
        console, errors = Path(name) / "console", Path(name) / "errors"
        with errors.open("w") as stderr:
            child = subprocess.Popen(
                [*command(appliance, image, f"file:{console}"), *options],
                stdin=subprocess.DEVNULL,
                stderr=stderr,
            )
            _running.add(child)
            try:
                _follow(child, console, on_line, timeout, directory)
            finally:
                _running.discard(child)
                child.kill()
                child.wait()
        text = console.read_text(errors="replace") if console.exists() else ""
        if child.returncode or "Kernel panic" in text:
            raise GuestDied(
                f"the guest died (QEMU ended with status {child.returncode})",
                errors.read_text(errors="replace").strip() or "its console says why",
                "try the policy with saakm run --config debug",
                last_words(text.replace("\r", "")),
            )
        return text


def end_all() -> None:
    """Ends guests that other threads wait for: their run() raises GuestDied."""
    for child in list(_running):
        child.kill()


def command(appliance: Appliance, image: Path, serial: str) -> list[str]:
    """`serial`: where the console goes, as QEMU spells it."""
    arguments = ["quiet", "mitigations=off", *appliance.arguments]
    initrd = ["-initrd", str(image)]
    return bare_command(appliance.machine, appliance.vmlinux, serial, arguments, *initrd)


def pack(directory: Path, appliance: Appliance) -> Path:
    root, image = directory / "root", directory / "initrd"
    for place, file in {"init": appliance.program, **appliance.files}.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / place)
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir()
    # The guest shall not see when, in which order or under which umask this was written: looking up
    # a path takes more instructions where not everybody may.
    inside = sorted(root.rglob("*"))
    for path in inside:
        is_run = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if is_run else 0o644)
        os.utime(path, (0, 0))
    names = [str(path.relative_to(root)) for path in inside]
    archive = ["cpio", "-o", "-H", "newc", "--quiet", "--reproducible", "-D", str(root)]
    with image.open("wb") as out:
        subprocess.run(archive, input="\n".join(names).encode(), stdout=out, check=True)
    return image


def _follow(
    child: subprocess.Popen[Any],
    console: Path,
    on_line: Callable[[str], None] | None,
    timeout: float,
    directory: Path | None,
) -> None:
    """Waits until QEMU ends; hands over each whole line of the console as it comes."""
    clock, deadline, seen, ended = Patience(child.pid), timeout, 0, False
    while not ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_POLL_SECONDS)
            ended = True
        if directory and is_held(directory):
            deadline = clock.spent() + timeout
        if not ended and clock.spent() > deadline:
            raise GuestHung(
                f"the guest did not end within {timeout:.0f} s of work",
                "it hangs, or it has that much to do",
                "give it fewer operations, or look at it while it hangs: saakm gdb",
                tail(console),
            )
        lines = console.read_text(errors="replace").split("\n") if console.exists() else [""]
        if on_line:
            for line in lines[seen:-1]:
                on_line(line)
        seen = len(lines) - 1
