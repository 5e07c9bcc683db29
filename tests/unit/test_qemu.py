# SPDX-License-Identifier: GPL-2.0
"""Which QEMU is taken, and that nothing unsigned is fetched."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saakm.base import paths

_ASK = "from saakm.vm.qemu import find_qemu; found = find_qemu(); print(found.program, found.why)"
_FETCH = "from saakm.vm import qemu_fetch; qemu_fetch.fetch()"


class Machine:
    """One whose own QEMU is old, and whose apt has one source: this directory."""

    def __init__(self, directory: Path):
        self.mirror = directory / "mirror"
        self.programs = directory / "bin"
        self.old = self.programs / "qemu-system-x86_64"
        self.programs.mkdir()
        self._script(self.old, "7.2.22 (Debian)")
        (directory / "sources").mkdir()
        (directory / "sources" / "own.list").write_text(f"deb file:{self.mirror} bookworm main\n")
        (directory / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
        config = directory / "apt.conf"
        config.write_text(
            f'Dir::Etc::SourceList "/dev/null"; Dir::Etc::SourceParts "{directory}/sources";'
        )
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(paths.REPO / "src"),
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "APT_CONFIG": str(config),
            "SAAKM_CACHE": str(directory / "cache"),
            "SAAKM_QEMU": "",
        }

    def _script(self, place: Path, version: str) -> None:
        place.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}'\n")
        place.chmod(0o755)

    def run(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**self.environment, **environment},
        )

    def publish(self, directory: Path) -> None:
        """A newer one, by nobody: the mirror is right in all, but not signed."""
        tree, deb = directory / "package", self.mirror / "qemu.deb"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "usr/bin").mkdir(parents=True)
        self._script(tree / "usr/bin/qemu-system-x86_64", "10.0.2 (of nobody)")
        control = (
            "Package: qemu-system-x86\nVersion: 1:10.0.2\nArchitecture: amd64\n"
            "Maintainer: nobody <nobody@localhost>\nDescription: a trap\n"
        )
        (tree / "DEBIAN" / "control").write_text(control)
        self.mirror.mkdir()
        subprocess.run(["dpkg-deb", "-b", tree, deb], check=True, capture_output=True)
        about = f"Filename: qemu.deb\nSize: {deb.stat().st_size}\nSHA256: {_sha256(deb)}\n"
        for suite in ("bookworm", "bookworm-backports"):
            place = self.mirror / "dists" / suite
            packages = place / "main/binary-amd64/Packages"
            packages.parent.mkdir(parents=True)
            packages.write_text(control + about)
            (place / "Release").write_text(
                f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nComponents: main\n"
                "Date: Sat, 01 Jan 2022 00:00:00 UTC\nArchitectures: amd64\nSHA256:\n"
                f" {_sha256(packages)} {packages.stat().st_size} main/binary-amd64/Packages\n"
            )


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_without_backports_the_old_one_does_and_that_is_said_once(machine):
    first, second = machine.run(_ASK), machine.run(_ASK)
    assert first.stdout == second.stdout
    assert first.stdout.startswith(f"{machine.old} a newer one cannot be fetched: apt-get: ")
    assert str(machine.mirror) in first.stdout
    assert first.stderr.count("no newer QEMU can be fetched") == 1 and second.stderr == ""


def test_a_machine_without_apt(machine, tmp_path):
    for name in ("env", "sh"):
        (machine.programs / name).symlink_to(shutil.which(name))
    done = machine.run(_ASK, PATH=str(machine.programs))
    assert done.stdout.startswith(f"{machine.old} a newer one cannot be fetched: ")
    assert "apt-get" in done.stdout


def test_what_nobody_signed_is_not_taken(machine, tmp_path):
    """Though the machine's own apt would trust it."""
    machine.publish(tmp_path)
    source = f"deb [trusted=yes] file:{machine.mirror} bookworm main\n"
    (tmp_path / "sources" / "own.list").write_text(source)
    done = machine.run(_FETCH)
    assert "NotFetched" in done.stderr and "not signed" in done.stderr
    assert not list((tmp_path / "cache" / "qemu").glob("[0-9]*"))


def test_one_that_is_new_enough_is_not_replaced(machine):
    machine._script(machine.old, "9.2.0 (Debian)")
    assert machine.run(_ASK).stdout == f"{machine.old} it is this machine's own\n"


@pytest.mark.parametrize(("wish", "why"), [("system", "own"), ("PATH", "SAAKM_QEMU names it")])
def test_the_environment_chooses(machine, wish, why):
    done = machine.run(_ASK, SAAKM_QEMU=str(machine.old) if wish == "PATH" else wish)
    assert done.stdout.startswith(str(machine.old)) and why in done.stdout and not done.stderr


def test_a_wish_that_cannot_be_fulfilled_is_an_error(machine):
    assert "names no QEMU" in machine.run(_ASK, SAAKM_QEMU="/bin/true").stderr
    assert "there is no such program" in machine.run(_ASK, SAAKM_QEMU="nosuch").stderr
