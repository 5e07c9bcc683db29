# SPDX-License-Identifier: GPL-2.0
"""docs/examples/skeletons: each schedules whatever comes, does what it shows, and goes under load.

What is counted says that something has happened, never how soon.
"""

import json
import re
import shlex

import pytest

from saakm.base import paths
from saakm.builder.modules import build_modules

from .support import ejected, policies, run_ok, until

# 8 CPUs: two sockets, so two caches, of two cores with two hardware threads each.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("2s2c2t")]

SKELETONS = sorted(path.parent.name for path in (paths.REPO / "docs/examples").glob("skeletons/*/Kbuild"))


# An instruction takes 8 ns of the guest's: a slice of 10 us would be shorter than a switch.
LONGER = {"shinjuku": ("slice_us=1000",), "central": ("slice_us=1000",)}


def _load(guest, name: str, *parameters: str) -> int:
    source = paths.REPO / "docs/examples/skeletons" / name
    build_modules(guest.kernel, sources=[source])
    guest.load(source, *(parameters or LONGER.get(name, ())))
    return policies(guest)[name].id


def _dump(guest, name: str) -> str:
    dumps = json.loads(run_ok(guest, "cat /sys/kernel/debug/saakm/dump"))
    (text,) = (dump["dump"] for dump in dumps if dump["name"] == name)
    return text


def _counted(guest, name: str) -> dict[str, list[int]]:
    """By word, what precedes it in the dump: a number for each line that has the word."""
    found: dict[str, list[int]] = {}
    for number, word in re.findall(r"(\d+) (\w+)", _dump(guest, name)):
        found.setdefault(word, []).append(int(number))
    return found


def _under(name: str, script: str) -> str:
    return f"saakmctl exec {name} -- sh -c {shlex.quote(script)}"


def _is_well(guest, name: str) -> None:
    assert policies(guest)[name].threads == 0 and not ejected(guest)


@pytest.mark.parametrize("name", SKELETONS)
def test_it_schedules_whatever_comes(guest, program, name):
    """Threads that compute, sleep, wake each other, fork and exec."""
    _load(guest, name)
    run_ok(guest, _under(name, "hackbench -g 2 -l 30; for i in $(seq 20); do /bin/true; done"))
    run_ok(guest, f"{program('crowd')} -P -p {name} -n 24 -e saakm 'sleep 0.2'")
    _is_well(guest, name)


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("storm", ["affinity", "nice", "fork", "kill", "migrate_disable"])
def test_it_stands_a_storm(guest, program, name, storm):
    _load(guest, name)
    run_ok(guest, f"{program('storm')} {name} {storm} 200")
    _is_well(guest, name)


@pytest.mark.parametrize("name", SKELETONS)
def test_cpus_go_and_come_back(guest, program, name):
    """Also the one that central keeps its threads on, but for CPU 0, which cannot go."""
    _load(guest, name)
    off = "for cpu in 7 3 1; do echo {} >/sys/devices/system/cpu/cpu$cpu/online || exit 1; done"
    script = f"{off.format(0)}; {off.format(1)}"
    run_ok(guest, f"{program('crowd')} -p {name} -e saakm {shlex.quote(script)}")
    _is_well(guest, name)


@pytest.mark.parametrize("name", SKELETONS)
def test_it_goes_under_load(guest, program, name):
    _load(guest, name)
    run_ok(guest, f"{program('crowd')} -P -p {name} -n 32 -e other 'sleep 0.1; rmmod {name}'")
    assert name not in policies(guest) and not ejected(guest)


@pytest.mark.parametrize("name", SKELETONS)
def test_threads_come_from_another_policy_and_go_there(guest, program, name):
    """While they run, wait and sleep: its decisions may come too late."""
    _load(guest, name)
    guest.load("rr")
    change = "for policy in $0 rr $0 rr; do saakmctl set $policy --all-tasks $PPID || exit 1; done"
    script = f"sh -c {shlex.quote(change)} {name}"
    run_ok(guest, f"{program('crowd')} -p {name} -n 24 -e saakm {shlex.quote(script)}")
    _is_well(guest, name)


# --- what each shows ---


def test_eligible_weighs(guest, program):
    """Nice 5 has 335 parts to the 1024 of nice 0."""
    _load(guest, "eligible")
    out = run_ok(guest, f"saakmctl exec eligible -- {program('inherits')} 2000 1 pinned 0 5")
    first, second = map(int, out.split())
    assert 1024 / 335 * 0.9 < first / second < 1024 / 335 * 1.1


def test_eligible_elects_whom_it_just_woke(guest):
    """Who is woken synchronously goes before hogs that have waited for longer."""
    _load(guest, "eligible")
    hog = "while :; do :; done"
    script = f"taskset -pc 2 $$; {hog} & one=$!; {hog} & hackbench -g 1 -l 100; kill $one $!"
    run_ok(guest, _under("eligible", script))
    assert sum(_counted(guest, "eligible")["buddies"]) > 0


def test_eligible_takes_a_slice_from_the_parameter(guest, program):
    """200 us and 3 ms, of equal shares: the turns of both are short, as it preempts."""
    id_ = _load(guest, "eligible")
    out = run_ok(guest, f"{program('shares')} 1 900 {id_}:200 {id_}:0", timeout=100)
    first, second = map(int, out.split())
    assert 0.9 < first / second < 1.1


@pytest.mark.fast
@pytest.mark.topology("1s2c")
def test_shinjuku_shares_the_queue_and_cuts_slices_short(guest, program):
    """16 hogs on 2 CPUs, by slices of 10 us."""
    _load(guest, "shinjuku", "slice_us=10")
    run_ok(guest, f"{program('crowd')} -p shinjuku -n 16 -k 3 -e saakm 'sleep 0.2'")
    counted = _counted(guest, "shinjuku")
    assert all(n > 10 for n in counted["preempted"]), counted
    assert sum(counted["taken"]) > 0


def test_central_sends_to_all_others(guest, program):
    _load(guest, "central")
    run_ok(guest, f"{program('crowd')} -p central -n 16 -k 3 -e saakm 'sleep 0.2'")
    sent = _counted(guest, "central")["sent"]
    assert sent[0] == 0 and all(n > 0 for n in sent[1:]), sent


@pytest.mark.parametrize("vllc, domains", [(0, ["0-3", "4-7"]), (2, ["0-1", "2-3", "4-5", "6-7"])])
def test_lavd_has_a_domain_for_each_cache(guest, program, vllc, domains):
    """Whoever is in one of them alone is fetched by the others."""
    _load(guest, "lavd", f"vllc={vllc}")
    found = re.findall(r"domain (\S+),", _dump(guest, "lavd"))
    assert found == [domain for domain in domains for _ in range(8 // len(domains))]
    run_ok(guest, f"saakmctl exec lavd -- {program('inherits')} 500 1 free {'0 ' * 12}")
    run_ok(guest, _under("lavd", "hackbench -g 2 -l 50"))
    counted = _counted(guest, "lavd")
    assert sum(counted["strangers"]) > 0 and sum(counted["victims"]) > 0, counted


def test_lavd_learns_of_another_topology(guest):
    """Of a policy in use: idle cores are searched for among those that are left."""
    _load(guest, "lavd")
    run_ok(guest, _under("lavd", "true") + "; echo 0 >/sys/devices/system/cpu/cpu7/online")

    def domains():
        return re.findall(r"domain (\S+),", _dump(guest, "lavd"))

    until(lambda: domains() == ["0-3"] * 4 + ["4-6"] * 3 + ["7"], 20, lambda: str(domains()))


def test_cacheaware_brings_processes_home(guest, program):
    _load(guest, "cacheaware")
    run_ok(guest, _under("cacheaware", "for i in $(seq 10); do /bin/true; done"))
    script = "sleep 1"
    run_ok(guest, f"{program('crowd')} -p cacheaware -n 12 -k 3 -e saakm {shlex.quote(script)}")
    counted = _counted(guest, "cacheaware")
    assert counted["programs"][0] >= 11 and sum(counted["home"]) > 0, counted


def test_bridge_decides_elsewhere(guest, program):
    _load(guest, "bridge")
    run_ok(guest, f"{program('crowd')} -p bridge -n 24 -e saakm 'sleep 0.2'")
    counted = _counted(guest, "bridge")
    assert counted["sent"][0] > 0 and counted["kept"][0] > 0 and counted["fallbacks"] == [0]


def test_bridge_runs_on_while_nobody_reads_the_ring(guest, program):
    _load(guest, "bridge", "pause_us=1000")
    run_ok(guest, f"{program('crowd')} -p bridge -n 100 -e saakm 'sleep 0.2'")
    assert _counted(guest, "bridge")["fallbacks"][0] > 0
