# SPDX-License-Identifier: GPL-2.0
"""cpu.saakm.policy: a cgroup's threads, present and future, run under a policy."""

from shlex import quote

import pytest

from saakm.builder.modules import module_file

from .support import SYSFS, last_error, load_policy, policies, remove_cgroup, run_ok, until

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

ROOT = "/sys/fs/cgroup/saakm-test"


@pytest.fixture
def cgroups(guest):
    """Two cgroups, and one within the first."""
    run_ok(
        guest,
        f"""
        mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || exit 1
        echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || exit 1
        mkdir -p {ROOT}/a/inner {ROOT}/b || exit 1
        echo +cpu >{ROOT}/cgroup.subtree_control; echo +cpu >{ROOT}/a/cgroup.subtree_control
        """,
    )
    yield
    if guest.alive:
        guest.run(remove_cgroup(ROOT))


def _start(guest, where: str, name: str) -> None:
    """A sleeper in a cgroup; /tmp/NAME has its pid."""
    run_ok(
        guest,
        f"sh -c 'echo $$ >{ROOT}/{where}/cgroup.procs; exec sleep infinity' & echo $! >/tmp/{name}",
    )
    until(lambda: "sleep" in run_ok(guest, f"cat /proc/$(cat /tmp/{name})/comm"), 10, "the sleeper")


def _policy_of(guest, name: str) -> str:
    lines = run_ok(guest, f"cat /proc/$(cat /tmp/{name})/saakm").splitlines()
    fields = dict(line.split(maxsplit=1) for line in lines)
    return fields.get("name", "fair")


def _set(guest, where: str, policy: str) -> None:
    run_ok(guest, f"echo {policy} >{ROOT}/{where}/cpu.saakm.policy")


def test_present_and_future_threads(guest, program, cgroups):
    load_policy(guest, "fifo")
    _start(guest, "b", "present")
    _set(guest, "b", "fifo")
    _start(guest, "b", "future")
    _start(guest, "a/inner", "outside")
    found = [_policy_of(guest, name) for name in ("present", "future", "outside")]
    assert found == ["fifo", "fifo", "fair"]
    assert run_ok(guest, f"cat {ROOT}/b/cpu.saakm.policy").strip() == "fifo"
    _set(guest, "b", "none")
    assert _policy_of(guest, "present") == _policy_of(guest, "future") == "fair"


def test_threads_come_back_to_what_they_were(guest, program, cgroups):
    load_policy(guest, "fifo")
    _start(guest, "b", "batch")
    run_ok(guest, "chrt -b -p 0 $(cat /tmp/batch)")
    for leave in ("echo none >", "rmmod fifo; true "):
        _set(guest, "b", "fifo")
        assert _policy_of(guest, "batch") == "fifo"
        run_ok(guest, f"{leave}{ROOT}/b/cpu.saakm.policy")
        assert "SCHED_BATCH" in run_ok(guest, "chrt -p $(cat /tmp/batch)")


def test_descendants_inherit_unless_they_choose(guest, program, cgroups):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    _start(guest, "a/inner", "it")
    _set(guest, "a", "fifo")
    assert _policy_of(guest, "it") == "fifo"
    _set(guest, "a/inner", "rr")
    assert _policy_of(guest, "it") == "rr"
    _set(guest, "a/inner", "-1")
    assert _policy_of(guest, "it") == "fifo"


def test_threads_that_come_and_go(guest, program, cgroups):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    _set(guest, "a/inner", "fifo")
    _start(guest, "b", "it")
    run_ok(guest, f"cat /tmp/it >{ROOT}/a/inner/cgroup.procs")
    assert _policy_of(guest, "it") == "fifo"
    run_ok(guest, f"cat /tmp/it >{ROOT}/b/cgroup.procs")
    assert _policy_of(guest, "it") == "fair"
    # One who chose for himself keeps that in a cgroup that does not care, and only there.
    run_ok(guest, "saakmctl set rr $(cat /tmp/it)")
    run_ok(
        guest,
        f"cat /tmp/it >{ROOT}/cgroup.procs 2>/dev/null || cat /tmp/it >/sys/fs/cgroup/cgroup.procs",
    )
    assert _policy_of(guest, "it") == "rr"
    run_ok(guest, f"cat /tmp/it >{ROOT}/a/inner/cgroup.procs")
    assert _policy_of(guest, "it") == "fifo"
    run_ok(guest, "saakmctl set rr $(cat /tmp/it)")
    assert _policy_of(guest, "it") == "rr"


def test_real_time_threads_are_left_alone(guest, program, cgroups):
    load_policy(guest, "fifo")
    _start(guest, "b", "rt")
    run_ok(guest, "chrt -f -p 5 $(cat /tmp/rt)")
    _set(guest, "b", "fifo")
    assert _policy_of(guest, "rt") == "fair"


@pytest.mark.kernel("debug")
def test_unload_and_ejection_leave_fair_threads(guest, program, cgroups):
    load_policy(guest, "fifo")
    _start(guest, "b", "it")
    _set(guest, "b", "fifo")
    guest.unload("fifo")
    assert _policy_of(guest, "it") == "fair"
    assert run_ok(guest, f"cat {ROOT}/b/cpu.saakm.policy").strip() == "none"
    _start(guest, "b", "later")
    assert _policy_of(guest, "later") == "fair"
    load_policy(guest, "fifo")
    _set(guest, "b", "fifo")
    assert _policy_of(guest, "it") == _policy_of(guest, "later") == "fifo"
    run_ok(guest, f"echo fifo >{SYSFS}/eject")
    until(lambda: _policy_of(guest, "it") == "fair", 10, "the ejection")
    assert run_ok(guest, f"cat {ROOT}/b/cpu.saakm.policy").strip() == "none"


def test_replacement_takes_the_cgroup_along(guest, program, cgroups):
    load_policy(guest, "fifo")
    _start(guest, "b", "it")
    _set(guest, "b", "fifo")
    run_ok(guest, f"insmod {module_file(guest.kernel, 'rr')} replaces=fifo")
    _start(guest, "b", "later")
    assert _policy_of(guest, "it") == _policy_of(guest, "later") == "rr"


@pytest.mark.parametrize("wrong", ["nobody", "99", "''"])
def test_nonsense_is_refused_fails(guest, cgroups, wrong):
    load_policy(guest, "fifo")
    assert guest.run(f"echo {wrong} >{ROOT}/b/cpu.saakm.policy").status
    assert "cgroup: no policy is called" in last_error(guest)


def test_weight_reaches_the_policy(guest, program, cgroups):
    load_policy(guest, "weigher")
    seen = "/sys/module/weigher/parameters"
    run_ok(guest, f"echo 300 >{ROOT}/b/cpu.weight")
    assert run_ok(guest, f"cat {seen}/weight").strip() == "0"
    _set(guest, "b", "weigher")
    assert run_ok(guest, f"cat {seen}/weight").strip() == "300"
    run_ok(guest, f"echo 400 >{ROOT}/b/cpu.weight")
    assert run_ok(guest, f"cat {seen}/weight").strip() == "400"
    run_ok(guest, f"echo -5 >{ROOT}/b/cpu.weight.nice")
    weight = run_ok(guest, f"cat {ROOT}/b/cpu.weight").strip()
    assert run_ok(guest, f"cat {seen}/weight").strip() == weight != "400"
    inode = run_ok(guest, f"stat -c %i {ROOT}/b").strip()
    assert run_ok(guest, f"cat {seen}/cgroup").strip() == inode


@pytest.mark.limit(200)
def test_moving_while_policies_come_and_go(guest, program, cgroups):
    """At full speed: between cgroups with and without a policy, which is loaded, ejected, unloaded."""
    file = module_file(guest.kernel, "rr")
    load_policy(guest, "fifo")
    _set(guest, "b", "fifo")
    moving = f"""
        (while :; do for c in a/inner b; do
            for p in $(cat {ROOT}/*/cgroup.procs {ROOT}/a/inner/cgroup.procs); do
                echo $p >{ROOT}/$c/cgroup.procs; done 2>/dev/null; done; done) & mover=$!
        for i in 1 2 3 4 5 6 7 8; do
            insmod {file} || exit 1
            echo rr >{ROOT}/a/inner/cpu.saakm.policy || exit 2
            busybox usleep 200000
            [ $((i % 2)) = 0 ] || echo rr >{SYSFS}/eject || exit 3
            rmmod rr || exit 4
        done
        kill $mover; wait $mover 2>/dev/null; true"""
    run_ok(guest, f"cat >/tmp/moving.sh <<'END'\n{moving}\nEND")
    crowd = f"{program('crowd')} -n 24 -l 50 'sh /tmp/moving.sh'"
    run_ok(guest, f"sh -c 'echo $$ >{ROOT}/b/cgroup.procs; exec {crowd}'", timeout=150)
    assert policies(guest)["fifo"].state == "active"


def _hog(guest, where: str) -> None:
    """A thread on CPU 1 that always wants to run."""
    run_ok(
        guest,
        f"taskset -c 1 sh -c 'echo $$ >{ROOT}/{where}/cgroup.procs; while :; do :; done' "
        ">/dev/null 2>&1 &",
    )


def _share(guest, a: str, b: str, seconds: float) -> float:
    """How much CPU time `a` gets for each of `b`."""
    read = f"grep -h usage_usec {ROOT}/{a}/cpu.stat {ROOT}/{b}/cpu.stat"
    out = run_ok(guest, f"{read}; sleep {seconds}; {read}", timeout=100)
    first_a, first_b, last_a, last_b = (int(line.split()[1]) for line in out.splitlines())
    return (last_a - first_a) / (last_b - first_b)


def test_weights_count_for_virtual_time(guest, program, cgroups):
    """cpu.weight of each cgroup on the way, whenever it is set: saakm_weighted_ns()."""
    load_policy(guest, "vtime")
    run_ok(guest, f"echo 300 >{ROOT}/a/cpu.weight; echo 50 >{ROOT}/a/inner/cpu.weight")
    run_ok(guest, f"mkdir {ROOT}/a/late")
    for where in ("a", "b"):
        _set(guest, where, "vtime")
    for where in ("a/inner", "a/late", "b"):
        _hog(guest, where)
    until(lambda: policies(guest)["vtime"].threads == 3, 10, "the hogs")
    assert 1.8 < _share(guest, "a/late", "a/inner", 2) < 2.2
    assert 2.7 < _share(guest, "a/late", "b", 2) < 3.3
    run_ok(guest, f"echo 100 >{ROOT}/a/cpu.weight")
    assert 0.9 < _share(guest, "a/late", "b", 2) < 1.1
    assert 0.45 < _share(guest, "a/inner", "b", 2) < 0.55


def test_who_comes_in_the_midst_of_a_fork_brings_the_child(guest, program, cgroups):
    """He had chosen another policy, which the child has been given already."""
    id_ = load_policy(guest, "fifo")
    load_policy(guest, "rr")
    _set(guest, "b", "rr")
    told = run_ok(guest, f"{program('fork_attached')} {id_} {ROOT}/b/cgroup.procs")
    assert told.split() == ["rr", "rr"]


def test_a_child_keeps_what_it_was_given_before_its_cgroup_looks(guest, program, cgroups):
    """Others can see it before that."""
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    _set(guest, "b", "rr")
    guest.load("midfork")
    at = "/sys/module/midfork/parameters"
    script = f"echo $$ >{ROOT}/b/cgroup.procs; echo $$ >{at}/parent; sleep infinity & wait"
    run_ok(
        guest,
        f"""
        # The fork keeps CPU 1 from all others, but not for ever: what is run meanwhile has been read.
        taskset -pc 0 $$ >/dev/null && saakmctl list >/dev/null || exit 3
        taskset -c 1 sh -c {quote(script)} >/dev/null 2>&1 &
        child=0; while [ $child = 0 ]; do read child <{at}/child; done
        taskset -c 0 saakmctl set fifo $child || exit 1
        read still <{at}/child; [ $still = $child ] || exit 2
        echo 1 >{at}/go; echo $child >/tmp/it
        until grep -q sleep /proc/$child/comm; do :; done""",
    )
    assert _policy_of(guest, "it") == "fifo"
    run_ok(guest, "kill $(cat /tmp/it); rmmod midfork")
