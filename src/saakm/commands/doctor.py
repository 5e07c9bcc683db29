# SPDX-License-Identifier: GPL-2.0
"""saakm doctor: what this machine lacks, and how to get it."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..base import cache, paths
from ..base.errors import SaakmError
from ..builder import pinned, source
from ..view.terminal import table
from ..vm import accel
from ..vm.qemu import Qemu, find_qemu

_DISK_GB = 12  # source, two kernel builds, compiler cache
_MEMORY_GB = 4  # a debug guest of 2 GB, and the link of vmlinux


@dataclass(frozen=True)
class Finding:
    """`fix` is empty when nothing needs mending. Not all that is not ok stops the show."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show what is missing on this machine and how to get it; and which QEMU runs guests, and why.

    Debian 12's own QEMU has faults that later ones have not: where it can be had, a newer one from
    Debian's backports is unpacked in the cache, beside it, when the first guest boots.
    SAAKM_QEMU=system takes the machine's own, SAAKM_QEMU=PATH another.
    """
    findings = [*_packages(), _source(), _cache(), _disk(), _memory(), *_qemu_and_kvm()]
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        Console().print(_table(findings))
    if any(f.needed and not f.ok for f in findings):
        raise typer.Exit(1)


def read_packages() -> list[tuple[str, str, str]]:
    """Package, the command that does as well ('-': none; with '>=': if it is new), what it is for."""
    lines = paths.PACKAGES.read_text().splitlines()
    found = []
    for line in filter(None, lines):
        if not line.startswith("#"):
            package, command, purpose = line.split(maxsplit=2)
            found.append((package, command, purpose))
    return found


def _packages() -> list[Finding]:
    return [_package(*entry) for entry in read_packages()]


def _package(package: str, command: str, purpose: str) -> Finding:
    name, _, least = command.partition(">=")
    found = name != "-" and shutil.which(name)
    own = _version(found) if found and least else ""
    if found and (not least or _is_new_enough(own, least)):
        return Finding(package, True, f"{found} {own}".strip())
    query = ["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}", package]
    try:
        done = subprocess.run(query, capture_output=True, text=True)
        installed, _, version = done.stdout.partition(" ")
    except FileNotFoundError:
        installed, version = "", ""
    if found:
        fix = (
            f"update it (rustup update), or put {package}'s before it in PATH"
            if installed == "installed"
            else f"apt-get install {package}"
        )
        state = f"{found} {own or 'does not run'}; {least} is the least"
        return Finding(package, False, state, fix)
    if installed == "installed":
        return Finding(package, True, version)
    return Finding(package, False, f"missing; for {purpose}", f"apt-get install {package}")


def _source() -> Finding:
    """All works without the pinned one, but for comparisons with earlier figures."""
    wanted, version = pinned.pin(), pinned.package_version(source.TARBALL)
    if version == wanted.version:
        return Finding("kernel source", True, f"{version}, the pinned one", needed=False)
    return Finding(
        "kernel source",
        False,
        f"{version or 'not of a package'} instead of the pinned {wanted.version}: figures may differ",
        f"apt-get install {wanted.package}={wanted.version}, if the mirror still has it",
        needed=False,
    )


def _version(program: str) -> str:
    done = subprocess.run(
        [program, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    match = re.search(r"\d+(\.\d+)+", done.stdout)
    return match[0] if match else ""


def _is_new_enough(version: str, least: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".") if part]

    return bool(version) and numbers(version) >= numbers(least)


def _cache() -> Finding:
    hidden = cache.hidden_by_guest(paths.CACHE)
    if hidden:
        return Finding(
            "cache",
            False,
            f"{paths.CACHE}: guests do not see it, they have their own {hidden}",
            "give a directory elsewhere in SAAKM_CACHE, or unset it",
        )
    where = _existing(paths.CACHE)
    if not os.access(where, os.W_OK):
        return Finding(
            "cache",
            False,
            f"{where} cannot be written",
            "mend that, or give another directory in SAAKM_CACHE",
        )
    return Finding("cache", True, str(paths.CACHE))


def _existing(path: Path) -> Path:
    return next(path for path in (path, *path.parents) if path.exists())


def _disk() -> Finding:
    where = _existing(paths.CACHE)
    free = shutil.disk_usage(where).free / 2**30
    fix = (
        f"free space, or set SAAKM_CACHE to another disk; {_DISK_GB} GiB are enough for all builds"
    )
    return Finding(
        "disk", free >= _DISK_GB, f"{free:.0f} GiB free at {where}", "" if free >= _DISK_GB else fix
    )


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    enough = total >= _MEMORY_GB
    fix = "" if enough else f"{_MEMORY_GB} GiB are needed to link a kernel and run a debug guest"
    return Finding("memory", enough, f"{total:.0f} GiB", fix)


def _qemu_and_kvm() -> list[Finding]:
    try:
        qemu = find_qemu(may_fetch=False)
        found = Finding("qemu", False, "missing", "apt-get install qemu-system-x86")
    except SaakmError as error:
        qemu = None
        found = Finding("qemu", False, f"{error.what}: {error.why}", error.next_step)
    if qemu:
        found = Finding("qemu", True, f"{qemu.version}: {qemu.why} ({qemu.program})")
    return [found, _kvm(qemu)]


def _kvm(qemu: Qemu | None) -> Finding:
    """All works without KVM, by emulation: it is never an obstacle."""
    slow = "guests run by emulation (TCG): slower, needs nothing"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return Finding("kvm", False, "no /dev/kvm that this user may open", slow, needed=False)
    kernels = sorted(paths.BUILD.glob("*/vmlinux"))
    if not kernels:
        return Finding(
            "kvm", False, "not tried yet: it takes a built kernel", "saakm build", needed=False
        )
    if not qemu:
        return Finding("kvm", False, "not tried: there is no QEMU", needed=False)
    works, why = accel.probe(kernels[0], qemu)
    return Finding("kvm", works, why, "" if works else slow, needed=False)


def _table(findings: list[Finding]) -> Table:
    shown = table("", "", "what", "state", "to mend it")
    for f in findings:
        mark = "[green]ok[/]" if f.ok else "[red]missing[/]" if f.needed else "[yellow]no[/]"
        shown.add_row(mark, f.name, f.detail, f.fix)
    return shown
