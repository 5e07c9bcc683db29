# SPDX-License-Identifier: GPL-2.0
"""Delayed dequeue: whatever happens to a thread that sleeps and stays queued, it is not lost.

modules/delayer, which says yes, and programs/delayed.c, in which such a thread wakes and runs
after each of these things.
"""

import pytest

from saakm.builder.modules import module_file

from .recorder import record
from .support import SYSFS, ejected, emptied, load_policy, policies, remove_cgroup, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.rotates("delayer")]

COUNTS = ("asked", "stayed", "woke", "left", "ousted", "changed", "wrong")
QUEUES = {"fifo": (), "list": ("ordered=list",), "tree": ("ordered=tree",)}
ROOT = "/sys/fs/cgroup/saakm-delayed"


@pytest.fixture(params=QUEUES)
def delayer(guest, request):
    return load_policy(guest, "delayer", *QUEUES[request.param])


def _run(guest, program, scenario: str, id_: int, argument: object = "") -> None:
    run_ok(guest, f"{program('delayed')} {scenario} {id_} '{argument}'", timeout=60)


def _counts(guest) -> dict[str, int]:
    """Of those that stayed nobody has got lost, and no event was one that must not be."""
    out = run_ok(guest, f"cd /sys/module/delayer/parameters && cat {' '.join(COUNTS)}")
    found = dict(zip(COUNTS, map(int, out.split()), strict=True))
    assert not found["wrong"], found
    assert found["stayed"] and found["stayed"] == found["woke"] + found["left"], found
    return found


def test_who_wakes_is_ready_where_it_is(guest, program, delayer):
    _run(guest, program, "woken", delayer)
    found = _counts(guest)
    assert found["woke"] >= 5 and not found["ousted"], found
    _run(guest, program, "ready", delayer)
    assert _counts(guest)["woke"] > found["woke"]


def test_who_is_elected_leaves(guest, program, delayer):
    _run(guest, program, "elected", delayer)
    assert _counts(guest)["left"]


def test_affinity_takes_it_along(guest, program, delayer):
    """Where it is elected it is blocked, and not ousted once more."""
    _run(guest, program, "affinity", delayer)
    assert _counts(guest)["ousted"] == 2


def test_its_cpu_goes_offline(guest, program, delayer):
    _run(guest, program, "hotplug", delayer)
    _counts(guest)


def test_nice_value_and_parameter_change(guest, program, delayer):
    _run(guest, program, "renice", delayer)
    assert _counts(guest)["changed"] >= 6


@pytest.mark.parametrize("how", ["to_fair", "to_real_time", "boosted", "killed", "traced", "core"])
def test_it_leaves_its_class_dies_or_is_stopped(guest, program, delayer, how):
    _run(guest, program, how, delayer)
    _counts(guest)


def test_it_changes_its_policy(guest, program, delayer):
    _run(guest, program, "to_other_policy", delayer, load_policy(guest, "fifo"))
    assert _counts(guest)["left"]


def test_it_changes_its_cgroup(guest, program, delayer):
    load_policy(guest, "fifo")
    run_ok(
        guest,
        f"""
        mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || exit 1
        mkdir -p {ROOT} && echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || exit 1
        mkdir -p {ROOT}/plain {ROOT}/policy || exit 1
        echo +cpu >{ROOT}/cgroup.subtree_control && echo fifo >{ROOT}/policy/cpu.saakm.policy
        """,
    )
    try:
        _run(guest, program, "cgroup", delayer, ROOT)
    finally:
        guest.run(remove_cgroup(ROOT))
    assert _counts(guest)["left"]


def test_its_policy_is_ejected(guest, program, delayer):
    _run(guest, program, "commanded", delayer, f"echo delayer >{SYSFS}/eject")
    assert not emptied(guest, "delayer").threads and ejected(guest)["delayer"].kind == "user"


def test_its_policy_is_unloaded(guest, program, delayer):
    _run(guest, program, "commanded", delayer, "rmmod delayer")
    assert not policies(guest)


def test_its_policy_is_replaced(guest, program, delayer):
    rr = module_file(guest.kernel, "rr")
    _run(guest, program, "commanded", delayer, f"insmod {rr} replaces=delayer")
    found = policies(guest)
    assert not found["delayer"].threads and found["rr"].new == 2
    _counts(guest)


def test_nobody_idles_for_those_that_sleep(guest, program):
    """Nor with a policy that never elects them: where nobody else is left they leave."""
    id_ = load_policy(guest, "delayer", "skips=1")
    _run(guest, program, "elected", id_)
    assert _counts(guest)["left"]


def test_policies_decide(guest, program):
    id_ = load_policy(guest, "delayer", "all=0")
    run_ok(guest, f"{program('trigger_life')} storm {id_}", timeout=90)
    out = run_ok(guest, f"cd /sys/module/delayer/parameters && cat {' '.join(COUNTS)}")
    found = dict(zip(COUNTS, map(int, out.split()), strict=True))
    assert found["asked"] and not found["stayed"] and not found["wrong"], found


def test_storm(guest, program, delayer):
    run_ok(guest, f"{program('trigger_life')} storm {delayer}", timeout=90)
    run_ok(guest, f"{program('crowd')} -p delayer -n 40 -l 200 -e saakm 'sleep 1'", timeout=110)
    _counts(guest)


@pytest.mark.parametrize("command", ["trigger_life storm", "trigger_attr affinity_queued"])
def test_events_come_in_order(guest, program, command):
    """recorder.check_lives(); woken threads go first, so that those that sleep wait."""
    name, scenario = command.split()
    found = record(guest, f"{program(name)} {scenario}", "delay=1", "preempt=1", timeout=90)
    assert scenario != "storm" or found.only("block_delay")
    if scenario == "storm":
        assert found.only("unblock_delayed")
