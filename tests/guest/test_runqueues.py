# SPDX-License-Identifier: GPL-2.0
"""FIFO, LIST and RBTREE: who runs when, as threads see it and as the policy walks it."""

import random

import pytest

from .support import ejected, expect_order, load_policy, policies, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

SORTED = ["list", "rbtree"]
ALL = ["fifo", *SORTED]


def _runs_in_order(guest, program, type_, key, keys, expected, changes=()):
    """Whether threads with these keys run as expected; a list of indices."""
    id = load_policy(guest, "queues", f"type={type_}", f"key={key}")
    words = [*map(str, keys), "--", *(f"{i}={k}" for i, k in changes)]
    expect_order(guest, f"{program('queue_order')} {id} {key} {' '.join(words)}", expected)
    _checked(guest)


def _checked(guest, walks=10):
    """What the policy found when it walked its queues."""
    names = ["walks", "unsorted", "unordered", "miscounted", "longest"]
    out = run_ok(guest, f"cd /sys/module/queues/parameters; cat {' '.join(names)}")
    found = dict(zip(names, map(int, out.split())))
    assert found["walks"] > walks, f"the queues were hardly looked at: {found}"
    for mistake in ("unsorted", "unordered", "miscounted"):
        assert not found[mistake], f"{mistake}: {found}"
    return found


def _expected(keys):
    return sorted(range(len(keys)), key=lambda i: keys[i])


def test_fifo_runs_in_order_of_arrival(guest, program):
    keys = [5, 1, 4, 2, 3, 1, 5]
    _runs_in_order(guest, program, "fifo", "param", keys, list(range(7)))


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_sorted_runs_in_order_of_keys(guest, program, type_):
    keys = [50, 10, 40, 20, 30, 60, 15, 35]
    _runs_in_order(guest, program, type_, "param", keys, _expected(keys))


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_equal_keys_keep_order_of_arrival(guest, program, type_):
    keys = [2, 1, 2, 1, 3, 2, 1, 3, 2, 1]
    _runs_in_order(guest, program, type_, "param", keys, _expected(keys))


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_many_random_keys(guest, program, type_):
    keys = random.Random(type_).choices(range(1, 12), k=24)
    _runs_in_order(guest, program, type_, "param", keys, _expected(keys))


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_nice_is_a_key(guest, program, type_):
    keys = [5, -5, 0, 10, -10, 0]
    _runs_in_order(guest, program, type_, "nice", keys, _expected(keys))


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
@pytest.mark.parametrize("key", ["param", "nice"])
def test_new_key_sorts_anew(guest, program, type_, key):
    """First to last, last to first, and a change that leaves it in its place."""
    keys = [1, 5, 9, 13, 17]
    changes = [(0, 19), (4, 1), (2, 10)]
    _runs_in_order(guest, program, type_, key, keys, [4, 1, 2, 3, 0], changes)


def test_new_key_changes_nothing_in_a_fifo(guest, program):
    _runs_in_order(guest, program, "fifo", "nice", [1, 2, 3], [0, 1, 2], [(2, 0), (0, 9)])


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_an_ejected_policy_is_not_asked_for_a_key(guest, program, type_):
    """It ejects itself while the parameters of a thread that waits are set; then comes the sorting."""
    id = load_policy(guest, "queues", f"type={type_}", "give_up=Y")
    run_ok(guest, f"{program('queue_order')} {id} param 5 9 7 -- 0=8")
    assert ejected(guest)["queues"].kind == "policy-error"
    assert run_ok(guest, "cat /sys/module/queues/parameters/asked_after").strip() == "0"


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_walk_sees_all_that_wait(guest, program, type_):
    id = load_policy(guest, "queues", f"type={type_}")
    keys = " ".join(str(n % 7 + 1) for n in range(20))
    run_ok(guest, f"{program('queue_order')} {id} param {keys}")
    assert _checked(guest)["longest"] >= 20


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_queues_stay_right_under_load(guest, program, type_):
    """Births, sleeps, renices and deaths on all CPUs, a check at each election."""
    id = load_policy(guest, "queues", f"type={type_}", "key=nice")
    run_ok(guest, f"{program('trigger_life')} storm {id} && {program('renicers')} {id}")
    _checked(guest, walks=500)


# --- two queues of one CPU: modules/levels ---


def _switched(guest):
    assert policies(guest)["levels"].state == "active", ejected(guest)
    return int(run_ok(guest, "cat /sys/module/levels/parameters/switched"))


@pytest.mark.parametrize(
    "changes, expected",
    [
        ("", [1, 3, 4, 2, 0]),
        ("2=99 0=99", [2, 0, 1, 3, 4]),  # up, where they are in order of arrival
        ("2=99 0=99 2=0", [0, 2, 1, 3, 4]),  # and down again, with a new key
        ("1=9 2=1", [2, 3, 4, 0, 1]),  # sorted in anew
    ],
)
def test_who_waits_changes_queues(guest, program, changes, expected):
    id = load_policy(guest, "levels")
    expect_order(guest, f"{program('queue_order')} {id} param 5 1 4 2 3 -- {changes}", expected)
    assert _switched(guest) >= len(changes.split())


def test_switching_queues_loses_nobody(guest, program):
    """At each tick somebody goes up or is sorted in anew, or all go down."""
    id = load_policy(guest, "levels", "stir=Y", "slice_us=8000")
    run_ok(guest, f"{program('victims')} {id} && {program('trigger_life')} storm {id}", timeout=60)
    assert _switched(guest) > 20
