# SPDX-License-Identifier: GPL-2.0
"""Threads change their class all the time, from everywhere: programs/switching.c."""

import pytest

from .support import CENTRAL, LOSES_BANDWIDTH, load_in_mode, load_policy, policies, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.threads, pytest.mark.append(LOSES_BANDWIDTH)]

EVERY_CLASS = "other batch idle fifo:rt rr:rt deadline"


def _load(guest, *names: str) -> None:
    for name in names:
        load_policy(guest, name)


def _switch(guest, program, tally, count: int, classes: str, options: str = "") -> None:
    run_ok(guest, f"{program('switching')} {options} -n {count} {classes}", timeout=250)
    tally("switches between classes and policies", count)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("fifo", "rr"),
        ("prio", "vtime"),
        ("eevdf", "fifo"),
        ("shinjuku", "vtime"),
        (CENTRAL, "rr"),
        ("lavd", "fifo"),
    ],
)
def test_between_fair_and_two_policies(guest, program, tally, a, b):
    names = [load_in_mode(guest, policy) for policy in (a, b)]
    _switch(guest, program, tally, 4000, f"other {' '.join(names)}")
    for name in names:
        assert policies(guest)[name].new >= 500


def test_all_classes(guest, program, tally):
    _load(guest, "fifo", "rr")
    _switch(guest, program, tally, 3000, f"{EVERY_CLASS} fifo rr")


def test_running_threads_switch_themselves(guest, program, tally):
    _load(guest, "fifo", "rr", "vtime")
    _switch(guest, program, tally, 2000, "other rr:rt fifo rr vtime", "-s")


def test_delayed_dequeue(guest, program, tally):
    """Fair sleepers that are still enqueued when they change their class."""
    _load(guest, "fifo", "rr")
    _switch(guest, program, tally, 3000, "other other fifo rr", "-d")


@pytest.mark.long
@pytest.mark.limit(900)
def test_many_switches(guest, program, tally):
    _load(guest, "fifo", "rr", "prio", "vtime")
    for _ in range(5):
        _switch(guest, program, tally, 8000, f"{EVERY_CLASS} fifo rr prio vtime")
        _switch(guest, program, tally, 8000, f"{EVERY_CLASS} fifo rr prio vtime", "-s")
        # Deadline threads must be free to run on every CPU; these are not.
        _switch(
            guest, program, tally, 8000, "other batch idle fifo:rt rr:rt fifo rr prio vtime", "-d"
        )


def test_children_of_who_changes_policies_are_born_in_one(guest, program):
    """fork() copies its caller without a lock: at no moment is that one in neither, or in both."""
    ids = load_policy(guest, "fifo"), load_policy(guest, "rr")
    forks_between = f"{program('forks_between')} 20000 {ids[0]} {ids[1]}"
    assert run_ok(guest, forks_between, timeout=250) == "0 0\n"
