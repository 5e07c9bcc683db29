# SPDX-License-Identifier: GPL-2.0
"""A policy of two files, with a header that policies share, outside of the checkout."""

import shutil

import pytest
from call import saakm

from saakm.base import paths
from saakm.builder.modules import build_modules

from .support import policies, run_ok

pytestmark = pytest.mark.kernel("base")

MAIN = """
#include <linux/saakm.h>
#include "cpu.h"

SAAKM_POLICY(pair, .prepare = pair_prepare);
"""
CPU = """
#include <linux/saakm.h>
#include "lib/home.h"
#include "cpu.h"

int pair_prepare(struct process_event *event)
{
	return saakm_usable_cpu(event->task, HOME_CPU);
}
"""
HEADER = """
int pair_prepare(struct process_event *event);
"""
# The CPU on which it ran last. A child of a shell's: it is placed when it is born.
WHERE = ["sh", "-c", "cut -d ' ' -f 39 /proc/self/stat; true"]


@pytest.fixture
def pair(tmp_path):
    """The policy's directory; what all policies of its folder share is in lib/ beside it."""
    directory = tmp_path / "own" / "two"
    directory.mkdir(parents=True)
    (directory / "Kbuild").write_text("obj-m := pair.o\npair-y := main.o cpu.o\n")
    for name, text in (("main.c", MAIN), ("cpu.c", CPU), ("cpu.h", HEADER)):
        (directory / name).write_text(text)
    share(directory.parent, 1)
    return directory


def share(folder, cpu):
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    (folder / "lib/home.h").write_text(f"#define HOME_CPU {cpu}\n")


def test_a_command_runs_under_it(pair):
    done = saakm("run", pair, "--cpus", "2", "--", *WHERE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"


@pytest.mark.parametrize("whose", ["folder", "checkout"])
def test_a_change_of_the_shared_header_is_built(guest, pair, tmp_path, monkeypatch, whose):
    """Its threads are where the header says, whose ever it is."""
    folder = pair.parent
    if whose == "checkout":
        (folder / "lib/home.h").unlink()
        folder = tmp_path / "checkout"
        monkeypatch.setattr(paths, "POLICIES", folder)
    for cpu in (1, 3, 2):
        share(folder, cpu)
        (module,) = build_modules(guest.kernel, sources=[pair])
        # Of a file that it has read before, a guest would not see the new one.
        file = shutil.copy(module, guest.exchange / f"{whose}-{cpu}.ko")
        run_ok(guest, f"insmod {file}")
        command = " ".join(["saakmctl exec pair --", *WHERE[:2], f'"{WHERE[2]}"'])
        for _ in range(4):
            assert run_ok(guest, command).split() == [str(cpu)]
        assert policies(guest)["pair"].new >= 4
        guest.unload("pair")
        built = module.stat().st_mtime_ns
        assert build_modules(guest.kernel, sources=[pair]) == [module]
        assert module.stat().st_mtime_ns == built, "it is built again though nothing has changed"
