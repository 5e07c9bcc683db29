# SPDX-License-Identifier: GPL-2.0
"""The command line that boots a kernel on the host's own files.

virtme-ng knows QEMU and its quirks: it writes the command line. Only its init
is replaced, because that spends most of the boot in udev.
"""

import functools
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from . import qmp as monitor
from .appliance import compile_static
from .qemu import qemu_program, threads_patch_safely
from .topology import Topology, parse_topology

# Emulates the CPUs by turns, as QEMU spells it.
ONE_THREAD = "tcg,thread=single"


@dataclass(frozen=True)
class Machine:
    """The machine to boot, whatever the kernel."""

    topology: Topology = field(default_factory=lambda: parse_topology("1s4c"))
    memory: str = "1G"
    accel: str = "tcg"  # resolved: kvm, tcg, or ONE_THREAD
    deterministic: bool = False
    # If deterministic, an instruction takes 2^shift ns: what waits for time takes less of the host's.
    shift: int = 0
    seed: int = 1
    append: tuple[str, ...] = ()


def package_in_guest(exchange: Path) -> Path:
    """Our own files as the guest sees them: a checkout below /tmp is hidden by its own /tmp."""
    return exchange / "python" / paths.PACKAGE.name


def qemu_command(
    machine: Machine, vmlinux: Path, exchange: Path, mode: str, environment: dict[str, str]
) -> list[str]:
    """`mode` and `environment` are for guest/init; ttyS0 is stdio, ttyS1 the kernel's console."""
    virtme = _virtme_command(machine, vmlinux, _own_options(machine, exchange))
    at = virtme.index("-append") + 1
    package = package_in_guest(exchange)
    shutil.copytree(paths.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    arguments = _kernel_arguments(virtme[at], machine, mode, environment)
    virtme[at] = " ".join([*arguments, f"init={package}/guest/init"])
    # A guest must not outlive us, however we end.
    return ["setpriv", "--pdeathsig", "KILL", *virtme]


def _own_options(machine: Machine, exchange: Path) -> list[str]:
    options = machine.topology.qemu_args(machine.memory)
    options += ["-serial", f"file:{exchange}/console"]
    options += ["-fsdev", f"local,id=saakm,path={exchange},security_model=none"]
    options += ["-device", "virtio-9p-pci,fsdev=saakm,mount_tag=saakm"]
    options += [*monitor.options(exchange), "-no-reboot"]
    if machine.deterministic:
        options += [
            "-accel",
            "tcg",
            "-icount",
            f"shift={machine.shift},sleep=off",
            "-seed",
            str(machine.seed),
        ]
        options += ["-rtc", "base=2024-01-01T00:00:00,clock=vm"]
    if machine.accel == ONE_THREAD:
        options += ["-accel", ONE_THREAD]
    if machine.accel != "kvm":
        # Only Intel's CPUID tells Linux of dies and of caches shared by siblings.
        options += ["-cpu", "max,vendor=GenuineIntel"]
    return options


def _virtme_command(machine: Machine, vmlinux: Path, options: list[str]) -> list[str]:
    # Called as a module: the package's scripts need not be on PATH.
    run = [sys.executable, "-m", "virtme.commands.run", "--kimg", str(vmlinux), "--mods", "none"]
    run += [
        "--qemu-bin",
        str(qemu_program()),
        "--memory",
        machine.memory,
        "--force-9p",
        "--disable-monitor",
        "--disable-microvm",
    ]
    if machine.accel != "kvm":
        run += ["--disable-kvm"]
    run += ["--dry-run", "--show-command", "--qemu-opts", *options]
    done = subprocess.run(run, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SaakmError(
            "virtme-ng cannot start the guest",
            done.stderr.strip() or done.stdout.strip(),
            "saakm doctor says what is missing",
        )
    return shlex.split(done.stdout.splitlines()[-1])


def _kernel_arguments(
    virtme: str, machine: Machine, mode: str, environment: dict[str, str]
) -> list[str]:
    """virtme-ng's arguments for the root file system, and our console and init."""
    keep = [w for w in shlex.split(virtme) if w == "ro" or w.startswith(("root", "TERM="))]
    # The root is read-only on both sides: caching it is safe, and boots faster.
    keep = [w + ",cache=loose" if w.startswith("rootflags=") else w for w in keep]
    ours = ["console=ttyS1", "earlyprintk=serial,ttyS1,115200", "printk.time=1"]
    # A scheduler that oopsed cannot go on; a hung one is made to speak by an NMI.
    ours += ["oops=panic", "panic=-1", "unknown_nmi_panic", "panic_print=0x40"]
    ours += [f"saakm_{name}={value}" for name, value in environment.items()]
    ours += [f"saakm_mode={mode}"]
    if machine.accel != "kvm":
        ours += emulation_arguments(machine)
    return [*keep, *ours, *machine.append]


def emulation_arguments(machine: Machine) -> list[str]:
    """On a busy host a guest that calibrates its clocks is wrong by factors."""
    # Emulation hands the host's time stamp counter through, except where it counts instructions.
    khz = "1000000" if machine.deterministic else _host_tsc_khz()
    clocks = ["no_timer_check", "tsc=reliable", f"tsc_early_khz={khz}"]
    by_turns = machine.deterministic or machine.accel == ONE_THREAD
    return clocks if by_turns or threads_patch_safely() else [*clocks, "saakm_keep_patched"]


@functools.cache
def _host_tsc_khz() -> str:
    program = compile_static(paths.GUEST_FILES / "tsc_khz.c")
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()
