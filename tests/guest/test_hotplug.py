# SPDX-License-Identifier: GPL-2.0
"""CPUs go and come under load."""

import pytest

from .support import CENTRAL, POLICIES, SYSFS, load_in_mode, load_policy, run_ok

OFFLINE = "CPUs taken offline and back under load"
# Every CPU but the first, one after the other.
ROUND = """
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
	echo 0 >$cpu || exit 1
	[ $(cat $cpu) = 0 ] || exit 2
	echo 1 >$cpu || exit 3
	[ $(cat $cpu) = 1 ] || exit 4
done
"""
# Down to one CPU, and back.
ALONE = """
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 0 >$cpu || exit 1; done
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 1 >$cpu || exit 2; done
"""


def _rounds(what: str, count: int) -> str:
    return f"for round in {' '.join(map(str, range(count)))}; do {what} done"


@pytest.mark.threads
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_each_cpu_under_load(guest, program, tally, policy):
    name = load_in_mode(guest, policy)
    run_ok(
        guest, f"{program('crowd')} -p {name} -l 100 -e saakm '{_rounds(ROUND, 3)}'", timeout=250
    )
    tally(OFFLINE, 3 * 3)


@pytest.mark.threads
@pytest.mark.long
@pytest.mark.limit(1200)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_each_cpu_often(guest, program, tally, policy):
    name = load_in_mode(guest, policy)
    for _ in range(10):
        run_ok(
            guest,
            f"{program('crowd')} -p {name} -l 100 -e saakm '{_rounds(ROUND, 3)}'",
            timeout=250,
        )
        tally(OFFLINE, 3 * 3)


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr", CENTRAL])
def test_down_to_one_cpu(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(
        guest, f"{program('crowd')} -p {name} -l 100 -e saakm '{_rounds(ALONE, 2)}'", timeout=250
    )


@pytest.mark.threads
def test_with_a_storm_of_affinity(guest, program):
    """Masks that name CPUs which are going away."""
    load_policy(guest, "rr")
    storm = f"{program('storm')} rr affinity_offline 1000"
    both = f"({_rounds(ROUND, 3)}) & rounds=$!; {storm} || exit 5; wait $rounds"
    run_ok(guest, f"{program('crowd')} -p rr -n 8 -l 100 -e saakm '{both}'", timeout=250)


def test_load_and_unload_between(guest, program, watch):
    """A policy that is loaded while a CPU is offline knows it when it comes."""
    cpu = "/sys/devices/system/cpu/cpu3/online"
    run_ok(guest, f"echo 0 >{cpu}")
    load_policy(guest, "rr")
    run_ok(guest, f"{program('crowd')} -p rr -l 60 -e saakm 'echo 1 >{cpu}'")
    run_ok(guest, f"{program('yielder')} rr 10 3")
    run_ok(guest, f"echo 0 >{cpu}")
    guest.unload("rr")
    run_ok(guest, f"echo 1 >{cpu}")
    assert "no bandwidth" not in guest.console()[watch.since :]


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr"])
@pytest.mark.parametrize("kthread", ["ksoftirqd/1", "cpuhp/1"])
def test_kthread_of_a_cpu(guest, program, policy, kthread):
    """Threads that CPU hotplug itself depends on."""
    name = load_in_mode(guest, policy)
    run_ok(guest, f"{program('kthread')} {name} {kthread} '{_rounds(ROUND, 2)}'", timeout=70)


def test_stopper_joins_fails(guest, program):
    load_policy(guest, "fifo")
    done = guest.run(f"{program('kthread')} fifo migration/1 true")
    assert done.status and "cannot join: Invalid argument" in done.stderr


@pytest.mark.threads
@pytest.mark.long
@pytest.mark.limit(600)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_many_rounds(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(
        guest,
        f"{program('crowd')} -p {name} -n 64 -l 500 -e saakm '{_rounds(ROUND, 30)}'",
        timeout=520,
    )


def test_woken_where_all_its_cpus_are_gone(guest):
    """No answer of a policy would be right, so none is wrong: the core takes any CPU.

    fifo prefers the CPU that a thread's pid says, whatever CPU it slept on. Of a thread with one CPU
    alone no policy is asked.
    """
    load_policy(guest, "fifo")
    run_ok(
        guest,
        f"echo eject >{SYSFS}/on_violation\n"
        "rm -f /tmp/gone? /tmp/said? /tmp/reads?\n"
        "for n in 0 1 2 3; do\n"
        "  mkfifo /tmp/gone$n\n"
        '  saakmctl exec fifo -- taskset -c 2,3 sh -c ": >/tmp/reads$n; read word <\\$0; echo \\$word" '
        "/tmp/gone$n >/tmp/said$n &\n"
        "done\n"
        # Time alone would not show that it waits for a word: it leaps while a file of the host's is read.
        "until [ -e /tmp/reads0 -a -e /tmp/reads1 -a -e /tmp/reads2 -a -e /tmp/reads3 ]"
        ' && [ $(saakmctl ps | grep -c "BLOCKED.* sh$") = 4 ]; do sleep 0.1; done\n'
        "for cpu in 2 3; do echo 0 >/sys/devices/system/cpu/cpu$cpu/online; done\n"
        "for n in 0 1 2 3; do echo hello >/tmp/gone$n; done\n"
        "wait\n"
        "for cpu in 2 3; do echo 1 >/sys/devices/system/cpu/cpu$cpu/online; done\n"
        '[ "$(cat /tmp/said?)" = "$(printf "hello\\nhello\\nhello\\nhello")" ]',
    )
    assert " active" in run_ok(guest, "saakmctl list fifo || saakmctl list")
