# SPDX-License-Identifier: GPL-2.0
"""What a bar says of the time that is left."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from saakm.base import apt, paths, progress
from saakm.base.progress import Meter, duration
from saakm.builder import kernel, source
from saakm.builder.cargo import run_cargo
from saakm.commands import docs


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def test_the_estimate_goes_by_the_pace_since_the_beginning(clock):
    meter, said = Meter("building", 2000, None), []
    # A slow second tenth and a fast third one, as in a kernel build; the rest at the average pace.
    for seconds, steps in ((60, 200), (120, 200), (20, 200)):
        for _ in range(steps):
            clock.now += seconds / steps
            meter.advance()
        said.append(meter.left())
    assert said == ["about 9 min left", "about 12 min left", "about 8 min left"]


def test_it_says_nothing_before_it_knows(clock):
    meter = Meter("building", 2000, None)
    assert meter.left() == ""
    clock.now = 5
    meter.advance()
    assert meter.left() == ""
    assert Meter("no total", None, None).left() == ""


def test_more_steps_than_expected_do_not_fill_the_bar(clock):
    meter = Meter("building", 100, None)
    for _ in range(150):
        clock.now += 1
        meter.advance()
        assert meter.done < meter.total or meter.done <= 100
    assert meter.left() == "nearly done"


def test_the_bar_is_full_at_the_end(clock):
    class Bar:
        shown = {}

        def add_task(self, *_, **__):
            return 0

        def update(self, task, **shown):
            self.shown |= shown

    bar = Bar()
    meter = Meter("building", 100, bar)
    for _ in range(90):
        meter.advance()
    assert bar.shown["completed"] < bar.shown["total"]
    meter.finish()
    assert bar.shown["completed"] == bar.shown["total"] == 90


def test_durations():
    assert [duration(s) for s in (0.2, 59.6, 89, 91, 3600)] == [
        "1 s",
        "60 s",
        "89 s",
        "2 min",
        "60 min",
    ]


RECORDED = json.loads((Path(__file__).parent / "data" / "build-pace.json").read_text())


@pytest.mark.parametrize("config", RECORDED)
def test_the_estimate_of_a_first_build_does_not_double(clock, config):
    """Two builds as they went on two CPUs, beside other work that grew: seconds at each 25th step."""
    record = RECORDED[config]
    meter = Meter(
        "building", kernel._DEFAULT_STEPS[config], None, kernel._USUAL_SECONDS[config] / 2
    )
    said = []
    for seconds in record["at"]:
        clock.now = seconds
        meter.advance(25)
        said.append((seconds, meter.seconds_left()))
    after_a_minute = [left for now, left in said if now >= 60]
    assert max(after_a_minute) < 2 * after_a_minute[0]
    now, left = said[-1]
    assert abs(now + left - record["seconds"]) < 0.05 * record["seconds"]
    # And the bar is full at the end.
    assert record["steps"] == pytest.approx(kernel._DEFAULT_STEPS[config], rel=0.01)


def test_what_comes_first_may_be_quick(clock):
    meter = Meter("building", 2000, None, usual_pace=0.5)
    clock.now = 10
    meter.advance(100)
    # Half of it by what was seen, half by what is usual.
    assert meter.seconds_left() == pytest.approx(1900 * (0.1 + 0.5) / 2)


CARGO = """#!/bin/sh
printf '   Compiling one v1.0.0\\n    Building [=>    ] 1/40: one\\r    Building [====> ] 30/40: two, three\\r\\n'
echo "$CARGO_TARGET_DIR $*"
"""


def test_cargo_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    """Of which its log has nothing."""
    monkeypatch.setattr(progress, "_PLAIN_INTERVAL", 0.0)
    program = tmp_path / "bin/cargo"
    program.parent.mkdir()
    program.write_text(CARGO)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    log = tmp_path / "log"
    run_cargo(["build"], log, "building it", tmp_path / "target", tmp_path)
    assert re.search(r"saakm: building it: 30 of 40, about \d+ s left\n", capsys.readouterr().err)
    said = log.read_text().split("\n")
    assert [line.strip() for line in said if line.strip()] == [
        "Compiling one v1.0.0",
        f"{tmp_path / 'target'} build",
    ]


def test_what_says_nothing_is_not_silent(monkeypatch, capsys):
    """Where there is no terminal: lines come while the work goes on, and none after it."""
    monkeypatch.setattr(progress, "_PLAIN_INTERVAL", 0.01)
    said = threading.Event()
    monkeypatch.setattr(Meter, "_print", lambda self, text: said.set())
    with progress.meter("packaging") as silent:
        assert said.wait(60)
        assert re.fullmatch(r"\d+ s so far", silent._estimate())
    assert not [one for one in threading.enumerate() if one.name == progress.REMINDER]


def test_it_is_said_how_far_without_an_estimate(clock):
    meter = Meter("building", None, None)
    clock.now = 20
    assert meter._estimate() == "20 s so far"
    meter.reach(1, 100)
    assert meter._estimate() == "1 of 100, about 33 min left"
    meter.reach(100, 100)
    assert meter._estimate() == "100 of 100, nearly done"


def test_what_is_usual_is_an_estimate_until_it_is_over(clock):
    meter = Meter("booting", None, None, usual=30)
    assert meter._estimate() == "0 s so far, about 30 s left"
    clock.now = 29
    assert meter.left() == "about 1 s left"
    clock.now = 31
    assert meter._estimate() == "31 s so far, longer than usual"


APT = """\
Reading package lists...
dlstatus:1:20.5:Retrieving file 1 of 2
dlstatus:2:100:Retrieving file 2 of 2
pmstatus:libc6:amd64:50.25:Unpacking libc6 (amd64)
Setting up libc6 (50.0 kB): 100:
"""


@pytest.mark.parametrize(
    ("installs", "expected"), [(True, [10.25, 50, 75.125]), (False, [20.5, 100])]
)
def test_apt_says_how_far_it_is(installs, expected):
    reached = []

    class Listener:
        def reach(self, done, total):
            assert total == 100
            reached.append(done)

    step = apt.follow(Listener(), installs)
    for line in APT.splitlines():
        step(line)
    assert reached == expected
    assert sum(bool(apt.STATUS.match(line)) for line in APT.splitlines()) == 3


MEANWHILE = """
from saakm.base.progress import meter
with meter("working", 2) as progress:
    print("a result", flush=True)
    progress.advance()
"""


@pytest.mark.parametrize("stdout", ["pipe", "terminal"])
def test_results_go_where_they_were_meant_to_go(stdout):
    """Also while a bar stands on the terminal."""
    ours, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", MEANWHILE],
        stdout=subprocess.PIPE if stdout == "pipe" else terminal,
        stderr=terminal,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent), "TERM": "xterm"},
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is closed when the child has ended
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    piped, _ = child.communicate()
    assert child.returncode == 0 and b"working" in shown
    if stdout == "pipe":
        assert piped == "a result\n" and b"a result" not in shown
    else:
        assert b"a result\r\n" in shown


def test_sphinx_and_rsync_are_understood():
    """A line that is none of a status stays in the log."""
    assert docs._STATUS.match("writing output... [  7%] how-to/index").groups() == (
        "writing output",
        "7",
    )
    for line in ("copying assets: done", "reading sources... [ 50%] index", "", "build succeeded."):
        assert docs._ORDINARY.match(line), line
    for line in ("/docs/x.md:3: WARNING: 'myst' cross-reference", "Extension error:", "  File x"):
        assert not docs._ORDINARY.match(line), line
    found = source._COPIED.match("    1,234,567  42%   11.77MB/s    0:00:01 (xfr#5, to-chk=1/9)")
    assert found[1] == "42" and not source._COPIED.match("sent 42 bytes")
