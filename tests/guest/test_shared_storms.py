# SPDX-License-Identifier: GPL-2.0
"""Shared queues while threads, CPUs and policies come, go and change: nobody is lost."""

import pytest

from .support import SYSFS, joined, load_policy, policies, run_ok
from .test_hotplug import ALONE, ROUND
from .test_shared import ALL, checked

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

STORMS = {"affinity": 800, "affinity_offline": 300, "nice": 1500, "stop": 1000, "kill": 200,
          "fork": 500, "yield": 10000, "cgroup": 200, "migrate_disable": 300}  # fmt: skip
TYPES = [pytest.mark.rotates("type_"), pytest.mark.parametrize("type_", ALL)]


def _types(test):
    for mark in TYPES:
        test = mark(test)
    return test


def _crowd(guest, program, command: str, expected: str = "saakm", policy: str = "sharer") -> None:
    crowd = f"{program('crowd')} -p {policy} -n 40 -l 100 -e {expected}"
    run_ok(guest, f"{crowd} '{command}'", timeout=250)


@pytest.mark.threads
@pytest.mark.parametrize("storm", STORMS)
@_types
def test_storm(guest, program, tally, storm, type_):
    load_policy(guest, "sharer", f"type={type_}", "slice_us=500", "masks=0-2")
    run_ok(guest, f"{program('storm')} sharer {storm} {STORMS[storm]}", timeout=250)
    checked(guest)
    tally("system calls on threads of shared queues", STORMS[storm])


@pytest.mark.threads
@_types
@pytest.mark.parametrize("refill", ["own", "borrow"])
def test_parameters_change_while_threads_wait(guest, program, type_, refill):
    """Keys, nice values and policies of threads that others take meanwhile."""
    id_ = load_policy(guest, "sharer", f"type={type_}", f"refill={refill}", "masks=0-1/2-3",
                      "slice_us=300")  # fmt: skip
    load_policy(guest, "fifo", "timeout_ms=0")
    run_ok(guest, f"{program('renicers')} {id_}", timeout=250)
    run_ok(guest, f"{program('switching')} -s -n 3000 sharer fifo other sharer", timeout=250)
    checked(guest)


@pytest.mark.threads
@_types
@pytest.mark.parametrize("rounds", [ROUND, ALONE], ids=["one", "all"])
def test_hotplug(guest, program, type_, rounds):
    load_policy(guest, "sharer", f"type={type_}", "slice_us=2000")
    _crowd(guest, program, f"for i in 1 2; do {rounds} done")
    checked(guest)


@pytest.mark.threads
@_types
def test_ejection(guest, program, type_):
    load_policy(guest, "sharer", f"type={type_}", "slice_us=1000")
    # A fair shell that spins would leave 5 % of its CPU to forks that the eviction waits for.
    gone = joined("sharer", 0, pause="sleep 0.1")
    _crowd(guest, program, f"echo sharer >{SYSFS}/eject; {gone}", "other")
    assert policies(guest)["sharer"].threads == 0


@pytest.mark.threads
@_types
def test_removal(guest, program, type_):
    for _ in range(3):
        load_policy(guest, "sharer", f"type={type_}", "slice_us=1000")
        _crowd(guest, program, "rmmod sharer", "other")
    assert "sharer" not in policies(guest)


@pytest.mark.threads
@_types
@pytest.mark.limit(300)
def test_replacement_back_and_forth(guest, program, type_):
    """Both share queues; and by a policy with a queue for each core, and back."""
    first = guest.kernel.modules / "sharer" / "sharer.ko"
    second = guest.kernel.modules / "sharer" / "sharer2.ko"
    fifo = guest.kernel.modules / "fifo" / "fifo.ko"
    load_policy(guest, "sharer", f"type={type_}")
    there = f"insmod {second} name=sharer2 replaces=sharer masks=0-1/2-3 && rmmod sharer"
    aside = f"insmod {fifo} replaces=sharer2 && rmmod sharer2"
    back = f"insmod {first} replaces=fifo type={type_} && rmmod fifo"
    _crowd(guest, program, f"for i in 1 2 3; do {there} && {aside} && {back} || exit 1; done")
    assert list(policies(guest)) == ["sharer"]
    checked(guest)


@pytest.mark.threads
def test_two_policies_that_share(guest, program):
    """Each on its own halves: what one CPU refills for one, another one does for the other."""
    second = guest.kernel.modules / "sharer" / "sharer2.ko"
    load_policy(guest, "sharer", "slice_us=1000")
    run_ok(guest, f"insmod {second} name=sharer2 type=rbtree slice_us=700 masks=0-1/2-3")
    run_ok(guest, "saakmctl exec sharer -- hackbench -g 2 -l 60 & "
           "saakmctl exec sharer2 -- hackbench -g 2 -l 60 && wait $!", timeout=250)  # fmt: skip
    checked(guest)
    checked(guest, "sharer2")


@pytest.mark.topology("1s2c2t")
@_types
@pytest.mark.parametrize("mode", ["progress", "switch"])
def test_core_scheduling(guest, program, type_, mode):
    load_policy(guest, "sharer", f"type={type_}", "slice_us=4000")
    run_ok(guest, f"{program('cookies')} sharer {mode} true", timeout=250)
    checked(guest)
