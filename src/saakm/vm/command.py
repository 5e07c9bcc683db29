# SPDX-License-Identifier: GPL-2.0
"""Command lines of QEMU.

There are two kinds: bare_command() for a kernel with what it is given, and host_command() for
one on the host's own root file system. virtme-ng knows how to share that, and writes that part;
only its init is replaced, because that spends most of the boot in udev.
"""

import functools
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..base import paths
from ..base.errors import BadInput, SaakmError
from ..base.sizes import megabytes
from ..builder.programs import compile_static
from . import qmp
from .machine import KVM, Machine
from .qemu import qemu_program, threads_patch_safely

DISK_SERIAL = "saakm"
# In counted time, which begins here; else a guest measures its clocks against each other.
_LONGEST_LINE = 2047  # COMMAND_LINE_SIZE of x86, with the zero at its end
COUNTED_CLOCK = ("no_timer_check", "tsc=reliable", "tsc_early_khz=1000000")


def bare_command(
    machine: Machine,
    vmlinux: Path,
    serial: str,
    arguments: Sequence[str],
    *more: str,
    qemu: Path | None = None,
) -> list[str]:
    """No devices but a serial line, the console, and `more`.

    `serial`: where it goes, as QEMU spells it. `qemu`: if not the one that runs all guests.
    """
    words = [
        str(qemu or qemu_program()),
        "-M",
        "q35",
        "-display",
        "none",
        "-nodefaults",
        "-no-reboot",
    ]
    words += ["-m", machine.memory, *_options(machine)]
    if machine.accel == KVM:
        words += ["-accel", KVM, "-cpu", "host"]
    words += ["-serial", serial, *more, "-kernel", str(vmlinux), "-append"]
    line = " ".join(["console=ttyS0", "panic=-1", *arguments, *machine.append])
    if len(line.encode()) > _LONGEST_LINE:
        raise BadInput(
            "the kernel's command line would be too long",
            f"it takes {_LONGEST_LINE} characters and drops the rest, of {len(line.encode())}",
            "name fewer or shorter parameters, options and features",
        )
    return [*words, line]


def host_command(
    machine: Machine, vmlinux: Path, exchange: Path, mode: str, environment: dict[str, str]
) -> list[str]:
    """`mode` and `environment` are for guest/init; ttyS0 is stdio, ttyS1 the kernel's console."""
    options = [*_options(machine), "-serial", f"file:{exchange}/console"]
    options += ["-fsdev", f"local,id=saakm,path={exchange},security_model=none"]
    options += ["-device", "virtio-9p-pci,fsdev=saakm,mount_tag=saakm"]
    options += [*qmp.options(exchange), *_disk(machine, exchange), "-no-reboot"]
    virtme = _virtme_command(machine, vmlinux, options)
    at = virtme.index("-append") + 1
    package = package_in_guest(exchange)
    shutil.copytree(paths.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    arguments = _host_arguments(virtme[at], machine, mode, environment)
    virtme[at] = " ".join([*arguments, f"init={package}/guest/init"])
    # A guest must not outlive us, however we end.
    return ["setpriv", "--pdeathsig", "KILL", *virtme]


def _disk(machine: Machine, exchange: Path) -> list[str]:
    """A file of the host's, which ends with the guest: so nothing waits for the host's own disk."""
    if not machine.disk:
        return []
    file = exchange / "disk"
    with file.open("wb") as stream:
        stream.truncate(megabytes(machine.disk) << 20)
    drive = f"file={file},if=none,id=disk,format=raw,cache=unsafe"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive=disk,serial={DISK_SERIAL}"]


def package_in_guest(exchange: Path) -> Path:
    """Our own files as the guest sees them: a checkout below /tmp is hidden by its own /tmp."""
    return exchange / "python" / paths.PACKAGE.name


def _options(machine: Machine) -> list[str]:
    """What decides how the guest runs. How KVM is asked for is for the caller to say."""
    words = machine.topology.qemu_args(machine.memory)
    if machine.accel != KVM:
        # Only Intel's CPUID tells Linux of dies and of caches shared by siblings.
        model = "max" if machine.topology.flat else "max,vendor=GenuineIntel"
        # QEMU 10 aborts when a guest asks leaf 0x1f about dies. Which caches are shared leaf 4 tells.
        model += ",level=0x1e" if machine.topology.llcs > 1 else ""
        words += ["-accel", machine.accel, "-cpu", model]
    if machine.deterministic:
        words += ["-icount", f"shift={machine.shift},sleep=off", "-seed", str(machine.seed)]
        words += ["-rtc", "base=2024-01-01T00:00:00,clock=vm"]
    if machine.plugin:
        words += ["-plugin", machine.plugin]
    return words


def _virtme_command(machine: Machine, vmlinux: Path, options: list[str]) -> list[str]:
    # Called as a module: the package's scripts need not be on PATH.
    run = [sys.executable, "-m", "virtme.commands.run", "--kimg", str(vmlinux), "--mods", "none"]
    run += ["--qemu-bin", str(qemu_program()), "--memory", machine.memory]
    run += ["--force-9p", "--disable-monitor", "--disable-microvm"]
    run += [] if machine.accel == KVM else ["--disable-kvm"]
    run += ["--dry-run", "--show-command", "--qemu-opts", *options]
    done = subprocess.run(run, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SaakmError(
            "virtme-ng cannot start the guest",
            done.stderr.strip() or done.stdout.strip(),
            "saakm doctor says what is missing",
        )
    return shlex.split(done.stdout.splitlines()[-1])


def _host_arguments(
    virtme: str, machine: Machine, mode: str, environment: dict[str, str]
) -> list[str]:
    """virtme-ng's arguments for the root file system, and our console and init."""
    keep = [w for w in shlex.split(virtme) if w == "ro" or w.startswith(("root", "TERM="))]
    # Faster to boot. What a guest has read does not change for it: see dev/versions.py.
    keep = [w + ",cache=loose" if w.startswith("rootflags=") else w for w in keep]
    ours = ["console=ttyS1", "earlyprintk=serial,ttyS1,115200", "printk.time=1"]
    # A scheduler that oopsed cannot go on; a hung one is made to speak by an NMI.
    ours += ["oops=panic", "panic=-1", "unknown_nmi_panic", "panic_print=0x40"]
    ours += [f"saakm_{name}={value}" for name, value in environment.items()]
    return [*keep, *ours, f"saakm_mode={mode}", *clock_arguments(machine), *machine.append]


def clock_arguments(machine: Machine) -> list[str]:
    """On a busy host an emulated guest that calibrates its clocks is wrong by factors."""
    if machine.accel == KVM:
        return []
    if machine.deterministic:
        return [*COUNTED_CLOCK]
    # Emulation hands the host's time stamp counter through.
    clocks = ["no_timer_check", "tsc=reliable", f"tsc_early_khz={_host_tsc_khz()}"]
    safe = machine.by_turns or threads_patch_safely()
    return clocks if safe else [*clocks, "saakm_keep_patched"]


@functools.cache
def _host_tsc_khz() -> str:
    program = compile_static(paths.GUEST_FILES / "tsc_khz.c")
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()
