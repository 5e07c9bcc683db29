# SPDX-License-Identifier: GPL-2.0
"""Who holds a lock that others want, as far as futex(2) shows it: saakm_holds_lock()."""

import pytest

from .support import load_policy, run_ok

# How many sleeps are with a lock, by what the program does.
HELD = {"mutex": 1, "pi": 1, "free": 0, "passed": 0, "unheard": 0}


@pytest.mark.parametrize("mode", HELD)
def test_who_has_waited_holds_it_until_it_wakes_another(guest, program, mode):
    load_policy(guest, "locker")
    run_ok(guest, f"saakmctl exec locker -- {program('locks')} {mode}")
    sleeps, held, kept = (
        int(run_ok(guest, f"cat /sys/module/locker/parameters/{what}"))
        for what in ("sleeps", "held", "kept")
    )
    assert sleeps >= 1 and held == HELD[mode] and kept == 0
