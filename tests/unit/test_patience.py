# SPDX-License-Identifier: GPL-2.0
"""What limits of guests count."""

import os
import signal
import subprocess

import pytest

from saakm.vm import patience
from saakm.vm.patience import BUSY, Patience


class Clock:
    now = 0.0


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(patience.time, "monotonic", lambda: Clock.now)
    monkeypatch.setattr(Clock, "now", 0.0)
    return Clock


def _stopped():
    """A child that has used its last CPU time: one that has just begun might go on to load its libraries."""
    child = subprocess.Popen(["sleep", "infinity"])
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    return child


def test_who_gets_no_cpu_has_time(clock):
    child = _stopped()
    try:
        patient, strict = Patience(child.pid), Patience(child.pid, 1)
        clock.now = 80.0
        assert patient.spent() == pytest.approx(80 / BUSY, abs=0.5)
        assert strict.spent() == 80
    finally:
        child.kill()
        child.wait()
    assert patient.spent() == pytest.approx(80 / BUSY)


def test_who_stands_still_is_seen_only_by_looking(clock):
    child = _stopped()
    try:
        patient = Patience(child.pid)
        for _ in range(4):
            clock.now += 0.5
            patient.idle()
        assert patient.idle() == 2.0
        clock.now += 1000.0
        assert patient.idle() == 3.0
        patient._seen = -1.0  # as if it had run since
        assert patient.idle() == 0.0
    finally:
        child.kill()
        child.wait()


def test_work_counts_and_what_came_before_does_not(clock):
    child = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        while _ticks(child.pid) < 30:
            pass
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        late, early = Patience(child.pid), Patience(child.pid)
        early._used = 0.0
        clock.now = 0.1
        assert early.spent() == pytest.approx(0.1)  # never more than has passed
        assert late.spent() == pytest.approx(0.1 / BUSY, abs=0.03)
    finally:
        child.kill()
        child.wait()


def _ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
