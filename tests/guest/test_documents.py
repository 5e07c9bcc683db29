# SPDX-License-Identifier: GPL-2.0
"""Commands of README and pages that no other test runs, as they stand there: tests/documents.py."""

import json
import re
import subprocess

import pytest
from documents import all_blocks, blocks

from saakm.base import paths
from saakm.builder.modules import build_modules

from .support import BUILT, remove_cgroup, run_ok

pytestmark = pytest.mark.kernel("base")
README = paths.REPO / "README.md"
HERE = "/tmp/reader"
IN_GUEST = sorted({block.page for block in all_blocks() if block.mark == "run in a guest"})


@pytest.fixture
def another_fifo():
    """What a reader would have written: the file of a policy fifo2."""
    source = BUILT / "fifo2"
    source.mkdir(parents=True, exist_ok=True)
    text = (paths.POLICIES / "fifo/fifo.c").read_text()
    (source / "fifo2.c").write_text(re.sub(r"\bfifo\b", "fifo2", text))
    (source / "Kbuild").write_text("obj-m := fifo2.o\n")
    return source


@pytest.mark.parametrize("page", IN_GUEST, ids=lambda page: page.name)
def test_commands_for_the_target(guest, page, another_fifo):
    """In the order of the page, in a directory with a Makefile and the module, beside a process."""
    (module,) = build_modules(guest.kernel, sources=[another_fifo])
    run_ok(guest, f"mkdir {HERE} && cp {module} {HERE} && echo 'all:' >{HERE}/Makefile && "
                  "mkdir -p /sys/fs/cgroup/batch && { sleep infinity & echo $! >/tmp/pid; }")  # fmt: skip
    run_ok(guest, "[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup; "
                  "echo +cpu >/sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/batch")  # fmt: skip
    settings = f"cd {HERE}; export SAAKM_POLICIES={guest.kernel.modules} PID=$(cat /tmp/pid)"
    said = {}
    for block in blocks(page):
        if block.mark == "run in a guest":
            for command in block.commands:
                said[command] = run_ok(guest, f"{settings}; {command}")
    assert "sleep" in said["saakmctl ps"] and "fifo" in said["saakmctl list"]
    policies = run_ok(guest, "cat /proc/saakm/policies")
    assert "fifo2" in policies and "fifo " not in policies
    run_ok(guest, f"kill $(cat /tmp/pid); {remove_cgroup('/sys/fs/cgroup/batch')}")
    run_ok(guest, f"rm -r {HERE} /tmp/pid")


def command_of(begin):
    (command,) = [c for block in blocks(README) for c in block.commands if c.startswith(begin)]
    return command


def run_here(command):
    done = subprocess.run(command, shell=True, cwd=paths.REPO, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.limit(200)
def test_run():
    assert "Time: " in run_here(command_of("./saakm run rr"))


@pytest.mark.limit(300)
def test_builds_say_what_they_have_built():
    kernel = paths.BUILD.glob("*-base/vmlinux")
    said = run_here("./saakm build kernel")
    assert said.split()[:2] in (["kernel", str(path)] for path in kernel)
    modules = run_here(command_of("./saakm build modules"))
    for name in ("fifo", "rr", "prio", "vtime"):
        assert f"/{name}.ko\n" in modules


@pytest.mark.limit(300)
def test_doctor_and_list():
    done = subprocess.run(command_of("./saakm doctor"), shell=True, cwd=paths.REPO)
    assert done.returncode == 0  # what runs guests is there
    assert "nginx" in run_here(command_of("./saakm bench --list"))


@pytest.mark.long
@pytest.mark.limit(300)
def test_demo_in_json():
    fair, vtime = json.loads(run_here("./saakm demo vtime --json 2>/dev/null"))
    assert (fair["policy"], vtime["policy"]) == ("fair", "vtime") and vtime["doubts"] == []


@pytest.mark.long
@pytest.mark.limit(300)
def test_demo():
    assert "All of it was scheduled by SaaKM" in run_here(command_of("./saakm demo"))
