# SPDX-License-Identifier: GPL-2.0
"""What saakm new creates builds, loads and schedules, outside of the checkout."""

import json
import shutil
import subprocess

import pytest
from call import saakm

from saakm.builder.modules import build_modules
from saakm.dev.scaffold import SMALLEST, policy_files, shipped

from .support import emptied, run_ok

pytestmark = pytest.mark.kernel("base")


@pytest.fixture
def create(tmp_path):
    def create(origin):
        directory = tmp_path / f"my_{origin or 'own'}"
        directory.mkdir()
        sources = shipped(origin) if origin else SMALLEST
        for file, text in policy_files(directory.name, origin, sources).items():
            (directory / file).write_text(text)
        return directory

    return create


@pytest.mark.parametrize(
    "origin", [None, "fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", "lavd"]
)
def test_it_schedules_as_created(guest, create, origin):
    directory = create(origin)
    build_modules(guest.kernel, sources=[directory])
    guest.load(directory)
    run_ok(guest, f"saakmctl exec {directory.name} -- hackbench -g 1 -l 50")
    found = emptied(guest, directory.name)
    assert found.state == "active" and found.new == found.terminated >= 41


@pytest.mark.skipif(not shutil.which("clang-19"), reason="there is no clang-19")
def test_clang_understands_it(guest, create):
    """By its compile_commands.json; a header that is not found would be an error."""
    directory = create("vtime")
    build_modules(guest.kernel, sources=[directory])
    args = ["build", "compile-commands", str(directory), "--config", guest.kernel.config]
    made = saakm(*args, "--jobs", "1")
    assert made.returncode == 0, made.stderr
    file = directory / "compile_commands.json"
    assert f"clangd   {file}\n" in made.stdout
    (entry,) = json.loads(file.read_text())
    assert entry["file"] == str(directory / "my_vtime.c")
    command = ["clang-19", *entry["arguments"][1:], "-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
