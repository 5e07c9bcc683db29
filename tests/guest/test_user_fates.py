# SPDX-License-Identifier: GPL-2.0
"""What may become of an agent's process while it decides: namespaces, forks, execs, signals,
and CPUs that go away or are taken by others."""

import re

import pytest

from saakm.base.procfs import unanswered

from .support import ejected, load_policy, policies, run_ok, spins

NO_FAST_PATH = 4
AGENTS = "/sys/module/user/parameters/agents"
ANSWER_US = 100_000
# A look each 5 ms, in ticks, and a turn of somebody else's.
LOOK_US = 5_000 + 5 * 4_000 + 20_000 + 2 * 4_000


@pytest.fixture
def user(guest):
    return load_policy(guest, "user")


def start(guest, program, user: int, mode: str, cpus: str = "0xf", under: str = "") -> None:
    run_ok(
        guest,
        f"{under} {program('agent')} {mode} {user} {cpus} {NO_FAST_PATH} >/tmp/agent 2>&1 &"
        f" until [ $(cat {AGENTS}) = 1 ]; do [ -e /proc/$! ] || exit 1; busybox usleep 10000; done",
    )


def counts(guest) -> tuple[int, int]:
    """Decisions that were carried out, and threads that were not waited for."""
    dump = run_ok(guest, "saakmctl dump user")
    decided = re.search(r"decisions: (\d+) carried out", dump)
    return int(decided[1]) if decided else 0, unanswered(dump)


def naps(guest, program, user: int, times: int = 40, under: str = "") -> int:
    """By how much a thread overslept at most, in us"""
    return int(run_ok(guest, f"{under} {program('naps')} {user} {times}").split()[1])


def decides(guest, program, user: int, under: str = "") -> None:
    before = counts(guest)
    naps(guest, program, user, under=under)
    after = counts(guest)
    assert after[0] >= before[0] + 40 and after[1] == before[1], (before, after)


def gives_up(guest) -> None:
    run_ok(
        guest,
        "echo 500 >/sys/module/user/parameters/grace_ms; saakmctl exec user -- sleep 3 || :",
    )
    assert ejected(guest)["user"].reason.startswith("no agent for 500 ms: ")


def test_agent_in_a_pid_namespace(guest, program, user):
    """Its numbers are those of the first one, wherever it lives."""
    start(guest, program, user, "fifo", under="unshare --pid --fork")
    decides(guest, program, user)


def test_agent_that_signals_interrupt(guest, program, user):
    start(guest, program, user, "signals")
    decides(guest, program, user)


def test_file_in_a_child_is_no_agent(guest, program, user):
    """It cannot speak for its parent, and keeps nothing of the parent's alive."""
    start(guest, program, user, "forks")
    decides(guest, program, user)
    run_ok(guest, "until grep -q child /tmp/agent; do busybox usleep 10000; done")
    assert "child: Operation not permitted" in run_ok(guest, "cat /tmp/agent")
    run_ok(guest, "kill -KILL $(pgrep -o agent)")
    assert naps(guest, program, user) < 20_000
    gives_up(guest)
    assert run_ok(guest, "pgrep -c agent") == "1\n"


def test_agent_that_becomes_another_program(guest, program, user):
    """It is the agent nevertheless, and one that does not answer."""
    start(guest, program, user, "execs")
    assert naps(guest, program, user) < ANSWER_US + LOOK_US
    run_ok(guest, "pkill -KILL sleep")
    assert naps(guest, program, user) < 20_000
    gives_up(guest)


def test_mapping_of_an_agent_that_has_ended(guest, program, user):
    """Its process writes there on, while the next agent decides."""
    start(guest, program, user, "keeps")
    naps(guest, program, user, 110)
    run_ok(guest, "until grep -q keeps /tmp/agent; do busybox usleep 10000; done")
    assert naps(guest, program, user) < 20_000
    start(guest, program, user, "fifo")
    decides(guest, program, user)


def test_cpu_of_the_agent_goes_offline(guest, program, user):
    """Whichever that is, and once for an agent that has this one alone."""
    start(guest, program, user, "fifo")
    run_ok(guest, "saakmctl exec user -- hackbench -g 1 -l 200 -p >/tmp/load 2>&1 &")
    cpu = "/sys/devices/system/cpu/cpu$i/online"
    run_ok(guest, f"for i in 1 2 3; do echo 0 >{cpu} && echo 1 >{cpu} || exit 1; done")
    run_ok(guest, "pkill hackbench; until ! pgrep hackbench; do busybox usleep 10000; done")
    decides(guest, program, user)
    run_ok(guest, f"pkill -KILL agent; until [ $(cat {AGENTS}) = 0 ]; do sleep 0.1; done")
    start(guest, program, user, "fifo", cpus="0x8")
    run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu3/online")
    assert naps(guest, program, user) < 20_000
    run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu3/online")
    assert naps(guest, program, user, under="taskset -c 3") < ANSWER_US + LOOK_US
    assert policies(guest)["user"].state == "active"


def test_cpu_of_the_agent_is_taken_away(guest, program, user):
    """By a cpuset, beside a domain to which it has no CPU left; it decides for that from afar."""
    start(guest, program, user, "fifo", cpus="0xc")
    decides(guest, program, user, under="taskset -c 2-3")
    group = "/sys/fs/cgroup/away"
    run_ok(
        guest,
        f"echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control; mkdir {group};"
        f"echo 0 >{group}/cpuset.cpus; echo $(pgrep agent) >{group}/cgroup.procs",
    )
    before = counts(guest)[0]
    assert naps(guest, program, user, under="taskset -c 2-3") < ANSWER_US + LOOK_US
    assert counts(guest)[0] > before
    run_ok(guest, f"pkill -KILL agent; until rmdir {group}; do sleep 0.1; done")
    assert policies(guest)["user"].state == "active"


def test_realtime_hog_on_the_cpu_of_the_agent(guest, program, user):
    """It goes on where others let it."""
    start(guest, program, user, "fifo")
    for cpu in range(4):
        hog = f"taskset -c {cpu} chrt -f 50 sh -c 'while :; do :; done'"
        run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}")
        before = counts(guest)[0]
        late = naps(guest, program, user, under=f"taskset -c {(cpu + 1) % 4}")
        run_ok(guest, "pkill -KILL -f '^sh -c while'")
        assert late < ANSWER_US + LOOK_US and counts(guest)[0] > before
