# SPDX-License-Identifier: GPL-2.0
"""The replayer stands at a place of a recording, and each way on is a process of its own."""

import os
import signal
import time
from pathlib import Path

import pytest
from recording import CPUS, Recording

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.lab.replay.build import build
from saakm.lab.replay.replayer import start
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Recipe

EVERYTHING = 1000


def recording(path: Path, *, damaged: bool = False) -> Path:
    """CPU 1 balances four times, the last of them by a call that has not begun."""
    made = Recording()
    made.joins(0, 0)
    made.ends(0, 0)
    for call in (1, 2, 3):
        made.balances(call, 1)
    if damaged:
        made.ends(99, 1)
    made.write(path)
    return path


@pytest.fixture
def program():
    return build([read_module(paths.POLICIES / "fifo")], Recipe())


def test_it_stands_before_a_call_and_each_way_on_begins_there(program, tmp_path):
    with start(program, recording(tmp_path / "recording"), CPUS) as replayer:
        before = replayer.go(2)
        assert (before.said["calls"], before.over) == (2, False)
        for _ in range(2):
            after = replayer.go(EVERYTHING)
            assert (after.said["calls"], after.said["equal"], after.over) == (4, 4, True)
            replayer.back()
        assert replayer.go(3).said["calls"] == 3
        replayer.back()
        replayer.back()
        assert replayer.go(1).said["calls"] == 1


def test_a_race_is_for_the_next_process_alone(program, tmp_path):
    with start(program, recording(tmp_path / "recording"), CPUS) as replayer:
        for races, raced in [([], 0), ([(2, "end"), (3, "end")], 2), ([(3, "end")], 1), ([], 0)]:
            found = replayer.go(EVERYTHING, races)
            assert (found.said["raced"], found.said["equal"]) == (raced, 4 - raced)
            replayer.back()
        # What it knows, its children know.
        replayer.go(2, [(3, "end")])
        assert replayer.go(EVERYTHING, [(2, "end")]).said["raced"] == 2


def test_who_dies_on_the_way_leaves_the_others(program, tmp_path):
    with start(program, recording(tmp_path / "recording", damaged=True), CPUS) as replayer:
        assert replayer.go(3).said["calls"] == 3
        assert replayer.go(EVERYTHING) is None
        assert replayer.go(3).said["calls"] == 3


def test_what_it_does_not_understand_is_told(program, tmp_path):
    with start(program, recording(tmp_path / "recording"), CPUS) as replayer:
        with pytest.raises(SaakmError) as error:
            replayer.go(1, [(1, "nowhere")])
        assert "a line is not: raced CALL begin|end|patched|READ" in error.value.why


def test_no_process_remains(program, tmp_path):
    with start(program, recording(tmp_path / "recording"), CPUS) as replayer:
        group = replayer._process.pid
        replayer.go(1)
        replayer.go(2)
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # init may be slow to bury them
            os.killpg(group, signal.SIGKILL)
            time.sleep(0.1)
