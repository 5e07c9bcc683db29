# SPDX-License-Identifier: GPL-2.0
"""Each fault of an agent of the policy user, while threads message each other under it, beside
another policy: threads are late by no more than is promised, none is lost,
the neighbour notices nothing, and without the agent the policy gives up, and says why."""

import re

import pytest

from .support import ejected, joined, load_policy, policies, run_ok

pytestmark = pytest.mark.limit(600)

# An event is not waited for any longer; timers look every 5 ms, and time is counted in ticks.
ANSWER_US = 100_000
LOOK_US = 5_000 + 5 * 4_000
KILLED_US = 20_000  # who is killed is known to be gone
# A turn of a thread of the policy, and two ticks
BESIDE_US = 20_000 + 2 * 4_000

KILL, STOP, NOW = "kill -KILL $agent", "kill -STOP $agent", "kill -USR1 $agent"
# Mode of programs/agent.c -> what a shell does to it, how late a thread may be, and what shows in a
# dump that the fault was there. Threads need not be late: once the ring is full they do not wait.
LATE_US = ANSWER_US + LOOK_US
FAULTS = {
    "killed": (KILL, KILLED_US, r"no agent$"),
    "stopped": (STOP, LATE_US, r"no answer [1-9]"),
    "panics": (NOW, KILLED_US, r"no agent$"),
    "loops": (NOW, LATE_US, r"no answer [1-9]"),
    "slow": (":", LATE_US, r"no answer [1-9]"),
    "unread": (":", LATE_US, r"no answer [1-9]"),
    "fills": (":", LATE_US, r" [1-9]\d{3,} stale"),
    "noise": (":", LATE_US, r"; [1-9]\d* counts beyond"),
    "guesses": (":", LATE_US, r" [1-9]\d* of threads that are gone"),
    "lies": (":", LATE_US, r" [1-9]\d* bounced"),
}
AGENTS = "/sys/module/user/parameters/agents"


def beside(program, fault: str, user: int, neighbour: str, other: int) -> str:
    """For a shell in the guest: an agent errs while threads of the policy use three CPUs; on the
    fourth, one of it and one of the neighbour's nap, whose lateness is printed."""
    action, _, _ = FAULTS[fault]
    mode = "fifo" if action in (KILL, STOP) else fault
    return f"""
        {program("agent")} {mode} {user} 0xffffffffffffffff 4 >/tmp/agent 2>&1 & agent=$!
        until [ $(cat {AGENTS}) = 1 ]; do busybox usleep 10000; done
        while [ ! -e /tmp/over ]; do
            taskset -c 0-2 saakmctl exec user -- hackbench -g 1 -l 5 -p >/dev/null || exit 1
        done & load=$!
        until [ $(awk '$2 == "user" {{ print $NF }}' /proc/saakm/policies) -gt 500 ]
        do busybox usleep 10000; done
        {program("naps")} {other} 1 >/dev/null # so that its file is in memory
        taskset -c 3 {program("naps")} {other} 100 >/tmp/beside & beside=$!
        taskset -c 3 {program("naps")} {user} 100 >/tmp/under & under=$!
        {joined(neighbour, 1, "busybox usleep 5000")}
        busybox usleep 20000
        {action}
        wait $under && wait $beside || exit 2
        saakmctl dump user >/tmp/dump
        touch /tmp/over; wait $load || exit 3
        cat /tmp/under /tmp/beside /tmp/dump; rm /tmp/over"""


def errs(guest, program, fault: str, neighbour: str) -> tuple[int, int]:
    """How late the threads are, in us, under the policy and beside it."""
    other = load_policy(guest, neighbour)
    user = load_policy(guest, "user")
    under, near, *dump = run_ok(
        guest, beside(program, fault, user, neighbour, other), timeout=500
    ).splitlines()
    late, near_late = int(under.split()[1]), int(near.split()[1])
    print(f"{fault} beside {neighbour}: {late} us late, the neighbour {near_late}")
    assert re.search(FAULTS[fault][2], "\n".join(dump), re.M), dump
    assert policies(guest)["user"].state == "active"
    gives_up(guest)
    assert policies(guest)[neighbour].state == "active"
    return late, near_late


@pytest.mark.kernel("base")
@pytest.mark.rotates("fault", 2)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.rotates("neighbour")
@pytest.mark.parametrize("neighbour", ["fifo", "rr"])
def test_fault_beside_a_neighbour(guest, program, fault, neighbour):
    late, near_late = errs(guest, program, fault, neighbour)
    # Who need not wait for the agent any longer waits for the turn of somebody else.
    assert late < FAULTS[fault][1] + BESIDE_US and near_late < BESIDE_US


@pytest.mark.long
@pytest.mark.kernel("debug")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("neighbour", ["fifo", "rr"])
def test_fault_on_the_debug_kernel(guest, program, fault, neighbour):
    """Its checks take most of the time that is counted: nothing is lost, and nothing said."""
    errs(guest, program, fault, neighbour)


def gives_up(guest) -> None:
    run_ok(
        guest,
        "pkill -KILL agent; echo 500 >/sys/module/user/parameters/grace_ms;"
        "saakmctl exec user -- sleep 3 || :",
    )
    found = ejected(guest)["user"]
    assert (found.kind, found.reason) == (
        "policy-error",
        "no agent for 500 ms: start one before threads join, or load with grace_ms=0",
    )


def scribbled(program, user: int, seed: int, goes_on: str) -> str:
    """For a shell in the guest: random bytes in all of the mapping, while a condition holds."""
    agent = f"{program('agent')} scribbles {user} 0xffffffffffffffff {seed % 2 * 4}"
    return f"""
        SEED={seed} {agent} >/tmp/agent 2>&1 &
        until [ $(cat {AGENTS}) = 1 ]; do busybox usleep 10000; done
        while {goes_on}; do
            saakmctl exec user -- hackbench -g 1 -l 10 -p >/dev/null || exit 1
        done
        [ $(cat {AGENTS}) = 1 ] && pkill -KILL agent"""


def test_kernel_does_not_trust_the_page(guest, program, request):
    seed = request.config.getoption("--seed")
    user = load_policy(guest, "user")
    print(f"seed {seed}")
    run_ok(guest, scribbled(program, user, seed, "[ $((i += 1)) -le 3 ]"), timeout=250)
    assert policies(guest)["user"].state == "active"


# So many seconds of the guest's for each seed.
@pytest.mark.long
@pytest.mark.limit(3600)
@pytest.mark.parametrize("seed", range(4))
def test_kernel_does_not_trust_the_page_for_long(guest, program, seed):
    user = load_policy(guest, "user")
    ends = "read -r now _ </proc/uptime; end=${end:-$((${now%.*} + 20))}; [ ${now%.*} -lt $end ]"
    run_ok(guest, scribbled(program, user, seed, ends), timeout=3000)
    assert policies(guest)["user"].state == "active"
