# SPDX-License-Identifier: GPL-2.0
"""The replayer stands at a place of a recording, and each way on is a process of its own."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
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


def test_who_dies_where_it_stands_is_an_error(program, tmp_path):
    """As of the out-of-memory killer: what is said next would be the answer to another question."""
    with start(program, recording(tmp_path / "recording"), CPUS) as replayer:
        replayer.go(2)
        (standing,) = _children(replayer._process.pid)
        os.kill(standing, signal.SIGKILL)
        with pytest.raises(SaakmError, match="could not be replayed") as error:
            replayer.go(3)
        assert "a process that stood at an earlier call has died" in error.value.why


def _processes() -> Iterator[tuple[int, str, int, int]]:
    """Number, state, parent and process group of each."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, group, *_ = stat.read_text().rpartition(")")[2].split()
            yield int(stat.parent.name), state, int(parent), int(group)


def _children(of: int) -> list[int]:
    return [pid for pid, _, parent, _ in _processes() if parent == of]


def _living(of: int) -> list[int]:
    """Without those that nobody has buried yet."""
    return [pid for pid, state, _, group in _processes() if group == of and state not in "ZX"]


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
    for _ in range(100):  # who was killed may take a moment
        if not (living := _living(group)):
            break
        time.sleep(0.1)
    assert not living
