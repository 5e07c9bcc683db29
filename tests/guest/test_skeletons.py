# SPDX-License-Identifier: GPL-2.0
"""docs/examples/skeletons: each schedules whatever comes, does what it shows, and goes under load.

What is counted says that something has happened, never how soon.
"""

import json
import re
import shlex
from statistics import median

import pytest

from saakm.base import paths
from saakm.builder.modules import build_modules

from .support import ejected, emptied, policies, run_ok

# 8 CPUs: two sockets, so two caches, of two cores with two hardware threads each.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("2s2c2t")]

SKELETONS = sorted(
    path.parent.name for path in (paths.REPO / "docs/examples").glob("skeletons/*/Kbuild")
)


# An instruction takes 8 ns of the guest's: a slice of 10 us would be shorter than a switch.
LONGER = {"shinjuku": ("slice_us=1000",), "central": ("slice_us=1000",)}


def _load(guest, name: str, *parameters: str) -> int:
    source = paths.REPO / "docs/examples/skeletons" / name
    build_modules(guest.kernel, sources=[source])
    guest.load(source, *(parameters or LONGER.get(name, ())))
    return policies(guest)[name].id


def _param(guest, name: str, what: str) -> int:
    return int(run_ok(guest, f"cat /sys/module/{name}/parameters/{what}"))


def _used_us(guest, program, name: str, how: str, *members: str) -> list[int]:
    """CPU time in 2 s of threads that start on CPU 1: programs/inherits.c."""
    command = f"{program('inherits')} 2000 1 {how} {' '.join(members)}"
    return [*map(int, run_ok(guest, f"saakmctl exec {name} -- {command}").split())]


def _under(name: str, script: str) -> str:
    return f"saakmctl exec {name} -- sh -c {shlex.quote(script)}"


def _is_well(guest, name: str) -> None:
    emptied(guest, name)
    assert not ejected(guest)


@pytest.mark.rotates("name")
@pytest.mark.parametrize("name", SKELETONS)
def test_it_schedules_whatever_comes(guest, program, name):
    """Threads that compute, sleep, wake each other, fork and exec."""
    _load(guest, name)
    script = "hackbench -g 2 -l 30; for i in $(seq 20); do /bin/true; done"
    run_ok(guest, _under(name, script), timeout=250)
    run_ok(guest, f"{program('crowd')} -P -p {name} -n 24 -e saakm 'sleep 0.2'")
    _is_well(guest, name)


@pytest.mark.rotates("name")
@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("storm", ["affinity", "nice", "fork", "kill", "migrate_disable"])
def test_it_stands_a_storm(guest, program, name, storm):
    _load(guest, name)
    run_ok(guest, f"{program('storm')} {name} {storm} 200")
    _is_well(guest, name)


@pytest.mark.rotates("name")
@pytest.mark.parametrize("name", SKELETONS)
def test_cpus_go_and_come_back(guest, program, name):
    """Also the one that central keeps its threads on, but for CPU 0, which cannot go."""
    _load(guest, name)
    off = "for cpu in 7 3 1; do echo {} >/sys/devices/system/cpu/cpu$cpu/online || exit 1; done"
    script = f"{off.format(0)}; {off.format(1)}"
    run_ok(guest, f"{program('crowd')} -p {name} -e saakm {shlex.quote(script)}")
    _is_well(guest, name)


@pytest.mark.rotates("name")
@pytest.mark.parametrize("name", SKELETONS)
def test_it_goes_under_load(guest, program, name):
    _load(guest, name)
    run_ok(guest, f"{program('crowd')} -P -p {name} -n 32 -e other 'sleep 0.1; rmmod {name}'")
    assert name not in policies(guest) and not ejected(guest)


@pytest.mark.rotates("name")
@pytest.mark.parametrize("name", SKELETONS)
def test_threads_come_from_another_policy_and_go_there(guest, program, name):
    """While they run, wait and sleep: its decisions may come too late."""
    _load(guest, name)
    guest.load("rr")
    change = f"for policy in {name} rr {name} rr; do saakmctl set $policy --all-tasks $PPID || exit 1; done"
    run_ok(guest, f"{program('crowd')} -p {name} -n 24 -e saakm {shlex.quote(change)}")
    _is_well(guest, name)


# --- what each shows ---

ALL_US = 2_000_000  # what a CPU has in _used_us()


def test_eligible_weighs(guest, program):
    """Nice 5 has 335 parts to the 1024 of nice 0."""
    _load(guest, "eligible")
    first, second = _used_us(guest, program, "eligible", "pinned", "0", "5")
    assert 1024 / 335 * 0.9 < first / second < 1024 / 335 * 1.1


def _turns(guest, tids: list[int]) -> list[tuple[int, int]]:
    """Of each: CPU time in ns, and how often it got the CPU."""
    rows = run_ok(guest, f"cat {' '.join(f'/proc/{t}/schedstat' for t in tids)}")
    return [(int(row.split()[0]), int(row.split()[2])) for row in rows.splitlines()]


def _hogs(guest, program, id_: int, *params: int) -> list[int]:
    """Thread ids of some that share CPU 1."""
    words = " ".join(map(str, params))
    run_ok(guest, f"rm -f /tmp/tids; {program('hogs')} {id_} 1 pinned {words} >/tmp/tids &")
    run_ok(guest, "until [ -s /tmp/tids ]; do busybox usleep 10000; done")
    return [*map(int, run_ok(guest, "cat /tmp/tids; rm /tmp/tids").split())]


def _in_a_second(guest, tids: list[int]) -> list[tuple[int, int]]:
    before = _turns(guest, tids)
    run_ok(guest, "sleep 1")
    return [(b[0] - a[0], b[1] - a[1]) for a, b in zip(before, _turns(guest, tids), strict=True)]


def test_eligible_takes_a_slice_from_the_parameter(guest, program):
    """200 us for two, 3 ms for one: of equal shares, in more and in fewer turns."""
    id_ = _load(guest, "eligible")
    turns = _in_a_second(guest, _hogs(guest, program, id_, 200, 200, 3000))
    used = [ns for ns, _ in turns]
    assert min(used) > 0.9 * max(used), turns
    assert min(turns[0][1], turns[1][1]) > 2 * turns[2][1], turns


def test_eligible_weighs_anew(guest, program):
    """Of two hogs that have run for a while, one gets another nice value."""
    id_ = _load(guest, "eligible")
    tids = _hogs(guest, program, id_, 0, 0)
    (first, _), (second, _) = _in_a_second(guest, tids)
    assert 0.9 < first / second < 1.1
    run_ok(guest, f"renice -n 5 -p {tids[1]}")
    (first, _), (second, _) = _in_a_second(guest, tids)
    assert 1024 / 335 * 0.9 < first / second < 1024 / 335 * 1.1


@pytest.mark.fast
@pytest.mark.topology("1s2c")
def test_shinjuku_shares_the_queue_and_cuts_slices_short(guest, program):
    """16 hogs on 2 CPUs, by slices of 10 us, of which each has had many."""
    _load(guest, "shinjuku", "slice_us=10")
    run_ok(guest, f"{program('crowd')} -p shinjuku -n 16 -k 3 -e saakm 'sleep 0.2'")
    dumps = json.loads(run_ok(guest, "cat /sys/kernel/debug/saakm/dump"))
    (text,) = (dump["dump"] for dump in dumps if dump["name"] == "shinjuku")
    assert all(int(n) > 10 for n in re.findall(r"(\d+) preempted", text)), text
    assert sum(map(int, re.findall(r"(\d+) taken", text))) > 0, text


def test_central_sends_to_all_others(guest, program):
    """Of seven that wait on one CPU each gets one; there are eight, and some may meet for a while."""
    _load(guest, "central")
    used = _used_us(guest, program, "central", "free", *["0"] * 7)
    assert sum(used) > 3.5 * ALL_US, used


def test_lavd_prefers_short_bursts(guest, program):
    """Beside hogs on the same CPU, and on all of them: who sleeps three quarters gets more than most hogs.

    Of 38 by order of arrival, half as much as most.
    """
    _load(guest, "lavd")
    *_, bursts = _used_us(guest, program, "lavd", "pinned", "0", "0", "0:s")
    assert bursts > 0.8 * ALL_US / 4
    *hogs, one, another = _used_us(guest, program, "lavd", "free", *["0"] * 38, "0:s", "0:s")
    assert min(one, another) > median(hogs), (hogs, one, another)


def test_lavd_fetches_from_another_cache(guest, program):
    """Ten hogs come to one of two: cores of the other one take some over."""
    _load(guest, "lavd")
    used = _used_us(guest, program, "lavd", "free", *["0"] * 10)
    assert sum(used) > 6 * ALL_US, used


def test_cacheaware_stays_at_home(guest, program):
    """Six that have run on one of two caches only: they share its four CPUs, and leave four idle."""
    _load(guest, "cacheaware")
    used = _used_us(guest, program, "cacheaware", "free", *["0"] * 6)
    assert 3.5 * ALL_US < sum(used) < 4.1 * ALL_US, used


def test_bridge_decides_elsewhere(guest, program):
    """Nobody runs without a decision as the ring is never full: one sends each of four its way."""
    _load(guest, "bridge")
    used = _used_us(guest, program, "bridge", "free", *["0"] * 4)
    assert sum(used) > 2 * ALL_US and _param(guest, "bridge", "fallbacks") == 0, used


def test_bridge_runs_on_while_nobody_reads_the_ring(guest, program):
    """It has room for 64, and is read 50 times a second: some of 100 find it full."""
    _load(guest, "bridge", "pause_us=20000")
    run_ok(guest, f"{program('crowd')} -p bridge -n 100 -e saakm 'sleep 0.2'")
    assert _param(guest, "bridge", "fallbacks") > 0
