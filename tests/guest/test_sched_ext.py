# SPDX-License-Identifier: GPL-2.0
"""SaaKM beside sched_ext, with the scheduler of peers/scx_fifo."""

from pathlib import Path

import pytest

from saakm.builder import peers

from .support import CENTRAL, joined, load_in_mode, load_policy, policies, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

STATE = "/sys/kernel/sched_ext/state"


@pytest.fixture(scope="session")
def scx_fifo() -> Path:
    return peers.build("scx_fifo")


@pytest.fixture(params=["", "-p"], ids=["full", "partial"])
def scx(request, scx_fifo) -> str:
    return f"{scx_fifo} {request.param}"


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr", "eevdf", CENTRAL])
def test_saakm_threads_stay(guest, program, scx, policy):
    """Loading and unloading it takes every thread out of its class and back."""
    name = load_in_mode(guest, policy)
    inside = f"for i in 1 2 3; do {scx} sleep 0.1 || exit 1; done"
    run_ok(guest, f"{program('crowd')} -p {name} -l 100 -e saakm '{inside}'", timeout=110)
    joined = policies(guest)[name]
    # Nobody left and came back meanwhile.
    assert joined.new == 24


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr", "eevdf", CENTRAL])
def test_saakm_threads_run_beside_it(guest, program, scx, policy):
    name = load_in_mode(guest, policy)
    crowd = f"{program('crowd')} -l 50 -n 12"
    run_ok(guest, f"{scx} {crowd} -p {name} -e saakm true", timeout=110)
    # Threads of sched_ext and of the policy at once.
    run_ok(guest, f"{scx} {crowd} '{crowd} -p {name} -e saakm true'", timeout=110)


def test_policy_comes_and_goes(guest, program, scx):
    """While sched_ext is loaded. Threads of an unloaded policy are sched_ext's if it has all."""
    load_policy(guest, "rr")
    # Not in sched_ext: once its threads are fair, they leave those of sched_ext nothing.
    inside = f'chrt -o 0 {program("crowd")} -p rr -l 50 -e other "rmmod rr"'
    run_ok(guest, f"{scx} sh -c '{inside}'", timeout=110)
    load_policy(guest, "rr")
    run_ok(guest, f"{program('crowd')} -p rr -l 50 -e saakm true", timeout=60)
    assert run_ok(guest, f"cat {STATE}").strip() == "disabled"


@pytest.mark.rotates("scx")
def test_threads_switch(guest, program, scx):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    # Not in sched_ext, where who switches the others starves once they are fair.
    switching = f"chrt -o 0 {program('switching')} -s -n 500 other ext fifo rr"
    run_ok(guest, f"{scx} {switching}", timeout=110)


def test_threads_that_come_while_policies_look_for_work(guest, program):
    """A policy looks for work without the runqueue's lock; then sched_ext must look once more.

    scx_rr has queues of its own, which it empties only when it is asked.
    """
    load_policy(guest, "puller")
    run_ok(guest, f"saakmctl exec puller -- sleep infinity & {joined('puller', 1)}")
    run_ok(guest, f"{peers.build('scx_rr')} {program('going_idle')} 200", timeout=110)
    run_ok(guest, "pkill sleep; true")


@pytest.mark.parametrize("refill", ["class", "own"])
def test_a_cpu_whose_ext_threads_are_held_back_takes_others(guest, program, refill):
    """There is one on CPU 1, which does not idle while threads wait in a queue that it shares."""
    id_ = load_policy(guest, "sharer", f"refill={refill}")
    work = f"{program('makespan')} {id_} 0 f {'100 ' * 8}"
    held = f"chrt -o 0 {program('held')} 1 '{work}'"
    _, *ends_us = run_ok(guest, f"{peers.build('scx_hold')} -p {held}", timeout=110).split()
    ends_ms = sorted(int(us) / 1000 for us in ends_us)
    assert sum(ends_ms[-4:]) < 1.1 * 800, ends_ms
