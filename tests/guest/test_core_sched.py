# SPDX-License-Identifier: GPL-2.0
"""Core scheduling, prctl(PR_SCHED_CORE): programs/cookies.c."""

import pytest

from .support import load_policy, run_ok
from .test_hotplug import ROUND

# The debug kernel, slow as it is: enabling core scheduling patches code, which
# QEMU 7.2 gets wrong far more often where CPUs run into it at speed.
pytestmark = pytest.mark.topology("1s2c2t")

POLICIES = ["fifo", "rr", "prio", "vtime"]


@pytest.mark.parametrize("policy", POLICIES)
def test_groups_get_on(guest, program, policy):
    load_policy(guest, policy)
    run_ok(guest, f"{program('cookies')} {policy} progress true", timeout=110)


@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_cookies_change_under_load(guest, program, policy):
    load_policy(guest, policy)
    run_ok(guest, f"{program('cookies')} {policy} switch true", timeout=110)


@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_hotplug(guest, program, policy):
    load_policy(guest, policy)
    run_ok(guest, f"{program('cookies')} {policy} progress '{ROUND}'", timeout=110)


def test_unload(guest, program):
    load_policy(guest, "rr")
    run_ok(guest, f"{program('cookies')} rr progress 'rmmod rr'", timeout=110)


def _part_of_strangers(guest, program, mode: str) -> float:
    same, different = map(int, run_ok(guest, f"{program('cookies')} rr {mode} 1500", timeout=110).split())
    return different / (same + different)


def test_siblings_run_one_group(guest, program):
    """A sibling hears of a new cookie with a delay: seldom is not never."""
    load_policy(guest, "rr")
    with_cookies = _part_of_strangers(guest, program, "overlap")
    without = _part_of_strangers(guest, program, "control")
    assert with_cookies < without / 4, f"{with_cookies:.3f} with cookies, {without:.3f} without"
