# SPDX-License-Identifier: GPL-2.0
"""Between policies: those behind a hog of an earlier one get what the floor grants."""

import re

import pytest

from .support import SYSFS, load_policy, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

SECONDS = 6


@pytest.fixture
def floor(guest):
    yield f"{SYSFS}/floor_runtime_us"
    if guest.alive:
        guest.run(f"echo 50000 >{SYSFS}/floor_runtime_us; echo 1000000 >{SYSFS}/floor_period_us")


def _shares(guest, program, *ids: int) -> list[int]:
    """Thousandths of one CPU that a hog of each policy gets, all on CPU 1."""
    out = run_ok(guest, f"{program('shares_of')} {SECONDS} {' '.join(map(str, ids))}")
    return list(map(int, re.findall(r"\d+", out)))


def test_second_policy_gets_its_floor(guest, program, floor):
    first, second = load_policy(guest, "fifo"), load_policy(guest, "rr")
    hog, floored = _shares(guest, program, first, second)
    assert 25 <= floored <= 90 and hog >= 850, (hog, floored)


def test_each_of_three_gets_it(guest, program, floor):
    ids = [load_policy(guest, name) for name in ("fifo", "rr", "vtime")]
    hog, *floored = _shares(guest, program, *ids)
    assert all(25 <= share <= 90 for share in floored) and hog >= 800, (hog, floored)


def test_floor_follows_its_knob(guest, program, floor):
    ids = [load_policy(guest, "fifo"), load_policy(guest, "rr")]
    run_ok(guest, f"echo 300000 >{floor}")
    # After each second of waiting: 200 to 253, by where in that the window begins.
    assert 180 <= _shares(guest, program, *ids)[1] <= 300
    run_ok(guest, f"echo 0 >{floor}")
    assert _shares(guest, program, *ids)[1] <= 3, "proof that it is the floor that gives it"


def test_an_affinity_change_takes_nothing_from_it(guest, program):
    """The first policy's hog leaves its queue for an instant, while the second one has its turn."""
    first, second = load_policy(guest, "fifo"), load_policy(guest, "prio")
    out = run_ok(guest, f"{program('owed')} disturbed {first} {second}")
    hog, floored = map(int, out.split())
    assert 25 <= floored <= 90 and hog >= 850, (hog, floored)


def test_a_turn_ends_though_the_policy_is_alone_by_then(guest, program):
    """Else nobody else would ever go before it, not even a thread that may hold locks."""
    first, second = load_policy(guest, "fifo"), load_policy(guest, "prio")
    out = run_ok(guest, f"{program('owed')} alone {first} {second}")
    hog_ms, preempted_ms = map(int, out.split())
    assert 40 <= preempted_ms <= 250 and hog_ms >= 2000, (hog_ms, preempted_ms)


def test_nonsense_is_refused_fails(guest, floor):
    assert guest.run(f"echo 2000000 >{floor}").status
    assert run_ok(guest, f"cat {floor}").strip() == "50000"
