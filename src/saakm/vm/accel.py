# SPDX-License-Identifier: GPL-2.0
"""Chooses between KVM and emulation (TCG), by trying.

A /dev/kvm that exists may still not boot an ordinary kernel (nested
virtualisation can hang in the BIOS), so only a boot counts.
"""

import json
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import read_json, write_text
from ..base.progress import meter
from .command import bare_command
from .machine import KVM, ONE_THREAD, TCG, Machine
from .qemu import Qemu, needed_qemu, threads_patch_safely
from .topology import flat_topology

PROBE_SECONDS = 5.0
_MEMO = paths.CACHE / "accel.json"
_NO_KVM = "there is no /dev/kvm that this user may open"
# It has no root file system: a kernel that comes this far has booted.
_BOOTED = "Unable to mount root fs"


def _may_use_kvm() -> bool:
    return os.access("/dev/kvm", os.R_OK | os.W_OK)


def check_accel(wish: str) -> None:
    if wish not in ("auto", KVM, TCG, ONE_THREAD):
        raise SaakmError(
            f"there is no accelerator '{wish}'",
            "QEMU runs with kvm or tcg",
            f"--accel auto|kvm|tcg|{ONE_THREAD}",
        )
    if wish == KVM and not _may_use_kvm():
        raise SaakmError("KVM does not work here", _NO_KVM, "use --accel tcg, or auto")


def choose_accel(wish: str, vmlinux: Path, patches_code: bool = False) -> str:
    """`patches_code`: the guest will flip static keys in hot paths while its CPUs run through them."""
    check_accel(wish)
    accel = wish if wish in (TCG, ONE_THREAD) else _kvm_or_tcg(wish, vmlinux)
    return ONE_THREAD if accel == TCG and patches_code and not threads_patch_safely() else accel


def _kvm_or_tcg(wish: str, vmlinux: Path) -> str:
    if wish == "auto" and not _may_use_kvm():
        return TCG
    works, why = probe(vmlinux, needed_qemu())
    if works:
        return KVM
    if wish == KVM:
        raise SaakmError("KVM does not work here", why, "use --accel tcg, or auto")
    return TCG


def probe(vmlinux: Path, qemu: Qemu) -> tuple[bool, str]:
    """Whether KVM boots a kernel, and why not. Remembered for this QEMU and these kernels."""
    key = f"{qemu.version} on {platform.release()}, {_identity(vmlinux)}"
    match read_json(_MEMO).get(key):
        case [bool(works), str(why)]:
            return works, why
    with meter("trying whether KVM boots a kernel, once"):
        works, why = _boot(vmlinux, qemu.program)
    cache.make(_MEMO.parent)
    write_text(_MEMO, json.dumps({key: [works, why]}))
    return works, why


def _identity(vmlinux: Path) -> str:
    # The build directory, not the build: another edit of a policy does not change the answer.
    return str(vmlinux.parent)


def _boot(vmlinux: Path, program: Path) -> tuple[bool, str]:
    if not _may_use_kvm():
        return False, _NO_KVM
    with tempfile.TemporaryDirectory(prefix="saakm-probe-") as scratch:
        console = Path(scratch) / "console"
        machine = Machine(flat_topology(1), "512M", KVM)
        command = bare_command(
            machine, vmlinux, f"file:{console}", ["earlyprintk=serial"], qemu=program
        )
        started = time.monotonic()
        done = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            errors = done.communicate(timeout=PROBE_SECONDS)[1]
        except subprocess.TimeoutExpired:
            errors = ""
        finally:
            done.kill()
            done.wait()
        text = console.read_text(errors="replace") if console.exists() else ""
        if _BOOTED in text:
            return True, f"a kernel booted in {time.monotonic() - started:.1f} s"
        said = (errors or text).strip().partition("\n")[0] or "nothing"
        return False, f"a kernel did not boot within {PROBE_SECONDS:.0f} s (it said: {said})"
