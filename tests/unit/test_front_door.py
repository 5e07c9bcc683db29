# SPDX-License-Identifier: GPL-2.0
"""./saakm itself, and the one list of packages that it and doctor read."""

import subprocess
from pathlib import Path

from saakm.commands.doctor import read_packages

REPO = Path(__file__).resolve().parents[2]


def test_every_package_has_a_probe_and_a_purpose():
    packages = read_packages()
    assert {"linux-source-6.12", "qemu-system-x86", "rt-tests"} <= {name for name, _, _ in packages}
    for name, command, purpose in packages:
        assert " " not in name and " " not in command and len(purpose) > 5, name


def test_shell_syntax():
    for script in (
        "saakm",
        "src/saakm/guest/init",
        "src/saakm/guest/agent",
        "src/saakm/guest/shell",
    ):
        shell = "bash" if script == "saakm" else "dash"
        done = subprocess.run([shell, "-n", str(REPO / script)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_without_root_it_prints_the_command_to_type(tmp_path):
    """A dpkg-query that knows no package, and an id(1) that is not root."""
    fake = tmp_path / "bin"
    fake.mkdir()
    for name, body in {"dpkg-query": "exit 1", "id": "echo 1000"}.items():
        (fake / name).write_text(f"#!/bin/sh\n{body}\n")
        (fake / name).chmod(0o755)
    done = subprocess.run(
        [str(REPO / "saakm"), "--help"],
        capture_output=True,
        text=True,
        env={
            "PATH": f"{fake}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "SAAKM_CACHE": str(tmp_path / "c"),
        },
    )
    assert done.returncode == 1
    assert "next: sudo apt-get install " in done.stderr and "linux-source-6.12" in done.stderr
