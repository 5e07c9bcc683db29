# SPDX-License-Identifier: GPL-2.0
"""The policy shinjuku: turns of microseconds, classes, and a dispatcher that decides for all CPUs."""

import json
import re
import statistics

import pytest
from call import saakm

from saakm.base.errors import SaakmError

from .support import SYSFS, last_error, load_policy, policies, run_ok, until

pytestmark = pytest.mark.kernel("base")

DUMP = "saakmctl dump shinjuku"
MODES = ["distributed", "central"]
ONLINE = "/sys/devices/system/cpu/cpu{}/online"


def _run(guest, program, scenario: str, id_: int) -> list[list[int]]:
    out = run_ok(guest, f"{program('dispatched')} {scenario} {id_}", timeout=100)
    return [[int(word) for word in line.split()] for line in out.splitlines()]


@pytest.fixture
def hogs(guest, program):
    """Eight, in the mode central, until the test ends; returns whether all get on."""
    id_ = load_policy(guest, "shinjuku", "mode=central")
    run_ok(guest, f"{program('dispatched')} forever {id_} >/tmp/dispatched &"
           "until [ -s /tmp/dispatched ]; do busybox usleep 10000; done")  # fmt: skip
    yield
    run_ok(guest, "pkill -KILL dispatched; rm -f /tmp/dispatched")


def _dispatcher(guest) -> int:
    found = re.search(r"dispatcher on cpu (-?\d+)", run_ok(guest, DUMP))
    assert found
    return int(found[1])


def _comes_to(guest, cpu: int) -> None:
    until(lambda: _dispatcher(guest) == cpu, 20, f"the dispatcher on CPU {cpu}")


def _switches(guest) -> None:
    """Threads are given CPUs, all the time."""
    before = policies(guest)["shinjuku"].switches
    until(lambda: policies(guest)["shinjuku"].switches > before + 20, 20, "20 switches")


# --- parameters ---


@pytest.mark.parametrize(
    "parameters, told",
    [
        ("mode=centrl", "mode=centrl: it is distributed or central"),
        ("slice_us=0", "slice_us=0: nobody would be preempted"),
        ("dispatcher=99", "dispatcher=99: only mode=central has one"),
        ("mode=central dispatcher=4", "dispatcher=4: no such CPU is online"),
        ("mode=central dispatcher=-2", "dispatcher=-2: no such CPU is online"),
    ],
)
def test_bad_parameters_are_refused_fails(guest, parameters, told):
    with pytest.raises(SaakmError):
        guest.load("shinjuku", *parameters.split())
    assert last_error(guest) == f"load shinjuku: {told}"
    assert "shinjuku" not in policies(guest)


def test_no_cpu_to_reserve_is_refused_fails(guest):
    run_ok(guest, "".join(f"echo 0 >{ONLINE.format(cpu)};" for cpu in (1, 2, 3)))
    with pytest.raises(SaakmError):
        guest.load("shinjuku", "mode=central")
    assert last_error(guest) == "load shinjuku: mode=central reserves a CPU, and there is only one"


def test_class_that_is_none_is_refused_fails(guest, program):
    id_ = load_policy(guest, "shinjuku")
    done = guest.run(
        f"sleep 100 & {program('set_param')} $! {id_} 4; status=$?; kill $!; exit $status"
    )
    assert done.status


# --- what a queue does ---


@pytest.mark.fast
@pytest.mark.topology("1s1c")
def test_two_hogs_alternate_within_20_us(guest, program):
    """10,000 turns. An interrupt that comes meanwhile is on the account of whoever runs."""
    id_ = load_policy(guest, "shinjuku", "slice_us=10")
    turns = [int(us) for us in run_ok(guest, f"{program('turns')} {id_} 10002", 200).split()]
    assert len(turns) == 10_000
    late = [us for us in turns if us > 20]
    assert statistics.median(turns) <= 12 and len(late) <= 10, sorted(late)[-20:]


@pytest.mark.parametrize("mode", MODES)
def test_higher_class_has_the_cpu_alone(guest, program, mode):
    id_ = load_policy(guest, "shinjuku", f"mode={mode}", "slice_us=1000")
    _run(guest, program, "classes", id_)


@pytest.mark.parametrize("front", [True, False])
def test_who_wakes_goes_to_the_front(guest, program, front):
    """Of three hogs one ends its turn, before who goes to the back two more have theirs."""
    id_ = load_policy(guest, "shinjuku", f"wake_front={int(front)}", "slice_us=2000")
    [[least, most]] = _run(guest, program, "wakes", id_)
    assert most <= 1 if front else least >= 2, (least, most)


# --- the dispatcher ---


def test_its_cpu_is_its_own(guest, program):
    id_ = load_policy(guest, "shinjuku", "mode=central", "dispatcher=2")
    where = _run(guest, program, "where", id_)
    assert [sum(seen) > 0 for seen in zip(*where, strict=True)] == [True, True, False, True]
    assert _dispatcher(guest) == 2


def test_bound_threads_share_its_cpu(guest, program):
    id_ = load_policy(guest, "shinjuku", "mode=central")
    *others, bound = _run(guest, program, "bound", id_)
    assert bound[3] == sum(bound) > 0, bound
    assert not any(seen[3] for seen in others), others


@pytest.mark.usefixtures("hogs")
def test_it_moves_when_its_cpu_goes_offline(guest):
    run_ok(guest, f"echo 0 >{ONLINE.format(3)}")
    until(lambda: _dispatcher(guest) in (0, 1, 2), 20, "the dispatcher on another CPU")
    _switches(guest)
    run_ok(guest, f"echo 1 >{ONLINE.format(3)}")
    _comes_to(guest, 3)
    _switches(guest)


@pytest.mark.usefixtures("hogs")
def test_with_one_cpu_there_is_none(guest):
    run_ok(guest, "".join(f"echo 0 >{ONLINE.format(cpu)};" for cpu in (1, 2, 3)))
    _comes_to(guest, -1)
    _switches(guest)
    run_ok(guest, "".join(f"echo 1 >{ONLINE.format(cpu)};" for cpu in (1, 2, 3)))
    _comes_to(guest, 3)
    _switches(guest)


@pytest.mark.usefixtures("hogs")
def test_it_moves_when_a_higher_priority_takes_its_cpu(guest):
    run_ok(guest, "chrt -f 99 taskset -c 3 sh -c 'while :; do :; done' & echo $! >/tmp/rt")
    until(lambda: _dispatcher(guest) in (0, 1, 2), 20, "the dispatcher on another CPU")
    _switches(guest)
    run_ok(guest, "kill -KILL $(cat /tmp/rt)")
    _comes_to(guest, 3)


def test_it_sleeps_when_nobody_waits(guest, program):
    id_ = load_policy(guest, "shinjuku", "mode=central")
    _run(guest, program, "where", id_)
    stat = "/proc/$(pgrep -x shinjuku)/stat"
    until(lambda: run_ok(guest, f"cut -d' ' -f3 {stat}").strip() in "SI", 20, "its sleep")
    rounds = run_ok(guest, f"{DUMP} | grep rounds")
    run_ok(guest, "sleep 1")
    assert run_ok(guest, f"{DUMP} | grep rounds") == rounds


@pytest.mark.usefixtures("hogs")
def test_it_ends_with_its_policy(guest):
    run_ok(guest, f"echo shinjuku >{SYSFS}/eject")
    until(lambda: policies(guest)["shinjuku"].threads == 0, 20, "the end of the ejection")
    guest.unload("shinjuku")
    assert guest.run("pgrep -x shinjuku").status == 1
    run_ok(guest, "pkill -KILL dispatched; hackbench -g 2 -l 20")


def test_unloaded_under_load(guest, program):
    load_policy(guest, "shinjuku", "mode=central")
    run_ok(guest, f"{program('crowd')} -p shinjuku -n 8 -l 100 -e other 'rmmod shinjuku'", 100)


def test_check_takes_it_as_it_is():
    """Its threads are moved within a core, and there is none on the dispatcher's for long."""
    done = saakm("check", "shinjuku", "--only", "order,wakeups", "--param", "mode=central")
    assert done.returncode == 0, done.stdout


def test_check_says_why_it_is_not_loaded_on_one_cpu():
    """And nothing else: by that --full leaves the machine out."""
    words = ["--only", "lifecycle", "--topology", "1s1c", "--param", "mode=central", "--json"]
    done = saakm("check", "shinjuku", *words)
    (found,) = json.loads(done.stdout)
    assert found["failures"] == [
        "it cannot be loaded: Invalid argument: load shinjuku: mode=central reserves a CPU, and there is only one"
    ]


@pytest.mark.long
def test_check_takes_it_as_it_is_with_the_kernels_checks():
    """A slice of 30 us on the dispatcher's CPU would end before a thread is back in its program."""
    words = ["--only", "wakeups", "--config", "debug", "--param", "mode=central"]
    done = saakm("check", "shinjuku", *words)
    assert done.returncode == 0, done.stdout


# --- commands give parameters ---


@pytest.mark.parametrize("how", [["--deterministic"], ["--exact"]])
def test_run_gives_parameters_to_the_module(how):
    command = ["run", "shinjuku", *how, "--param", "mode=central", "--param", "dispatcher=1"]
    done = saakm(*command, "--", "cat", "/sys/module/shinjuku/parameters/dispatcher")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_run_says_why_the_policy_refuses_a_parameter():
    done = saakm("run", "shinjuku", "--param", "mode=distribute", "--", "true")
    assert done.returncode == 1 and "mode=distribute: it is distributed or central" in done.stderr
    assert "next: mend what it names: the policy, or its parameters" in done.stderr


def test_run_refuses_parameters_that_nobody_takes(tmp_path):
    done = saakm("run", "shinjuku", "--param", "mod=central", "--", "true")
    assert done.returncode == 2 and "it has no parameter 'mod'" in done.stderr
    for parameter in ("", "=1", "slice_us", "slice_us=1 2"):
        done = saakm("run", "shinjuku", "--param", parameter, "--", "true")
        assert done.returncode == 2 and f"--param '{parameter}' is no parameter" in done.stderr
    # The module says what it takes: no guest needs to boot for that.
    for command in (["run"], ["trace", "-o", str(tmp_path / "trace")]):
        done = saakm(*command, "shinjuku", "--param", "slice_us=-1", "--", "true")
        assert done.returncode == 2 and "slice_us is a whole number from 0" in done.stderr
        assert "booting" not in done.stderr
    for command in ("run", "trace"):
        done = saakm(command, "fair", "--param", "mode=central", "--", "true")
        assert done.returncode == 2
        assert "--param mode=central says nothing about 'fair'" in done.stderr
