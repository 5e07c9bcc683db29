# SPDX-License-Identifier: GPL-2.0
"""System calls in great numbers on the threads of a policy: programs/storm.c."""

import pytest

from .support import POLICIES, load_in_mode, policies, run_ok

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

STORMS = {
    "affinity": 1500,
    "nice": 3000,
    "stop": 2000,
    "kill": 300,
    "ptrace": 500,
    "fork": 1000,
    "yield": 20000,
    "cgroup": 400,
    "migrate_disable": 600,
}


NAMES = {
    "affinity": "sched_setaffinity() on running threads",
    "nice": "setpriority() on running threads",
    "stop": "SIGSTOP and SIGCONT at random",
    "kill": "SIGKILL at random",
    "ptrace": "ptrace stops",
    "fork": "forks, execs and exits",
    "yield": "sched_yield()",
    "cgroup": "moves between cgroups",
    "migrate_disable": "runs with migration disabled",
}


def _storm(guest, program, tally, policy: str, storm: str, count: int, *options: str) -> None:
    name = load_in_mode(guest, policy, *options)
    run_ok(guest, f"{program('storm')} {name} {storm} {count}", timeout=250)
    tally(NAMES[storm], count)


@pytest.mark.threads
@pytest.mark.parametrize("storm", STORMS)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_storm(guest, program, tally, policy, storm):
    _storm(guest, program, tally, policy, storm, STORMS[storm])


@pytest.mark.threads
@pytest.mark.rotates("storm")
@pytest.mark.parametrize("storm", STORMS)
def test_storm_with_short_slices(guest, program, tally, storm):
    """The timer of slices comes in between everything."""
    _storm(guest, program, tally, "rr", storm, STORMS[storm], "slice_us=20")


@pytest.mark.threads
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["prio", "vtime", "eevdf"])
def test_nice_in_an_ordered_queue(guest, program, tally, policy):
    """A change of the nice value re-sorts the queue."""
    _storm(guest, program, tally, policy, "nice", STORMS["nice"])


@pytest.mark.threads
@pytest.mark.long
@pytest.mark.limit(600)
@pytest.mark.parametrize("storm", STORMS)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_long_storm(guest, program, tally, policy, storm):
    _storm(guest, program, tally, policy, storm, 5 * STORMS[storm])


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_lone_yielder(guest, program, policy):
    """A thread that yields to nobody goes on at once; it must not wait for a queue."""
    name = load_in_mode(guest, policy)
    seconds = float(run_ok(guest, f"{program('yielder')} {name} 2000 2"))
    # Some microseconds a call; a tick a call (4 ms) would be 8 s.
    assert seconds < 4


@pytest.mark.threads
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_ping_pong(guest, program, policy):
    """No wakeup is lost between any two CPUs."""
    name = load_in_mode(guest, policy)
    before = policies(guest)[name].switches
    run_ok(guest, f"{program('pingpong')} {name} 150", timeout=250)
    assert policies(guest)[name].switches - before >= 4 * 150
