# SPDX-License-Identifier: GPL-2.0
"""Threads change their class all the time, from everywhere: programs/switching.c."""

import pytest

from .support import LOSES_BANDWIDTH, load_policy, policies, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.append(LOSES_BANDWIDTH)]

EVERY_CLASS = "other batch idle fifo:rt rr:rt deadline"


def _load(guest, *names: str) -> None:
    for name in names:
        load_policy(guest, name)


@pytest.mark.parametrize(("a", "b"), [("fifo", "rr"), ("prio", "vtime")])
def test_between_fair_and_two_policies(guest, program, a, b):
    _load(guest, a, b)
    run_ok(guest, f"{program('switching')} -n 4000 other {a} {b}", timeout=110)
    for name in (a, b):
        assert policies(guest)[name].new >= 500


def test_all_classes(guest, program):
    _load(guest, "fifo", "rr")
    run_ok(guest, f"{program('switching')} -n 3000 {EVERY_CLASS} fifo rr", timeout=110)


def test_running_threads_switch_themselves(guest, program):
    _load(guest, "fifo", "rr", "vtime")
    run_ok(guest, f"{program('switching')} -s -n 2000 other rr:rt fifo rr vtime", timeout=110)


def test_delayed_dequeue(guest, program):
    """Fair sleepers that are still enqueued when they change their class."""
    _load(guest, "fifo", "rr")
    run_ok(guest, f"{program('switching')} -d -n 3000 other other fifo rr", timeout=110)


@pytest.mark.long
@pytest.mark.limit(900)
def test_many_switches(guest, program):
    _load(guest, "fifo", "rr", "prio", "vtime")
    for options in ("", "-s", "-d"):
        run_ok(guest, f"{program('switching')} {options} -n 20000 {EVERY_CLASS} fifo rr prio vtime", timeout=250)
