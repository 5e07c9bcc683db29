# SPDX-License-Identifier: GPL-2.0
"""Work conservation, seen from outside: modules/oracle looks at every tick."""

import pytest

from .support import load_policy, run_ok

# Where a busy host cannot make one of the guest's CPUs stand still.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/oracle/parameters"
# Two ticks, and twice rr's balance_interval_ms: see guest/check/conservation.c.
LIMIT_US = 2 * 4000 + 2 * 16000
# Looks that have seen a thread wait.
ENOUGH = 100
UNTIL_ENOUGH = f"until [ $(cat {PARAMETERS}/samples_waiting) -ge {ENOUGH} ]"


def _parameter(guest, name: str) -> int:
    return int(run_ok(guest, f"cat {PARAMETERS}/{name}"))


def _longest_us(guest, policy: str, command: str) -> int:
    # New domains: fair's pauses between balancing for idle CPUs may have grown to 400 ms by now.
    run_ok(guest, "cd /sys/devices/system/cpu/cpu3; echo 0 >online; echo 1 >online")
    guest.load("oracle", f"policy={policy}")
    run_ok(guest, command, timeout=110)
    samples, waiting = _parameter(guest, "samples"), _parameter(guest, "samples_waiting")
    longest_us, pid = _parameter(guest, "longest_us"), _parameter(guest, "longest_pid")
    guest.unload("oracle")
    print(
        f"{policy}: {longest_us} us of idling beside thread {pid}; "
        f"{samples} looks, {waiting} of them saw a thread wait"
    )
    assert ENOUGH <= waiting <= samples
    return longest_us


HACKBENCH = "hackbench -g 2 -l 60"


def test_no_cpu_idles_beside_work(guest, program):
    """rr steals as soon as a CPU goes idle, which all do again and again."""
    load_policy(guest, "rr")
    again = f"{UNTIL_ENOUGH}; do saakmctl exec rr -- {HACKBENCH} || exit 1; done"
    command = f"{program('beside_nappers')} sh -c '{again}'"
    assert _longest_us(guest, "rr", command) <= LIMIT_US


def test_no_cpu_idles_beside_a_crowd(guest, program):
    load_policy(guest, "rr")
    crowded = f"{UNTIL_ENOUGH}; do busybox usleep 10000; done"
    command = f"{program('beside_nappers')} {program('crowd')} -P -p rr -n 12 -l 100 '{crowded}'"
    assert _longest_us(guest, "rr", command) <= LIMIT_US


def test_oracle_sees_idle_cpus(guest):
    """fifo leaves threads where they are: on one CPU, when they may use all."""
    load_policy(guest, "fifo")
    # One loops, which says so, and the others wait: who waits for a file is placed anew.
    loop = "while [ -e /tmp/hog ] || : >/tmp/hog; do :; done"
    hogs = f"taskset -c 1 saakmctl exec fifo -- sh -c '{loop}' & " * 3
    wait = '[ -e /tmp/hog ] && [ $(grep -Eh "READY|RUNNING" /proc/[0-9]*/saakm | wc -l) = 3 ]'
    widen = "for p in $(pgrep -f 'while .*hog'); do taskset -p f $p; done"
    command = f"""
        rm -f /tmp/hog; {hogs}
        until {wait}; do busybox usleep 10000; done
        echo 0 >{PARAMETERS}/longest_us; {widen}; sleep 1; pkill -KILL -f 'while .*hog'"""
    assert _longest_us(guest, "fifo", command) > LIMIT_US
