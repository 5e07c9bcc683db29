# SPDX-License-Identifier: GPL-2.0
"""What handlers ask, and whom they notify: wakers, slices, a kthread, a new topology."""

import pytest

from .support import load_policy, policies, run_ok, until
from .test_shared import read

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

TASK, SOFTIRQ, IRQ = range(3)


def _read(guest, what: str) -> list[int]:
    return read(guest, what, "services")


# --- wakers ---


def _woken(guest, program, how: str, times: int) -> tuple[list[int], list[int], str]:
    """How often by whom, as prepare and place say, without what the program itself needs."""
    id_ = load_policy(guest, "services")
    said = run_ok(guest, f"{program('wakers')} {how} {id_} {times}", timeout=60).strip()
    return _read(guest, "prepared"), _read(guest, "placed"), said


def test_a_thread_wakes(guest, program):
    """And it is current."""
    _, placed, said = _woken(guest, program, "task", 30)
    assert placed[TASK] >= 30 and placed[SOFTIRQ] + placed[IRQ] <= 3, placed
    assert _read(guest, "last_waker") == [int(said)]


def test_a_thread_forks(guest, program):
    prepared, placed, _ = _woken(guest, program, "fork", 30)
    assert prepared[TASK] >= 30 and placed[TASK] >= 30, (prepared, placed)
    assert placed[IRQ] + placed[SOFTIRQ] <= 10, placed


def test_a_timer_wakes(guest, program):
    _, placed, _ = _woken(guest, program, "timer", 30)
    assert placed[IRQ] >= 30 and placed[TASK] <= 3, placed


def test_a_softirq_wakes(guest, program):
    """Of which a thread of its own may take care, where there are many: it is taken for a thread."""
    _, placed, _ = _woken(guest, program, "softirq", 30)
    assert placed[SOFTIRQ] >= 1 and placed[IRQ] <= 3, placed
    assert placed[SOFTIRQ] + placed[TASK] >= 30, placed


@pytest.mark.threads
def test_place_and_prepare_say_the_same(guest, program):
    """Wherever the woken thread lands: its waker is not the CPU that was told of it."""
    load_policy(guest, "services")
    run_ok(guest, "saakmctl exec services -- hackbench -g 1 -l 50", timeout=250)
    prepared, placed = _read(guest, "prepared"), _read(guest, "placed")
    assert placed[TASK] > 100
    assert placed[IRQ] <= 1.2 * prepared[IRQ] + 20, (prepared, placed)


# --- slices ---


@pytest.mark.parametrize("how", ["slice_us", "own_us"])
@pytest.mark.parametrize("us", [1000, 40000])
def test_what_is_left_of_a_slice(guest, program, how, us):
    """Of two that want to run and one that wakes beside them, at each tick and wakeup."""
    id_ = load_policy(guest, "services", f"{how}={us}")
    run_ok(guest, f"{program('shares')} 1 600 {id_}:0 {id_}:0 {id_}:0:s", timeout=100)
    found = {what: _read(guest, what)[0] for what in
             ("looks", "wrong_lefts", "ends", "wrong_ends", "endless", "furthest_ns")}  # fmt: skip
    assert found["looks"] >= 20 and found["ends"] >= 8, found
    assert not found["wrong_lefts"] and not found["wrong_ends"] and not found["endless"], found


def test_without_a_slice_it_does_not_end(guest, program):
    id_ = load_policy(guest, "services")
    run_ok(guest, f"{program('shares')} 1 200 {id_}:0 {id_}:0", timeout=100)
    assert _read(guest, "endless")[0] >= 20 and _read(guest, "wrong_lefts") == [0]


# --- the notifier ---


@pytest.mark.threads
def test_no_notification_is_lost(guest, program):
    """One at a time, and no other one would wake the worker."""
    id_ = load_policy(guest, "services")
    run_ok(guest, f"{program('notified')} {id_} 400", timeout=250)


@pytest.mark.threads
@pytest.mark.kernel("debug")
@pytest.mark.limit(600)
def test_a_notifier_is_stopped_under_load(guest, program):
    """What notifies it is under way on all CPUs. The debug kernel would find memory that is gone."""
    for _ in range(4):
        load_policy(guest, "services")
        crowd = f"{program('crowd')} -p services -n 12 -l 100 -e other"
        run_ok(guest, f"{crowd} 'rmmod services'", timeout=250)
    assert "services" not in policies(guest)


CPU1 = "/sys/devices/system/cpu/cpu1/online"
THERE_AND_BACK = f"echo 0 >{CPU1} && echo 1 >{CPU1}"  # once more would do what was left undone


def test_a_cpu_that_dies_notifies_on_another_one(guest, program):
    """
    It wakes a thread after it has done its interrupt work for the last time: what it queued then
    would have stayed, and with it all that it is given when it is back.
    """
    id_ = load_policy(guest, "services")
    run_ok(guest, "saakmctl set services $(pgrep -x services)")
    run_ok(guest, THERE_AND_BACK)
    assert _read(guest, "dying") == [1]
    until(lambda: _read(guest, "seen") == _read(guest, "posted"), 20, "all that was posted")
    until(lambda: _read(guest, "left") == [1], 20, "what others leave behind")
    run_ok(guest, "chrt -o -p 0 $(pgrep -x services)")
    run_ok(guest, f"{program('notified')} {id_} 40", timeout=20)
    guest.unload("services")


def test_a_violation_on_a_cpu_that_dies_ends_the_policy(guest, watch):
    load_policy(guest, "services", "wrong_when_dying=1", "on_violation=eject")
    run_ok(guest, "saakmctl set services $(pgrep -x services)")
    watch.expect_violations()
    run_ok(guest, THERE_AND_BACK)
    until(lambda: policies(guest)["services"].state == "ejected", 20, "the ejection")
    assert _read(guest, "dying") == [1]


# --- the topology ---


def _is_told(guest, least: int, widest: int) -> int:
    """How often it has been told by now, when it was often enough and sees as many CPUs."""

    def told() -> int:
        count = _read(guest, "topologies")[0]
        return count if count >= least and _read(guest, "widest") == [widest] else 0

    return until(told, 20, f"topology_changed, {least} times, with {widest} CPUs")


def test_hotplug_is_told(guest, program):
    """Where it may sleep: it does."""
    load_policy(guest, "services")
    run_ok(guest, "saakmctl exec services -- true")
    before = _read(guest, "topologies")[0]
    online = "/sys/devices/system/cpu/cpu3/online"
    run_ok(guest, f"echo 0 >{online}")
    before = _is_told(guest, before + 1, 3)
    run_ok(guest, f"echo 1 >{online}")
    _is_told(guest, before + 1, 4)


def test_a_cpuset_partition_is_told(guest):
    """CPU 0 shares nothing any more with those that have got domains of their own."""
    load_policy(guest, "services")
    run_ok(guest, "saakmctl exec services -- true")
    before = _read(guest, "topologies")[0]
    root = "/sys/fs/cgroup/partition"
    try:
        run_ok(
            guest,
            f"""
            mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || exit 1
            echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control || exit 1
            mkdir {root} && echo 2-3 >{root}/cpuset.cpus && echo root >{root}/cpuset.cpus.partition
            """,
        )
        before = _is_told(guest, before + 1, 2)
    finally:
        guest.run(f"echo member >{root}/cpuset.cpus.partition; rmdir {root}")
    _is_told(guest, before + 1, 4)


@pytest.mark.threads
def test_it_is_removed_while_it_is_told(guest):
    """The handler sleeps; nobody is told afterwards."""
    online = "/sys/devices/system/cpu/cpu3/online"
    for _ in range(4):
        load_policy(guest, "services")
        run_ok(guest, f"saakmctl exec services -- true; echo 0 >{online}; rmmod services")
        load_policy(guest, "services")
        run_ok(guest, f"saakmctl exec services -- true; echo 1 >{online}; rmmod services")
    assert "services" not in policies(guest)
