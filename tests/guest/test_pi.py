# SPDX-License-Identifier: GPL-2.0
"""Priority inheritance through futexes: programs/pi.c."""

import pytest

from .support import SYSFS, load_policy, run_ok

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

CASES = {
    "boost_and_back": "boosted waiter_killed",
    "owner_dies": "owner_exits owner_killed",
    "setattr": "setattr_boosted left_boosted",
    "unload": "unloaded_boosted",
}


@pytest.fixture
def no_server(guest):
    """Without the deadline server a fair hog leaves SaaKM threads nothing."""
    period = run_ok(guest, f"cat {SYSFS}/server_runtime_us").strip()
    run_ok(guest, f"echo 0 >{SYSFS}/server_runtime_us")
    yield
    if guest.alive:
        guest.run(f"echo {period} >{SYSFS}/server_runtime_us")


@pytest.mark.parametrize("subject", CASES)
def test_pi(guest, program, no_server, subject):
    load_policy(guest, "fifo")
    load_policy(guest, "vtime")
    run_ok(guest, f"{program('pi')} fifo vtime {CASES[subject]}")


@pytest.mark.parametrize("rival", ["saakm", "fair"])
def test_who_is_handed_a_lock_is_not_kept_from_it_by_a_spinner(guest, program, no_server, rival):
    """Who spins for a lock keeps his CPU from whom it was handed to: for long, he must not."""
    id_ = load_policy(guest, "fifo")
    guest.load("handoff")
    # What else happens on the CPU comes some times a second.
    assert int(run_ok(guest, f"{program('hand_off')} {id_} 5 {rival}")) < 50
    run_ok(guest, "rmmod handoff")
