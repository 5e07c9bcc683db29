# SPDX-License-Identifier: GPL-2.0
"""A guest without files of the host: one static program and some modules.

Seeded and with a clock that counts instructions, such a run is repeated to the
bit; one on the host's root file system is not.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import paths
from .errors import GuestDied, GuestHung
from .process import run_logged, tail

_QEMU = "qemu-system-x86_64 -M q35 -cpu max -accel tcg -icount shift=0,sleep=off -m 512"
_QEMU += " -rtc base=2024-01-01T00:00:00,clock=vm -display none -nodefaults -no-reboot"


def compile_static(source: Path) -> Path:
    program = paths.CACHE / "programs" / source.stem
    program.parent.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        run_logged(
            ["gcc", "-O2", "-static", "-Wall", "-Werror", "-o", str(program), str(source)],
            paths.LOGS / f"{source.stem}.log",
            f"compiling {source.name}",
        )
    return program


def _pack(directory: Path, program: Path, files: list[Path]) -> Path:
    root, image = directory / "root", directory / "initrd"
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir(parents=True)
    shutil.copy(program, root / "init")
    for file in files:
        shutil.copy(file, root)
    names = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    command = ["cpio", "-o", "-H", "newc", "--quiet", "--reproducible", "-D", str(root)]
    with image.open("wb") as out:
        subprocess.run(command, input="\n".join(names).encode(), stdout=out, check=True)
    return image


def run(vmlinux: Path, program: Path, files: list[Path], append: str, *, cpus: int = 1,
        seed: int = 1, timeout: float = 300) -> str:
    """The console's text; the program has to power off."""
    with tempfile.TemporaryDirectory() as name:
        image = _pack(Path(name), program, files)
        console = Path(name) / "console"
        command = _QEMU.split()
        command += ["-smp", str(cpus), "-seed", str(seed), "-serial", f"file:{console}"]
        command += ["-kernel", str(vmlinux), "-initrd", str(image), "-append"]
        command += [f"console=ttyS0 quiet panic=-1 mitigations=off {append}"]
        try:
            status = subprocess.run(command, timeout=timeout, check=False).returncode
        except subprocess.TimeoutExpired as error:
            raise GuestHung(
                f"the guest did not end within {timeout:.0f} s",
                "it hangs, or this machine is very busy",
                "try again with a longer --timeout",
                tail(console),
            ) from error
        text = console.read_text(errors="replace")
        if status or "Kernel panic" in text:
            raise GuestDied(
                f"the guest died (QEMU ended with status {status})",
                "its console says why",
                "try the policy with saakm run --config debug",
                tail(console),
            )
        return text
