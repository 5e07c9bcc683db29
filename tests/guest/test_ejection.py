# SPDX-License-Identifier: GPL-2.0
"""A policy at fault loses its threads to fair; they, the machine and other policies go on."""

import json
import re

import pytest

from saakm.base.errors import SaakmError

from .support import (
    CENTRAL,
    SYSFS,
    Exit,
    ejected,
    last_error,
    load_in_mode,
    load_policy,
    policies,
    run_ok,
    spins,
    until,
)

# The rest of the zoo, in one test, on the debug kernel; with --long all of it on both.
pytestmark = pytest.mark.kernel("base")

DUMP = "/sys/kernel/debug/saakm/dump"

# mode of modules/misuser -> kind, number, handler, reason, program that leads into it.
ZOO = {
    "place_twice": (
        "wrong-transition",
        20,
        "(new|unblock)_place",
        "there is no such transition",
        "victims",
    ),
    "place_foreign": ("wrong-transition", 20, "(new|unblock)_place", "not of this CPU", "victims"),
    "block_waiting": ("wrong-transition", 20, "block", "about another thread", "victims"),
    "place_never": (
        "not-placed",
        21,
        "(new|unblock)_place",
        "returned without change_state",
        "victims",
    ),
    "prepare_9999": ("refused-placement", 22, "none", "returned 9999, which is no CPU", "victims"),
    "prepare_forbidden": (
        "refused-placement",
        22,
        "none",
        "which the thread may not use .it may use 0-1",
        "narrow",
    ),
    "prepare_offline": (
        "refused-placement",
        22,
        "none",
        "returned CPU 3, which is offline",
        "victims",
    ),
    "schedule_sleeper": ("wrong-election", 23, "schedule", "that is not READY on CPU", "victims"),
    "schedule_foreign": ("wrong-election", 23, "schedule", "that is not of this policy", "victims"),
    "steal_locked": ("wrong-move", 24, ".*", "with a runqueue lock held", "victims"),
    "move_nowhere": ("wrong-move", 24, "balancing_select|none", "not of this CPU", "victims"),
    "tick_forgets": (
        "lost-queue|stall",
        (25, 17),
        ".*",
        "says that it is empty|has been READY on CPU . for",
        "victims",
    ),
    "schedule_null": ("stall", 17, "none", "has been READY on CPU . for", "victims"),
    "tick_slow": ("overrun", 18, ".*", "tick has been running for", "victims"),
    "running_sleeps": ("sleep", 19, "running", "running slept", "victims"),
    "prepare_sleeps": ("sleep", 19, ".*_prepare", "prepare slept", "victims"),
    "newly_idle_sleeps": ("sleep", 19, "newly_idle", "newly_idle slept", "victims"),
    "newly_idle_enables": ("sleep", 19, "none", "newly_idle enabled interrupts", "victims"),
}
# test_misuse.py has their refusal; here they are ejected, on the debug kernel.
REFUSED_AS_WELL = [
    "place_twice",
    "place_foreign",
    "block_waiting",
    "place_never",
    "prepare_9999",
    "schedule_sleeper",
    "steal_locked",
    "move_nowhere",
]
HANDLERS = [
    "prepare",
    "place",
    "end",
    "block",
    "tick",
    "running",
    "schedule",
    "balance",
    "terminate",
]


NEIGHBOURS = ["rr", "eevdf", CENTRAL]


@pytest.fixture
def another(request, guest):
    """The name of another policy, which is loaded; who is at fault is ejected."""
    name = load_in_mode(guest, getattr(request, "param", "rr"))
    run_ok(guest, f"echo eject >{SYSFS}/on_violation")
    return name


@pytest.fixture
def neighbour(request, guest, program, another):
    """Threads of another policy. The test ends with a call: they must not have noticed.

    All sleep (-k 1), so that others run too, or for so long (-k 4) that CPUs idle: whoever elects nobody
    is at fault only while others do not hold all CPUs, and forks that get the least share only take a minute.
    """
    kind = 4 if re.search("newly_idle|schedule_null|forks_land", request.node.name) else 1
    over = "until [ -e /tmp/over ]; do sleep 0.1; done"
    crowd = f"{program('crowd')} -k {kind} -p {another} -n 12 -l 300 -e saakm '{over}'"
    run_ok(guest, "rm -f /tmp/over /tmp/crowd.status")
    run_ok(guest, f"({crowd}; echo $? >/tmp/crowd.status) >/tmp/crowd 2>&1 &")
    until(lambda: policies(guest)[another].threads >= 12, 20, "a crowd")

    def goes_on():
        assert policies(guest)[another].threads >= 12  # they were there all the time
        run_ok(guest, "touch /tmp/over; until [ -s /tmp/crowd.status ]; do sleep 0.1; done")
        assert run_ok(guest, "cat /tmp/crowd.status").strip() == "0", run_ok(
            guest, "cat /tmp/crowd"
        )
        assert policies(guest)[another].state == "active"
        run_ok(guest, "hackbench -g 4 -l 20")
        run_ok(guest, f"saakmctl exec {another} -- hackbench -g 2 -l 20")

    return goes_on


def _load_misuser(guest, *parameters: str) -> int:
    return load_policy(guest, "misuser", *parameters)


def _ejected(guest):
    """Its end, once its threads are gone."""

    def gone():
        policy = policies(guest)["misuser"]
        return policy.state == "ejected" and policy.threads == 0

    until(gone, 20, lambda: f"the ejection; it is {policies(guest)['misuser']}")
    return ejected(guest)["misuser"]


def _make_fault(guest, program, mode: str, another: str = "rr") -> Exit:
    """Loads the misuser and leads it into its fault; checks how it ended."""
    kind, number, handler, reason, victims = ZOO[mode]
    parameters = [f"mode={mode}"]
    if "stall" in kind:
        parameters.append("timeout_ms=1000")
    if mode == "schedule_foreign":
        run_ok(guest, f"saakmctl exec {another} -- sleep infinity & echo $! >/tmp/foreign")
        until(
            lambda: another in run_ok(guest, "cat /proc/$(cat /tmp/foreign)/saakm"), 10, "its sleep"
        )
        parameters.append("foreign=" + run_ok(guest, "cat /tmp/foreign").strip())
    if mode == "prepare_offline":
        run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu3/online")
    id_ = _load_misuser(guest, *parameters)
    # The ejection may come before the last of them has joined.
    guest.run(f"{program(victims)} {id_}")
    end = _ejected(guest)
    # Where there are two, it depends on who looks first.
    kinds = dict(zip(kind.split("|"), number if isinstance(number, tuple) else (number,)))
    assert kinds.get(end.kind) == end.number, end
    assert re.fullmatch(handler, end.handler), end
    assert re.search(reason, end.reason), end
    if mode == "schedule_foreign":
        run_ok(guest, "kill $(cat /tmp/foreign)")
    if mode == "prepare_offline":
        run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu3/online")
    return end


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(mode, marks=[pytest.mark.long] if mode in REFUSED_AS_WELL else [])
        for mode in ZOO
    ],
)
def test_zoo(guest, program, watch, another, mode):
    watch.expect_violations()
    run_ok(guest, f"echo 500 >{SYSFS}/handler_limit_ms")
    end = _make_fault(guest, program, mode, another)
    told = guest.console()[watch.since :]
    assert f"saakm: policy misuser ejected ({end.kind})" in told and "saakm: to fix it: " in told
    # In balancing_select interrupts are on: after one of them it is no handler any more.
    if end.handler not in ("none", "balancing_select"):
        # As an oops would: whose handler, and who else is loaded.
        assert f"SaaKM: misuser ({end.handler}); loaded: {another} misuser" in told


@pytest.mark.rotates("mode")
@pytest.mark.parametrize("mode", ZOO)
@pytest.mark.parametrize("another", NEIGHBOURS, indirect=True)
def test_neighbours_go_on(guest, program, watch, another, neighbour, mode):
    watch.expect_violations()
    run_ok(guest, f"echo 500 >{SYSFS}/handler_limit_ms")
    _make_fault(guest, program, mode, another)
    neighbour()


@pytest.mark.kernel("debug")
@pytest.mark.limit(300)
def test_zoo_with_the_kernels_checks(request, guest, program, watch):
    # Who sleeps in a handler is found by lockdep before.
    modes = [mode for mode in ZOO if ZOO[mode][0] != "sleep"]
    if not request.config.getoption("--long"):
        modes = REFUSED_AS_WELL[request.config.getoption("--seed") % 2 :: 2]
    watch.expect_violations(least=len(modes))
    load_policy(guest, "rr")
    run_ok(guest, f"echo eject >{SYSFS}/on_violation; echo 500 >{SYSFS}/handler_limit_ms")
    for mode in modes:
        _make_fault(guest, program, mode)
        guest.unload("misuser")
    run_ok(guest, "hackbench -g 4 -l 10")


@pytest.mark.parametrize("handler", HANDLERS)
def test_policy_gives_up(guest, program, another, handler):
    """saakm_eject() from every kind of handler; the victims come to their end all the same."""
    id_ = _load_misuser(guest, f"mode=abort_{handler}")
    guest.run(f"{program('victims')} {id_}")
    end = _ejected(guest)
    assert (end.kind, end.number, end.reason) == ("policy-error", 16, f"gave up in {handler}")


@pytest.mark.rotates("another")
@pytest.mark.parametrize("another", NEIGHBOURS, indirect=True)
def test_lost_queue_is_found(guest, program, watch, neighbour):
    """A forgotten thread is taken out of its queue: by a change of its affinity."""
    watch.expect_violations()
    id_ = _load_misuser(guest, "mode=tick_forgets", "timeout_ms=0")
    run_ok(guest, f"{program('victims')} {id_} >/dev/null 2>&1 &")
    until(
        lambda: run_ok(
            guest,
            "for t in /proc/[0-9]*/task/*; do grep -q READY $t/saakm 2>/dev/null &&"
            " taskset -pc 3 ${t##*/}; done >/dev/null 2>&1; cat /proc/saakm/ejected",
        ).count("misuser"),
        30,
        "the ejection",
    )
    assert _ejected(guest).kind == "lost-queue"
    neighbour()


@pytest.mark.rotates("another")
@pytest.mark.parametrize("another", NEIGHBOURS, indirect=True)
def test_ejected_policy_takes_nobody(guest, program, neighbour):
    id_ = _load_misuser(guest)
    run_ok(guest, f"echo misuser >{SYSFS}/eject")
    assert _ejected(guest).kind == "user"
    done = guest.run(f"saakmctl exec {id_} -- true")
    assert done.status
    assert re.search("policy misuser was ejected .user.: by .*", last_error(guest))
    # Its name is taken until it is unloaded.
    with pytest.raises(SaakmError):
        guest.load("badload", "name=misuser")
    assert "ejected but not unloaded" in last_error(guest)
    guest.unload("misuser")
    assert "misuser" not in ejected(guest)
    guest.load("badload", "name=misuser")
    neighbour()


def test_eject_of_what_is_not_loaded_fails(guest):
    assert guest.run(f"echo nobody >{SYSFS}/eject").status
    assert last_error(guest) == "eject: no policy is called nobody"


def test_sysrq_ejects_all(guest, program):
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    run_ok(guest, "echo 1 >/proc/sys/kernel/sysrq")
    # Listed at once, without threads a little later.
    over = "[ $(grep -cE ejected[[:space:]]+0[[:space:]] /proc/saakm/policies) = 2 ]"
    inside = f"echo E >/proc/sysrq-trigger; until {over}; do sleep 0.1; done"
    run_ok(guest, f"{program('crowd')} -p rr -l 50 -e other '{inside}'", timeout=60)
    assert {end.kind for end in ejected(guest).values()} == {"sysrq"}
    assert {p.threads for p in policies(guest).values()} == {0}


@pytest.mark.parametrize(
    "policy, another",
    [("fifo", "rr"), ("fifo", "eevdf"), ("fifo", CENTRAL), (CENTRAL, "rr")],
    indirect=["another"],
)
@pytest.mark.rotates("policy")
@pytest.mark.rotates("another")
def test_forks_land_in_fair(guest, program, neighbour, policy):
    """Threads that keep forking while their policy is ejected, and after that."""
    name = load_in_mode(guest, policy)
    fork = """
n=0; until [ -e /tmp/ejected ]; do sleep 1000 & n=$((n + 1)); echo $n >/tmp/forks.$$; sleep 0.01; done
sleep 1000 & echo $((n + 1)) >/tmp/forks.$$
"""
    told = run_ok(
        guest,
        f"""
        rm -f /tmp/forks.* /tmp/ejected
        for n in 1 2 3 4; do saakmctl exec {name} -- sh -c '{fork}' & done
        until [ "$(cat /tmp/forks.* 2>/dev/null | wc -l)" = 4 ]; do busybox usleep 10000; done
        echo {name} >{SYSFS}/eject
        touch /tmp/ejected
        wait
        cat /tmp/forks.*
        """,
    )
    children = sum(map(int, told.split()))
    until(lambda: policies(guest)[name].threads == 0, 20, "the end of the ejection")
    # Of the four, their children, and a short sleep for each, the last did not join.
    assert 8 <= policies(guest)[name].new <= 2 * children - 4
    until(
        lambda: int(guest.run('pgrep -c -f "^sleep 1000$"').stdout) == children, 20, "the children"
    )
    run_ok(guest, 'pkill -f "^sleep 1000$"')
    neighbour()


@pytest.mark.parametrize("parameter, told", [("warn", "is at fault"), ("eject", "ejected")])
def test_reaction_of_one_policy(guest, program, watch, parameter, told):
    """The module's parameter goes before the setting of all."""
    watch.expect_violations()
    other = {"warn": "eject", "eject": "warn"}[parameter]
    run_ok(guest, f"echo {other} >{SYSFS}/on_violation")
    id_ = _load_misuser(guest, "mode=place_twice", f"on_violation={parameter}")
    guest.run(f"{program('victims')} {id_}")
    until(
        lambda: f"policy misuser {told} (wrong-transition)" in guest.console()[watch.since :],
        10,
        told,
    )
    assert (policies(guest)["misuser"].state == "ejected") == (parameter == "eject")


def test_bad_reaction_is_refused_fails(guest):
    with pytest.raises(SaakmError):
        guest.load("misuser", "on_violation=pray")
    assert last_error(guest) == "load misuser: on_violation is default, warn, eject or panic"


# --- dumps ---


def _dump(guest, name: str) -> dict:
    found = json.loads(run_ok(guest, f"cat {DUMP}"))
    return next(policy for policy in found if policy["name"] == name)


def test_dump_of_a_stall_has_its_history(guest, program, watch, another):
    """History starts by itself when the watchdog gets suspicious."""
    watch.expect_violations()
    # Those of misuser do not change their state from the suspicion to the ejection.
    loop = "saakmctl exec rr -- sh -c 'while :; do sleep 0.05; done'"
    run_ok(guest, f"{loop} >/dev/null 2>&1 & {spins()}")
    id_ = _load_misuser(guest, "mode=schedule_null", "timeout_ms=2000")
    guest.run(f"{program('victims')} {id_}")
    end = _ejected(guest)
    dump = _dump(guest, "misuser")
    assert dump["exit"]["kind"] == "stall" and dump["exit"]["reason"] == end.reason
    assert dump["dump"] == 'the mode is "schedule_null"\n0 refused'
    assert [cpu["cpu"] for cpu in dump["cpus"]] == [0, 1, 2, 3]
    waiting = [
        t for cpu in dump["cpus"] for t in cpu.get("threads", []) if t["policy"] == "misuser"
    ]
    assert dump["history"], "nothing was recorded"
    # It has been taken a moment after: the class had begun to run them, and one may sleep by now.
    seen = {t["pid"] for t in waiting} | {record["pid"] for record in dump["history"]}
    # Of a CPU whose lock somebody has, the dump says only that.
    busy = any(cpu.get("busy") for cpu in dump["cpus"])
    assert busy or int(end.thread.rpartition("/")[2]) in seen
    assert {"ns", "pid", "policy", "cpu", "from", "to", "handler"} <= dump["history"][0].keys()


def test_dump_of_a_policy_that_lives(guest, program):
    load_policy(guest, "fifo")
    run_ok(guest, f"echo 1 >{SYSFS}/history")
    run_ok(guest, "saakmctl exec fifo -- hackbench -g 1 -l 20")
    dump = _dump(guest, "fifo")
    assert dump["exit"] is None and len(dump["history"]) > 100
    assert {"READY", "RUNNING", "BLOCKED"} <= {record["to"] for record in dump["history"]}
    text = run_ok(guest, "saakmctl dump fifo")
    assert "RUNNING" in text


def test_dump_names_threads_as_they_are(guest, program):
    """What JSON cannot take as it stands is escaped, and nothing else."""
    load_policy(guest, "fifo")
    name = '~"\\\x7f'
    run_ok(
        guest,
        f"""
printf '#!/bin/sh\nwhile :; do :; done\n' >'/tmp/{name}' && chmod +x '/tmp/{name}'
saakmctl exec fifo -- '/tmp/{name}' & hog=$!
until grep -F '"~' {DUMP} >/tmp/found; do busybox usleep 10000; done
kill $hog
""",
    )
    assert r'"comm": "~\"\\\u007f"' in run_ok(guest, "cat /tmp/found")


def test_history_is_off_unless_wanted(guest, program):
    load_policy(guest, "fifo")
    run_ok(guest, "saakmctl exec fifo -- hackbench -g 1 -l 5")
    before = _dump(guest, "fifo")["history"]
    run_ok(guest, "saakmctl exec fifo -- hackbench -g 1 -l 20")
    assert _dump(guest, "fifo")["history"] == before
