# SPDX-License-Identifier: GPL-2.0
"""The policies that we ship do what their first lines promise."""

import statistics

import pytest

from .support import expect_order, load_policy, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

# sched_prio_to_weight[] of the kernel, for the nice values used here.
WEIGHT = {-5: 3121, 0: 1024, 3: 526, 5: 335}


def _shares(guest, program, ms, *members, cpu=1):
    """CPU time of each member (POLICY_ID:NICE[:s]) on one CPU, in seconds."""
    out = run_ok(guest, f"{program('shares')} {cpu} {ms} {' '.join(members)}", timeout=100)
    return [int(ns) / 1e9 for ns in out.split()]


# --- fifo ---


def test_fifo_places_by_pid(guest, program):
    """A thread that may use all CPUs wakes on the one that its PID names."""
    id = load_policy(guest, "fifo")
    cpus = int(run_ok(guest, "cat /sys/devices/system/cpu/possible").split("-")[-1]) + 1
    rows = [
        list(map(int, row.split()))
        for row in run_ok(guest, f"{program('where')} {id} 12").splitlines()
    ]
    assert len(rows) == 12
    wrong = [(tid, cpu) for tid, cpu in rows if cpu != tid % cpus]
    assert not wrong, f"(thread, CPU) not by PID of {cpus} CPUs: {wrong}"


def test_fifo_keeps_order(guest, program):
    id = load_policy(guest, "fifo")
    expect_order(guest, f"{program('queue_order')} {id} param 1 1 1 1 1 1 1 1", list(range(8)))


def test_fifo_lets_a_thread_run(guest, program):
    """No slices: two hogs do not take turns, unless the guest's own threads interrupt: not each time."""
    id = load_policy(guest, "fifo")
    tries = [_shares(guest, program, 100, f"{id}:0", f"{id}:0") for _ in range(5)]
    assert any(max(shares) > 0.9 * sum(shares) for shares in tries), tries


# --- rr ---


@pytest.mark.parametrize("slice_us", [4000, 20000])
def test_rr_alternates_within_its_slice(guest, program, slice_us):
    id = load_policy(guest, "rr", f"slice_us={slice_us}")
    out = run_ok(guest, f"{program('turns')} {id} 24")
    turns_ms = [int(us) / 1000 for us in out.split()]
    median, slice_ms = statistics.median(turns_ms), slice_us / 1000
    # The end of a slice is noticed at a tick: 4 ms apart, and late under emulation.
    assert 0.75 * slice_ms <= median <= slice_ms + 3 * 4, f"median {median} ms of {turns_ms}"


def test_rr_is_fair(guest, program):
    id = load_policy(guest, "rr")
    a, b, c = _shares(guest, program, 900, *[f"{id}:0"] * 3)
    assert max(a, b, c) < 1.3 * min(a, b, c), (a, b, c)


# --- prio ---


def test_prio_higher_nice_value_waits(guest, program):
    id = load_policy(guest, "prio")
    first, second = _shares(guest, program, 500, f"{id}:0", f"{id}:5")
    assert second < 0.02 * first, f"{second:.3f} s beside {first:.3f} s"


def test_prio_leaves_the_rest_to_higher_nice_values(guest, program):
    id = load_policy(guest, "prio")
    sleeper, hog = _shares(guest, program, 500, f"{id}:0:s", f"{id}:5")
    assert hog > sleeper > 0, f"hog {hog:.3f} s, sleeper {sleeper:.3f} s"


def test_prio_runs_in_order_of_nice_values(guest, program):
    id = load_policy(guest, "prio")
    expect_order(
        guest, f"{program('queue_order')} {id} nice 5 -5 0 5 10 -5 0", [1, 5, 2, 6, 0, 3, 4]
    )


def test_prio_renice_changes_the_order(guest, program):
    id = load_policy(guest, "prio")
    expect_order(guest, f"{program('queue_order')} {id} nice 1 2 3 4 -- 3=-1 0=9", [3, 1, 2, 0])


def test_prio_wakeup_preempts_a_higher_nice_value(guest, program):
    id = load_policy(guest, "prio")
    out = run_ok(guest, f"{program('preempts')} 1 {id}:10 {id}:0")
    soon, rounds = map(int, out.split())
    assert soon >= 0.8 * rounds, f"woken threads ran at once in {soon} of {rounds} rounds"


def test_prio_wakeup_waits_for_a_lower_nice_value(guest, program):
    id = load_policy(guest, "prio")
    out = run_ok(guest, f"{program('preempts')} 1 {id}:0 {id}:10")
    soon, rounds = map(int, out.split())
    assert soon == 0, f"woken threads ran beside a hog in {soon} of {rounds} rounds"


# --- vtime ---


@pytest.mark.parametrize(
    "nices, ms, tolerance",
    [((-5, 5), 4000, 0.10), ((0, 0), 1500, 0.05), ((0, 3, 5), 3000, 0.10)],
    ids=["two_weights", "equal", "three_weights"],
)
def test_vtime_shares_by_weight(guest, program, nices, ms, tolerance):
    id = load_policy(guest, "vtime")
    shares = _shares(guest, program, ms, *(f"{id}:{nice}" for nice in nices))
    for share, nice in zip(shares[1:], nices[1:]):
        wanted = WEIGHT[nices[0]] / WEIGHT[nice]
        got = shares[0] / share
        assert abs(got / wanted - 1) < tolerance, (
            f"nice {nices[0]} got {got:.2f} times as much as nice {nice}, not {wanted:.2f}: {shares}"
        )


def test_vtime_sleeper_keeps_its_share(guest, program):
    """One that sleeps most of the time gets what it asks for, beside a hog."""
    id = load_policy(guest, "vtime")
    sleeper, hog = _shares(guest, program, 800, f"{id}:0:s", f"{id}:0")
    assert 0.02 * hog < sleeper < 0.6 * hog, f"sleeper {sleeper:.3f} s, hog {hog:.3f} s"
