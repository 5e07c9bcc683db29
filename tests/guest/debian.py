# SPDX-License-Identifier: GPL-2.0
"""A Debian machine with systemd, whose root is a directory of the host's.

It needs no agent: a service runs /root/job.sh at each boot, with its output in
/root/job.out, and switches the machine off.
"""

import hashlib
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.base.locks import locked
from saakm.base.process import run_logged, tail
from saakm.base.progress import meter
from saakm.lab.bench.packages import ensure
from saakm.vm.accel import choose_accel
from saakm.vm.command import bare_command, clock_arguments
from saakm.vm.machine import Machine
from saakm.vm.topology import flat_topology

SUITE = "bookworm"
# A minimal system, and what building modules takes.
INCLUDE = "systemd,systemd-sysv,dbus,libpam-systemd,procps,dkms,gcc,make,libelf1"
BOOT_SECONDS = 900.0
_JOB = """\
[Unit]
After=multi-user.target
[Service]
Type=exec
ExecStart=/bin/sh -c '. /root/job.sh >/root/job.out 2>&1; systemctl poweroff'
[Install]
WantedBy=multi-user.target
"""


def _unpacked(target: Path) -> None:
    """A new system, from the cache if it is there."""
    ensure(["debootstrap"])
    key = hashlib.sha256("\0".join([SUITE, INCLUDE]).encode()).hexdigest()[:12]
    kept = paths.CACHE / f"debian-{SUITE}-{key}.tar"
    with locked(paths.CACHE / "debian" / "lock"):
        if not kept.exists():
            with tempfile.TemporaryDirectory(dir=paths.CACHE / "debian") as scratch:
                tree = Path(scratch) / "tree"
                command = ["debootstrap", "--variant=minbase", f"--include={INCLUDE}"]
                with meter(f"installing Debian {SUITE}"):
                    run_logged(
                        [*command, SUITE, str(tree)],
                        paths.LOGS / "debian.log",
                        f"installing Debian {SUITE}",
                    )
                shutil.rmtree(tree / "var/cache/apt/archives")
                subprocess.run(
                    ["tar", "-C", tree, "-cf", kept.with_suffix(".new"), "."], check=True
                )
            kept.with_suffix(".new").rename(kept)
    target.mkdir()
    subprocess.run(["tar", "-C", target, "-xf", kept], check=True)


class Debian:
    """The machine. Files of its root may be written while it is off."""

    def __init__(self, directory: Path):
        self.root, self._console = directory / "root", directory / "console"
        _unpacked(self.root)
        self.write("etc/hostname", "debian\n")
        self.write("etc/systemd/system/job.service", _JOB)
        self.in_chroot("systemctl enable job; systemctl mask dev-ttyS0.device")

    def write(self, place: str, text: str) -> None:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def in_chroot(self, script: str) -> str:
        """What an installer would do. Ends with its mounts."""
        inside = f"mount -t proc proc {self.root}/proc && exec chroot {self.root} sh -ec {shlex.quote(script)}"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", inside],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "LC_ALL": "C",
                "DEBIAN_FRONTEND": "noninteractive",
            },
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def boot(self, script: str) -> str:
        """Boots the newest installed kernel; the output of `script`, run by systemd at the end."""
        self.write("root/job.sh", script)
        out = self.root / "root/job.out"
        out.unlink(missing_ok=True)
        try:
            done = subprocess.run(
                self._command(), capture_output=True, text=True, timeout=BOOT_SECONDS
            )
            failure = done.stderr
        except subprocess.TimeoutExpired:
            failure = f"it did not switch itself off within {BOOT_SECONDS:.0f} s"
        if failure or not out.exists():
            said = out.read_text() if out.exists() else ""
            pytest.fail(f"{failure}\n{tail(self._console)}\n--- job\n{said}", pytrace=False)
        return out.read_text()

    def _command(self) -> list[str]:
        kernel = max(self.root.glob("boot/vmlinuz-*"))
        machine = Machine(flat_topology(2), accel=choose_accel("auto", kernel))
        arguments = ["root=root", "rootfstype=9p", "rw", *clock_arguments(machine)]
        arguments += ["rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=mmap"]
        share = f"local,id=root,path={self.root},security_model=none,multidevs=remap"
        devices = ["-fsdev", share, "-device", "virtio-9p-pci,fsdev=root,mount_tag=root"]
        bare = bare_command(machine, kernel, f"file:{self._console}", arguments, *devices)
        return ["setpriv", "--pdeathsig", "KILL", *bare]
