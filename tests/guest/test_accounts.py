# SPDX-License-Identifier: GPL-2.0
"""What a policy is told by `used` is the CPU time that the kernel charges: all of it, and in time."""

import pytest

from .support import ejected, load_policy, policies, run_ok

# Behaviour: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

# As modules/accounts counts them.
COMPARED = ("requeue", "block", "yield", "tick", "wakeup_preempt", "schedule", "terminate")


def _compared(guest) -> dict[str, int]:
    """How often at which event; a difference would have ended the policy."""
    assert policies(guest)["accounts"].state == "active", ejected(guest)
    counts = run_ok(guest, "cat /sys/module/accounts/parameters/compared").strip().split(",")
    return dict(zip(COMPARED, map(int, counts), strict=True))


def test_sum_is_what_proc_says(guest, program):
    """Of threads that have shared a CPU, yielded and slept: /proc/PID/schedstat, to the nanosecond."""
    id = load_policy(guest, "accounts")
    lines = run_ok(guest, f"{program('accounts')} {id}").splitlines()
    assert len(lines) == 6
    for line in lines:
        in_all, came_with, told, burnt = map(int, line.split())
        assert in_all == came_with + told, line
        assert told >= burnt, line
    _compared(guest)


def test_it_is_told_before_the_event(guest, program):
    """At each that a policy may decide by it: nothing has been used since."""
    load_policy(guest, "accounts")
    crowd = f"taskset -c 0,1 {program('crowd')} -p accounts -n 24 -l 400 -e saakm 'sleep 1'"
    run_ok(guest, crowd, timeout=110)
    run_ok(guest, "saakmctl exec accounts -- hackbench -g 1 -l 20")
    compared = _compared(guest)
    assert min(compared.values()) >= 20, compared
