# SPDX-License-Identifier: GPL-2.0
"""A guest without the host's file system: one static program and some files.

Seeded and with a clock that counts instructions, such a run is repeated to the
bit; one on the host's root file system is not.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base import cache, paths
from ..base.errors import GuestDied, GuestHung
from ..base.files import replacing
from ..base.process import run_logged, tail
from ..build.kernel import hash_files
from .patience import Patience
from .qemu import qemu_program
from .running import is_held
from .splats import last_words
from .topology import Topology

_MACHINE = "-M q35 -cpu max -accel tcg"
_MACHINE += " -rtc base=2024-01-01T00:00:00,clock=vm -display none -nodefaults -no-reboot"
_CFLAGS = ["-O2", "-Wall", "-Werror", f"-I{paths.INCLUDE}"]
_POLL_SECONDS = 0.2
_running: set[subprocess.Popen[Any]] = set()


def compile_static(source: Path) -> Path:
    """The program of one C file, or of all those in a directory."""
    return _compile(source, ["-static", "-pthread"])


def compile_plugin(source: Path) -> Path:
    """A plugin of QEMU's."""
    return _compile(source, ["-shared", "-fPIC", "-fvisibility=hidden"])


def _compile(source: Path, flags: list[str]) -> Path:
    files = sorted(source.glob("*.[ch]")) if source.is_dir() else [source]
    shared = sorted(paths.INCLUDE.glob("*.h"))
    digest = hash_files(files, source.parent, hash_files(shared, paths.INCLUDE), *_CFLAGS, *flags)[
        :16
    ]
    program = paths.CACHE / "programs" / f"{source.stem}-{digest}"
    if not program.exists():
        cache.make(program.parent)
        code = [str(file) for file in files if file.suffix == ".c"]
        # Of two threads that come here at once each has its own, and the last one's stays.
        with replacing(program) as scratch:
            run_logged(
                ["gcc", *_CFLAGS, *flags, "-o", str(scratch), *code],
                paths.LOGS / f"{program.name}.log",
                f"compiling {source.name}",
            )
    return program


def with_libraries(program: Path) -> dict[str, Path]:
    """What a dynamic program needs, by its place in the guest: itself in /, the rest as here."""
    return {program.name: program, **libraries(program)}


def libraries(program: Path) -> dict[str, Path]:
    """None, if it is static."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    found = re.findall(r"(/\S+) \(0x", listed.stdout)
    return {path.lstrip("/"): Path(path) for path in found}


@dataclass(frozen=True)
class Machine:
    """What is run: everything that decides the outcome, to the instruction."""

    vmlinux: Path
    program: Path
    files: dict[str, Path] = field(default_factory=dict)  # by their place in the guest
    append: str = ""
    cpus: int = 1
    seed: int = 1
    memory: int = 512  # MiB
    plugin: str = ""  # a plugin of TCG, with its arguments
    topology: Topology | None = None  # instead of `cpus`
    shift: int = 0  # an instruction takes 2^shift ns: time that is waited for costs the host less


def run(
    machine: Machine,
    on_line: Callable[[str], None] | None = None,
    timeout: float = 300,
    options: Sequence[str] = (),
    directory: Path | None = None,
) -> str:
    """The console's text; the program has to power off.

    `options`: more of QEMU's, which do not decide the outcome. `directory`: where a debugger looks.
    """
    with tempfile.TemporaryDirectory(prefix="saakm-") as name:
        image = pack(Path(name), machine)
        console, errors = Path(name) / "console", Path(name) / "errors"
        with errors.open("w") as stderr:
            child = subprocess.Popen(
                [*command(machine, image, f"file:{console}"), *options],
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
    """Of guests that other threads wait for: their run() raises GuestDied."""
    for child in list(_running):
        child.kill()


def command(machine: Machine, image: Path, serial: str) -> list[str]:
    """`serial`: where the console goes, as QEMU spells it."""
    words = [str(qemu_program()), *_MACHINE.split(), "-icount", f"shift={machine.shift},sleep=off"]
    words += ["-m", str(machine.memory), "-seed", str(machine.seed)]
    if machine.topology:
        # Only Intel's CPUID tells Linux of dies and of caches shared by siblings.
        words += ["-cpu", "max,vendor=GenuineIntel"]
        words += machine.topology.qemu_args(f"{machine.memory}M")
    else:
        words += ["-smp", str(machine.cpus)]
    if machine.plugin:
        words += ["-plugin", machine.plugin]
    words += ["-serial", serial, "-kernel", str(machine.vmlinux)]
    words += ["-initrd", str(image), "-append"]
    return [*words, f"console=ttyS0 quiet panic=-1 mitigations=off {machine.append}"]


def pack(directory: Path, machine: Machine) -> Path:
    root, image = directory / "root", directory / "initrd"
    for place, file in {"init": machine.program, **machine.files}.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / place)
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir()
    # The guest shall not see when or in which order this was written.
    inside = sorted(root.rglob("*"))
    for path in inside:
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
    """Until QEMU ends; hands over each whole line of the console as it comes."""
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
