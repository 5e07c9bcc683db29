# SPDX-License-Identifier: GPL-2.0
"""Stalls are found, and nobody is blamed for what others did."""

import re

import pytest

from saakm.builder.modules import module_file

from .support import SYSFS, ejected, is_ready, load_policy, policies, run_ok, sleeps, spins, until

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
TIMEOUT_MS = 2000


@pytest.fixture
def no_shares(guest):
    """Neither server nor throttling: hogs of higher classes leave SaaKM threads nothing."""
    runtime = run_ok(guest, f"cat {RT_RUNTIME}").strip()
    server = run_ok(guest, f"cat {SYSFS}/server_runtime_us").strip()
    run_ok(
        guest,
        f"echo eject >{SYSFS}/on_violation; echo -1 >{RT_RUNTIME}; echo 0 >{SYSFS}/server_runtime_us",
    )
    yield
    if guest.alive:
        guest.run(f"echo {runtime} >{RT_RUNTIME}; echo {server} >{SYSFS}/server_runtime_us")


def _spin(cpu: int, prefix: str) -> str:
    """A hog, bound before it joins. $! is its pid, since each of these executes the next."""
    return f"taskset -c {cpu} {prefix} sh -c 'while :; do :; done'"


def _beside(hog: str, command: str) -> str:
    """The command gets a signal when it has waited for 2 s, but can only end when the hog does, after 7 s.

    From when it waits behind the hog: how long it takes to get there, the host decides.
    """
    waits = '[ "$(grep -Exc "state +READY|cpu +1" /proc/$waits/saakm)" = 2 ]'
    return f"""{hog} & hog=$!; {spins()}
        {command} & waits=$!
        until {waits}; do busybox usleep 10000; done
        sleep 2; kill $waits; sleep 5; kill -KILL $hog; wait; true"""


@pytest.mark.parametrize("hog", ["chrt -f 10", "chrt -o 0"], ids=["rt", "fair"])
def test_hog_is_to_blame(guest, no_shares, hog):
    """A thread waits three times the limit, on a CPU that a higher class holds."""
    load_policy(guest, "fifo", f"timeout_ms={TIMEOUT_MS}")
    # It joins elsewhere, and then goes there: the hog must not keep it from joining, and while it
    # might use other CPUs, fifo is to blame.
    waits = f"taskset -c 0,2-3 saakmctl exec fifo -- {_spin(1, '')}"
    run_ok(guest, _beside(_spin(1, hog), waits))
    assert policies(guest)["fifo"].state == "active", ejected(guest)
    assert policies(guest)["fifo"].new > 0


def test_hog_of_an_earlier_policy_is_to_blame(guest, no_shares):
    """Without the floor between policies, which see test_floor.py."""
    run_ok(guest, f"echo 0 >{SYSFS}/floor_runtime_us")
    load_policy(guest, "fifo", f"timeout_ms={TIMEOUT_MS}")
    load_policy(guest, "rr", f"timeout_ms={TIMEOUT_MS}")
    run_ok(guest, _beside(_spin(1, "saakmctl exec fifo --"), _spin(1, "saakmctl exec rr --")))
    run_ok(guest, f"echo 50000 >{SYSFS}/floor_runtime_us")
    assert [p.state for p in policies(guest).values()] == ["active", "active"], ejected(guest)
    assert all(p.new > 0 for p in policies(guest).values()), policies(guest)


def test_policy_is_to_blame_beside_a_hog(guest, watch, no_shares):
    """The hog holds one CPU; the thread might use all, and its policy never moves it."""
    watch.expect_violations()
    id_ = load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    hog = _spin(1, "chrt -f 10")
    run_ok(guest, f"{hog} & {spins()}; saakmctl exec {id_} -- sleep 0.1 & true")
    until(lambda: policies(guest)["misuser"].state == "ejected", 15, "the ejection")
    assert ejected(guest)["misuser"].kind == "stall"


@pytest.mark.parametrize("pause_ms, busy_ms", [(100, 5), (60, 4)])
def test_idle_time_between_moments_of_others_is_no_excuse(
    guest, program, watch, no_shares, pause_ms, busy_ms
):
    """Most ticks that there are on the thread's only CPU come while they run, a twentieth of the time.

    In steps of 64 ms they come as samples would on a busy machine.
    """
    watch.expect_violations()
    load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    run_ok(
        guest,
        f"{program('moments')} 3 {pause_ms} {busy_ms} 6000 &"
        ' until [ "$(cut -d" " -f1 /proc/$!/schedstat)" -gt 20000000 ]; do busybox usleep 10000; done',
    )
    run_ok(guest, "taskset -c 3 saakmctl exec misuser -- sleep 0.1 & true")
    sentence = r"READY on CPU 3 for (\d+) ms .* in (\d+) ms"
    said = until(lambda: re.search(sentence, guest.console()[watch.since :]), 15, "the sentence")
    assert ejected(guest)["misuser"].kind == "stall"
    waited_ms, excused_ms = map(int, said.groups())
    assert excused_ms < waited_ms / 6, said[0]


def test_time_before_the_wait_is_no_excuse(guest, watch, no_shares):
    """A hog ends soon after the first thread joins: no tick took samples before that."""
    watch.expect_violations()
    load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    told = run_ok(
        guest,
        f"""
        sleep 1; {sleeps(3)}
        {_spin(3, "")} & hog=$!; {spins()}
        saakmctl set misuser $sleeper; kill $sleeper; {is_ready("$sleeper")}
        busybox usleep 20000
        # The shell alone: while a program waits for its file time would leap.
        kill $hog; wait $hog; while read -r line; do echo "$line"; done </proc/$sleeper/saakm""",
    )
    held_ms = int(re.search(r"^since_ns +(\d+)$", told, re.M)[1]) / 1e6
    assert held_ms >= 20, "it has had a turn since"
    sentence = r"READY on CPU 3 for \d+ ms .* in (\d+) ms"
    said = until(lambda: re.search(sentence, guest.console()[watch.since :]), 15, "the sentence")
    assert int(said[1]) < held_ms + TIMEOUT_MS / 8, said[0]


def test_policies_that_come_and_go_do_not_keep_it_from_looking(guest, watch, no_shares):
    """For three times the limit, more often than it looks.

    It sleeps for a moment: who was preempted in the kernel gets a turn, and would end with that.
    """
    watch.expect_violations()
    file = module_file(guest.kernel, "fifo")
    id_ = load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    told = run_ok(
        guest,
        f"""
        {_spin(2, "")} & hog=$!  # no time leaps
        {spins()}
        saakmctl exec {id_} -- sleep 0.1 &
        {is_ready("$!")}
        now_cs() {{ tr -d . </proc/uptime | cut -d' ' -f1; }}
        end_cs=$(($(now_cs) + {3 * TIMEOUT_MS // 10}))
        while [ $(now_cs) -lt $end_cs ]; do
            insmod {file} && rmmod fifo || exit 1
        done
        kill $hog; cat /proc/saakm/ejected""",
    )
    assert re.search(r"\bstall\b", told), told


def test_all_cpus_run_threads_of_saakm(guest, program, watch):
    """The watchdog itself is above them."""
    watch.expect_violations()
    run_ok(guest, f"echo eject >{SYSFS}/on_violation")
    # The first to be asked: behind fifo it would wait for fifo's threads.
    id_ = load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    load_policy(guest, "fifo", "timeout_ms=0")
    hogs = " & ".join(_spin(cpu, "saakmctl exec fifo --") for cpu in range(4))
    run_ok(guest, f"{hogs} & {spins(4)}; saakmctl exec {id_} -- sleep 0.1 & true")
    until(lambda: policies(guest)["misuser"].state == "ejected", 20, "the ejection")
    fifo = policies(guest)["fifo"]
    assert (fifo.state, fifo.threads) == ("active", 4)


def test_no_watchdog_on_request(guest, program):
    """timeout_ms=0: a thread waits longer than the limit that others have, and than 30 s, the usual one."""
    load_policy(guest, "fifo", "timeout_ms=300")
    id_ = load_policy(guest, "misuser", "mode=schedule_null", "timeout_ms=0")
    # The thread joins where it holds nothing that another program may wait for. It runs on until
    # somebody preempts it; if that was in the kernel, it gets a turn from the class: then once more.
    waits = "taskset -c 3 true && busybox usleep 100000 && grep -q READY /proc/$!/saakm"
    told = run_ok(
        guest,
        f"echo eject >{SYSFS}/on_violation; {_spin(3, '')} & {spins()};"
        f" saakmctl set {id_} $!; until {waits}; do :; done;"
        " sleep 40; cat /proc/saakm/policies /proc/$!/saakm; kill -KILL $!",
    )
    assert re.search(r" misuser +misuser +\d+ +active +1 ", told), told
    assert re.search(r"^state +READY$", told, re.M), told
    assert int(re.search(r"^since_ns +(\d+)$", told, re.M)[1]) > 31e9, told


def test_busy_policy_is_not_blamed(guest, program):
    """Many threads, all of which get their turn, beside a short limit."""
    run_ok(guest, f"echo eject >{SYSFS}/on_violation")
    load_policy(guest, "rr", "timeout_ms=4000")
    run_ok(guest, f"{program('crowd')} -p rr -n 40 -l 60 -e saakm 'sleep 6'", timeout=110)
    assert policies(guest)["rr"].state == "active", ejected(guest)


CPU1 = "/sys/devices/system/cpu/cpu1/online"
BRINGS_CPU3 = (
    "saakmctl exec hangs -- taskset -c 2 sh -c 'echo 1 >/sys/devices/system/cpu/cpu3/online'"
)
BRINGS_CPU1 = f"saakmctl exec hangs -- taskset -c 0 sh -c 'echo 1 >{CPU1}'"


def test_one_that_brings_a_cpu_online_stalls(guest, watch):
    """All wait for it who take cpus_read_lock(): the watchdog must not."""
    load_policy(guest, "hangs", "forgets=1", "timeout_ms=1000", "on_violation=eject")
    watch.expect_violations()
    # Who does not wait before the CPU is active is not forgotten: then once more.
    again = f"echo 0 >{CPU1}; timeout 20 {BRINGS_CPU1}"
    run_ok(
        guest, f"until grep -q stall /proc/saakm/ejected; do {again}; done; cat {CPU1}", timeout=60
    )
    found = ejected(guest)["hangs"]
    assert found.kind == "stall" and policies(guest)["hangs"].state == "ejected", found


# From right after it has waited until long after the deadline server has found nobody.
@pytest.mark.parametrize("waits_ms", [300, 15500])
def test_one_that_brings_a_cpu_online_is_ejected_by_hand(guest, waits_ms):
    """A switch waits for cpus_read_lock(), and holds what loading and unloading take.

    It waits on a CPU that idles, has no tick and is not asked to elect again by anybody else.
    """
    load_policy(guest, "hangs", "forgets=1", "timeout_ms=0")
    cpu3 = CPU1.replace("cpu1", "cpu3")
    out = run_ok(
        guest,
        f"""
taskset -pc 0-1 $$ >/dev/null
brings=none; is_ready() {{ grep -sq READY /proc/$brings/saakm; }}
until is_ready && busybox usleep 300000 && is_ready; do
    # Who does not wait before the CPU is active is not forgotten: then once more.
    [ -e /proc/$brings/saakm ] || {{ echo 0 >{cpu3}; {BRINGS_CPU3} & brings=$!; }}
    busybox usleep 10000
done
cat /proc/$brings/saakm
echo 1 >{SYSFS}/log_calls & switches=$!
busybox usleep {waits_ms}000; cat /proc/$switches/wchan; echo
timeout 10 sh -c 'echo hangs >{SYSFS}/eject' || exit 1
for i in $(seq 50); do [ -e /proc/$brings ] || break; busybox usleep 100000; done
echo rounds $i; wait $brings $switches; cat {cpu3}
echo 0 >{SYSFS}/log_calls""",
        timeout=60,
    )
    assert "READY" in out and "percpu_rwsem_wait" in out, out
    assert int(out.split("rounds ")[1].split()[0]) < 50, out
    assert ejected(guest)["hangs"].kind == "user"


def test_who_waits_for_the_lock_of_a_stuck_cpu_is_not_to_blame(guest, watch):
    """A policy's tick keeps CPU 1 for 2 s, and its lock. CPU 2, whose balancing wants one of the two that wait there, waits.

    CPU 0 has more threads itself, and goes on: some CPU has to see what happens.
    """
    watch.expect_violations()
    run_ok(guest, f"echo eject >{SYSFS}/on_violation; echo 500 >{SYSFS}/handler_limit_ms")
    load_policy(guest, "rr")
    load_policy(guest, "misuser", "priority=5", "mode=tick_slow")
    hogs = "".join(f"{_spin(cpu, 'saakmctl exec rr --')} & " for cpu in (0, 0, 0, 1, 1, 2))
    run_ok(
        guest,
        f"""
        {hogs} {spins(6)}
        {_spin(1, "saakmctl exec misuser --")} &
        until grep -q misuser /proc/saakm/ejected; do busybox usleep 10000; done
        pkill -KILL -f '^sh -c while'; wait; true""",
    )
    assert ejected(guest)["misuser"].kind == "overrun"
    assert policies(guest)["rr"].state == "active", ejected(guest)
