# SPDX-License-Identifier: GPL-2.0
"""Which QEMU runs the guests, and why.

SAAKM_QEMU=PATH names one, and SAAKM_QEMU=system takes the machine's own. Otherwise the
machine's own does if it is new enough; Debian 12's (7.2) is not, and a newer one is fetched
from Debian's backports, beside it. Where that fails, the machine's own has to do.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SaakmError
from ..base.own_apt import NotFetched
from . import qemu_fetch

PROGRAM = "qemu-system-x86_64"
# Before 8.1 a CPU could keep running kernel code that another one had just replaced
# (it meets an int3 that is no longer there, and oopses), if each has its own thread. Later ones
# leave a much smaller window for that, which linux/patches/0003-emulated-text-poke.patch closes.
_PATCHES_SAFELY = (8, 1)


@dataclass(frozen=True)
class Qemu:
    program: Path
    version: str  # in QEMU's own words
    why: str

    @property
    def number(self) -> tuple[int, ...]:
        match = re.match(r"(\d+)\.(\d+)", self.version)
        return tuple(map(int, match.groups())) if match else ()

    @property
    def patches_safely(self) -> bool:
        return self.number >= _PATCHES_SAFELY


def find_qemu(may_fetch: bool = True) -> Qemu | None:
    """None: there is none, and none could be fetched."""
    return _find(os.environ.get("SAAKM_QEMU", ""), may_fetch)


@functools.cache
def _find(wish: str, may_fetch: bool) -> Qemu | None:
    if wish not in ("", "system"):
        return _wished(wish)
    own = _machines_own()
    if wish or (own and own.patches_safely):
        return own
    fetched = qemu_fetch.fetched()
    if fetched and (version := says_version(fetched)):
        return Qemu(fetched, version, _why_fetched(own))
    if not may_fetch:
        note = "with the first guest, a newer one is fetched from Debian's backports"
        return Qemu(own.program, own.version, note) if own else None
    return _fetch(own)


def _wished(wish: str) -> Qemu:
    found = shutil.which(wish)
    version = says_version(Path(found)) if found else ""
    if not found or not version:
        raise SaakmError(
            f"SAAKM_QEMU={wish} names no QEMU",
            "it does not run" if found else "there is no such program",
            f"give the path of a {PROGRAM}, or 'system' for this machine's own",
        )
    return Qemu(Path(found).absolute(), version, "SAAKM_QEMU names it")


def _machines_own() -> Qemu | None:
    found = shutil.which(PROGRAM)
    version = says_version(Path(found)) if found else ""
    return Qemu(Path(found), version, "it is this machine's own") if found and version else None


def _why_fetched(own: Qemu | None) -> str:
    least = ".".join(map(str, _PATCHES_SAFELY))
    was = f"this machine's own is older than {least}" if own else "this machine has none of its own"
    return f"it was fetched from Debian's backports: {was}"


def _fetch(own: Qemu | None) -> Qemu | None:
    """Says why not once: then that is remembered for a day."""
    why = qemu_fetch.failure()
    if not why:
        try:
            program = qemu_fetch.fetch()
            return Qemu(program, says_version(program), _why_fetched(own))
        except NotFetched as error:
            why = str(error)
        print(f"saakm: no newer QEMU can be fetched: {why}", file=sys.stderr)
    return Qemu(own.program, own.version, f"a newer one cannot be fetched: {why}") if own else None


def says_version(program: Path) -> str:
    """Empty, if it does not run: a library may be missing."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace"
        )
    except OSError:
        return ""
    match = re.match(r"QEMU emulator version (.+)", done.stdout)
    return match[1] if match and done.returncode == 0 else ""


def needed_qemu() -> Qemu:
    qemu = find_qemu()
    if not qemu:
        raise SaakmError(
            "there is no QEMU",
            f"{PROGRAM} is not installed, and none can be fetched: {qemu_fetch.failure()}",
            "apt-get install qemu-system-x86",
        )
    return qemu


def qemu_program() -> Path:
    return needed_qemu().program


def qemu_version() -> str | None:
    qemu = find_qemu()
    return qemu.version if qemu else None


def threads_patch_safely() -> bool:
    """Whether the guest may patch its code while its CPUs run in a thread each."""
    qemu = find_qemu()
    return qemu is not None and qemu.patches_safely
