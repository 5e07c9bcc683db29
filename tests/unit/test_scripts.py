# SPDX-License-Identifier: GPL-2.0
"""What tests/fresh, tests/mutate, tests/series and saakm's machine options refuse before they begin."""

import argparse
import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest
from test_cli import saakm

from saakm.base import paths

TESTS = paths.REPO / "tests"


def script(name):
    """As a module; it leaves no compiled file in the checkout."""
    loader = importlib.machinery.SourceFileLoader(name, str(TESTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


@pytest.mark.parametrize("text", ["/", "//", "/nonexistent/..", ""])
def test_no_system_is_made_in_the_root(text):
    with pytest.raises(argparse.ArgumentTypeError):
        script("fresh").directory(text)


def test_a_way_back_is_gone_before_anything_is_made(tmp_path):
    (tmp_path / "mine").touch()
    fresh = script("fresh")
    root = fresh.directory(str(tmp_path / "nonexistent" / ".."))
    assert root == tmp_path
    with pytest.raises(SystemExit, match="is not a system that this program has made"):
        fresh.refuse_what_is_not_ours(root)


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--minutes", "nan"], ["--number", "-1"]])
def test_mutate_wants_numbers(words):
    done = subprocess.run(
        [TESTS / "mutate", "--lines", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2 and "is not a number from 1" in done.stderr


def test_series_wants_a_number():
    command = [TESTS / "series", "--jobs", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "is not a number from 1" in done.stderr


def test_mutate_says_that_nobody_reads():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [TESTS / "mutate", "--list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["0", "-1", "nan"])
def test_a_command_has_some_time(text):
    done = saakm("run", "fifo", "--timeout", text, "--", "true")
    assert done.returncode == 2 and "above 0" in done.stderr


def test_a_wrong_qemu_is_refused_before_a_kernel_is_built():
    done = saakm("run", "fifo", "--", "true", SAAKM_QEMU="/nonsense")
    assert done.returncode == 1 and "SAAKM_QEMU=/nonsense names no QEMU" in done.stderr
    assert "building" not in done.stderr


def test_an_empty_argument_is_no_whole_run():
    done = saakm("test", "")
    assert done.returncode == 1 and "an argument is empty" in done.stderr
