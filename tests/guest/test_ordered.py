# SPDX-License-Identifier: GPL-2.0
"""What the class does by itself for a policy with an ordered queue."""

import pytest

from .support import load_policy, run_ok

pytestmark = pytest.mark.kernel("base")


def _ran_while_the_first_yielded(guest, program, id, nice):
    return int(run_ok(guest, f"{program('ordered')} yield {id} {nice}"))


def test_who_yields_makes_way_for_equals_only(guest, program):
    id = load_policy(guest, "ordered")
    assert _ran_while_the_first_yielded(guest, program, id, 0) > 0
    assert _ran_while_the_first_yielded(guest, program, id, 5) == 0


def test_who_yields_makes_way_for_any_if_the_policy_says_so(guest, program):
    id = load_policy(guest, "ordered", "yield_to_any=1")
    assert _ran_while_the_first_yielded(guest, program, id, 5) > 0


def test_a_nicer_thread_takes_the_cpu_at_once(guest, program):
    """Neither a tick nor a wakeup of this policy would: the default of attr_changed."""
    id = load_policy(guest, "ordered")
    assert float(run_ok(guest, f"{program('ordered')} renice {id} -5")) < 20


def test_slices_are_for_equals(guest, program):
    """prio with a slice: two of nice 0 take turns, and leave nothing to one of nice 5."""
    id = load_policy(guest, "prio", "slice_us=2000")
    out = run_ok(guest, f"{program('shares')} 1 400 {id}:0 {id}:0 {id}:5", timeout=100)
    a, b, less_urgent = map(int, out.split())
    assert max(a, b) < 1.3 * min(a, b) and less_urgent < 0.02 * a, out


def test_weights_are_those_of_nice_values(guest, program):
    id = load_policy(guest, "ordered")
    for nice in (-20, 0, 19):
        run_ok(guest, f"{program('shares')} 1 5 {id}:{nice}", timeout=100)
    weights = run_ok(guest, "cat /sys/module/ordered/parameters/weights").split(",")
    assert [int(weights[nice + 20]) for nice in (-20, 0, 19)] == [88761, 1024, 15]
