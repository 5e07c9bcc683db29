# SPDX-License-Identifier: GPL-2.0
import os
import socket

import pytest
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.vm.running import announce, choose_guest, hold, is_held


@pytest.fixture
def guests(tmp_path, monkeypatch):
    """announce(NAME) as a saakm command does, with a monitor that can be connected."""
    monkeypatch.setattr(paths, "GUESTS", tmp_path)
    sockets = []

    def start(name):
        (tmp_path / name).mkdir()
        monitor = socket.socket(socket.AF_UNIX)
        monitor.bind(str(tmp_path / name / "monitor"))
        monitor.listen()
        sockets.append(monitor)
        announce(tmp_path / name, "base", tmp_path)
        return monitor

    yield start
    for monitor in sockets:
        monitor.close()


def test_without_a_guest_it_says_how_to_start_one(guests):
    with pytest.raises(SaakmError, match="saakm shell fifo"):
        choose_guest(None)


def test_the_list_says_that_it_is_empty(guests):
    done = CliRunner().invoke(app, ["gdb", "--list"])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "saakm: no guest runs\n")
    guests("a")
    done = CliRunner().invoke(app, ["gdb", "--list"])
    assert f"{os.getpid()}  base" in done.stdout and done.stderr == ""


def test_the_only_guest_is_chosen(guests):
    guests("a")
    assert choose_guest(None).pid == os.getpid()
    with pytest.raises(SaakmError, match="no guest was started by process 1\n"):
        choose_guest(1)


def test_of_several_one_must_be_named(guests):
    guests("a")
    guests("b")
    with pytest.raises(SaakmError, match=f"2 guests are running(.|\n)*saakm gdb {os.getpid()}"):
        choose_guest(None)


def test_a_guest_that_has_ended_is_none(guests):
    guests("a").close()
    with pytest.raises(SaakmError, match="there is no guest"):
        choose_guest(None)


def test_who_is_held_by_a_dead_debugger_is_not_held(tmp_path):
    assert not is_held(tmp_path)
    hold(tmp_path)
    assert is_held(tmp_path)
    hold(tmp_path, os.getpid())
    assert is_held(tmp_path)
    hold(tmp_path, 1 << 22 | 1)  # beyond any PID
    assert not is_held(tmp_path)
