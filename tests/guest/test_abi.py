# SPDX-License-Identifier: GPL-2.0
"""The system calls that select a policy: programs/abi_attr.c and abi_life.c."""

import pytest

from .support import LOSES_BANDWIDTH, last_error, load_policy, policies, run_ok, until

# Behaviour: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

# One guest command for several cases: under emulation, loading and tidying up cost more than they do.
ATTR = {
    "sizes": "sizes old_sizes getattr_sizes",
    "arguments": "ids restore restore_race invalid keep relatives",
    "changes": "in_and_out between_policies",
}
LIFE = {
    "inheritance": "inherit_fork inherit_thread inherit_exec independent reset_on_fork",
    "death": "zombie dying",
    "permissions": "permissions",
}
LEAVES_DEADLINE = pytest.param("changes", marks=pytest.mark.append(LOSES_BANDWIDTH))


def _nobody_is_left(guest) -> None:
    """All threads that joined have left, once the dead are buried."""
    until(
        lambda: all(p.threads == 0 for p in policies(guest).values()),
        10,
        "policies without threads",
    )
    for policy in policies(guest).values():
        assert policy.new == policy.terminated, policy


@pytest.mark.parametrize("subject", ["sizes", "arguments", LEAVES_DEADLINE])
def test_attr(guest, program, subject):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    run_ok(guest, f"{program('abi_attr')} fifo rr {ATTR[subject]}")
    _nobody_is_left(guest)


@pytest.mark.parametrize("subject", LIFE)
def test_life(guest, program, subject):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    run_ok(guest, f"{program('abi_life')} fifo rr {LIFE[subject]}")
    _nobody_is_left(guest)


def test_join_without_policy_fails(guest, program):
    run_ok(guest, f"{program('abi_attr')} - - no_policy")


def test_join_after_unload_fails(guest, program):
    """Ids are not used again: a program cannot end up in a policy that it did not mean."""
    first = load_policy(guest, "fifo")
    guest.unload("fifo")
    run_ok(guest, f"{program('abi_attr')} - - no_policy")
    assert load_policy(guest, "rr") > first
    assert guest.run(f"saakmctl exec {first} -- true").status
    assert last_error(guest) == f"sched_setattr: no policy has the id {first}"
