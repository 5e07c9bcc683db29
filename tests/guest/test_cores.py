# SPDX-License-Identifier: GPL-2.0
"""Events of cores and of the policy itself: idle, hotplug, balancing, parameters."""

import pytest

from .recorder import CORES, EVENTS, POLICY, THREADS, expect, parse, record, times
from .support import ejected, last_error, load_policy, policies, run_ok, until

# Behaviour: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

MANY = f"groups={CORES}"


# Something to do for each core, since fair need not put a thread there of itself; of idling is
# told only once the policy has had a thread.
_ON_EACH = "saakmctl exec recorder -- true; for c in 0 1 2 3; do taskset -c $c sleep 0.01; taskset -c $c sleep 0.01; done;"


def _of_core(events, core):
    return [e for e in events if e.core == core]


def _asked_before_idle(found, core):
    events = _of_core(found.only("enter_idle", "exit_idle", "newly_idle"), core)
    idle = [i for i, e in enumerate(events) if e.name == "enter_idle"]
    expect(len(idle) > 1, f"core {core} going idle", events)
    for i in idle:
        asked = i == 0 or events[i - 1].name == "newly_idle"
        expect(asked, f"newly_idle of core {core} just before enter_idle", events[: i + 1])


def test_idle_events_alternate(guest, program):
    found = record(guest, f"{_ON_EACH} {program('trigger_life')} sleep_wake", MANY)
    for core in range(4):
        events = [e for e in found.only("enter_idle", "exit_idle") if e.core == core]
        expect(len(events) > 2, f"idle events of core {core}", events)
        for before, after in zip(events, events[1:]):
            expect(before.name != after.name, f"core {core}: enter and exit in turn", events)


def test_newly_idle_comes_before_idle(guest, program):
    """Each core that goes idle was asked for work first."""
    found = record(guest, f"{_ON_EACH} {program('trigger_life')} storm", MANY)
    for core in range(4):
        _asked_before_idle(found, core)


def test_newly_idle_comes_beside_fair_sleepers(guest, program):
    """What is left of the core's threads is a fair one that sleeps, but is still enqueued."""
    found = record(guest, f"{program('fair_sleeper')} leaves", MANY)
    _asked_before_idle(found, 1)


def test_newly_idle_can_pull_a_thread(guest, program):
    """Two hogs, both woken on CPU 1: with stealing the second is gone in no time."""
    parameters = ("steal=1", "prepare_cpu=1", "slice_us=60000000")
    found = record(guest, f"{program('steal_pair')} pair", *parameters)
    events = found.of("stolen")
    woken = [i for i, e in enumerate(events) if e.name == "unblock_place"]
    expect(woken and events[woken[0]].core == 1, "unblock_place on core 1", events)
    cores = {e.core for e in events[woken[0] :] if e.name == "running"}
    expect(cores - {1}, "the second hog on another core than 1", events)


def test_balancing_comes_at_its_interval(guest, program):
    found = record(guest, f"{program('trigger_life')} tick_alone", MANY, "interval_ms=20")
    events = _of_core(found.only("balancing_select"), 1)
    expect(len(events) >= 4, "balancing_select of core 1, which has a hog for 200 ms", events)
    for before, after in zip(events, events[1:]):
        gap_ms = (after.time_ns - before.time_ns) / 1e6
        # Jiffies of 4 ms, counted by a tick that may come late and the next in time.
        expect(gap_ms > 20 - 2 * 4, f"20 ms between two, not {gap_ms:.1f} ms", events)


def test_balancing_comes_to_cores_without_a_tick(guest, program):
    """Two hogs on core 1: an idle core is kicked to balance for all that sleep tickless.

    Fair kicks, whose pauses double while it finds pinned threads only. New domains begin with
    4 ms; the pause that was agreed before, at most 400 ms, ends within the hogs' 2000.
    """
    run_ok(guest, "cd /sys/devices/system/cpu/cpu3; echo 0 >online; echo 1 >online")
    found = record(guest, f"{program('trigger_life')} tick_pair_long",
                   f"groups={CORES | THREADS}", "interval_ms=8")  # fmt: skip
    # Only while they hog: where nothing runs at all, nobody is kicked.
    ticks = [event.time_ns for event in found.of("first") if event.name == "tick"]
    events = [e for e in found.only("balancing_select") if ticks[0] <= e.time_ns <= ticks[-1]]
    # A core with a tick of its own balances for itself: those that another balanced for count.
    slept = {e.core for e in events if e.on_cpu != e.core}
    expect(slept & {0, 2, 3}, "a core that another one balanced for", events)


def test_hotplug_is_exit_and_entry(guest):
    online = "/sys/devices/system/cpu/cpu2/online"
    events = record(guest, f"echo 0 >{online}; echo 1 >{online}; true", MANY).events
    told = [(e.name, e.core) for e in events if e.name in ("core_exit", "core_entry")]
    assert told == [("core_exit", 2), ("core_entry", 2)]


def test_offline_core_sees_no_event(guest):
    online = "/sys/devices/system/cpu/cpu2/online"
    offline = f"echo 0 >{online}; echo 1 >{EVENTS}; usleep 200000 || sleep 0.2; true"
    events = record(guest, offline, MANY).events
    expect(events, "events of other cores", events)
    expect(not _of_core(events, 2), "no event of core 2", _of_core(events, 2))


def test_threads_leave_a_core_that_goes(guest, program):
    """A hog that may run on CPU 2 and 3 only, and sits on 2."""
    found = record(guest, f"{program('steal_pair')} unplug", "prepare_cpu=2")
    events = found.of("evicted")
    ousted = [e for e in events if e.name == "unblock_place" and e.core == 3]
    expect(ousted, "unblock_place on core 3", events)


@pytest.mark.parametrize("size", [0, 1, 40, 32768])
def test_each_core_has_data_of_its_own(guest, size):
    """Zeroed at each load; nobody but the policy writes to it, and a core that comes back finds it
    as it was: modules/percore."""
    online = "/sys/devices/system/cpu/cpu3/online"
    block = "for c in 0 1 2 3; do taskset -c $c saakmctl exec percore -- sleep 0.01 || exit 1; done"
    for _ in range(2):
        load_policy(guest, "percore", f"size={size}")
        run_ok(guest, f"{block}; echo 0 >{online}; echo 1 >{online}; {block}")
        assert policies(guest)["percore"].state == "active", ejected(guest)
        # Each sleep blocks, and a core tells of its end and its return.
        assert int(run_ok(guest, "cat /sys/module/percore/parameters/looks")) >= 2 * 4 + 2
        guest.unload("percore")


def test_parameters_are_checked_and_shown(guest, program):
    """checkparam_attr refuses 13, getparam_attr adds what the policy wants to show."""
    id = load_policy(guest, "recorder", f"groups={THREADS | POLICY}")
    said = run_ok(guest, f"{program('attr_probe')} {id}").splitlines()
    assert said == [
        "join 12: 0",
        f"get: policy {id} param 12 runtime 4242424242",
        "join 13: -34",
        f"get: policy {id} param 12 runtime 4242424242",
        "change 14: 0",
        f"get: policy {id} param 14 runtime 4242424242",
    ]
    assert last_error(guest) == "sched_setattr: recorder refused the parameters (-34)"
    events = parse(run_ok(guest, f"cat {EVENTS}"))
    expect(events[0].name == "init", "init as the first event", events)
    expect(times(events, "init") == 1, "one init", events)
    expect(times(events, "checkparam_attr") == 3, "three checkparam_attr", events)
    expect(times(events, "setparam_attr") == 2, "two setparam_attr", events)
    expect(times(events, "getparam_attr") == 3, "three getparam_attr", events)


@pytest.mark.parametrize("privileged, answer", [("Y", -1), ("N", 0)])
def test_privileged_policy_takes_a_capability(guest, program, privileged, answer):
    id = load_policy(guest, "recorder", f"privileged={privileged}")
    said = run_ok(guest, f"{program('attr_probe')} {id} unprivileged").splitlines()
    assert said[0] == f"join 12: {answer}"
    if answer:
        assert last_error(guest) == "sched_setattr: policy recorder takes CAP_SYS_NICE"


def test_unloading_frees_once(guest, watch):
    load_policy(guest, "recorder")
    guest.unload("recorder")
    assert "recorder" not in policies(guest)

    def told() -> int:
        return guest.console()[watch.since :].count("recorder: free_metadata")

    until(told, 5, "free_metadata")
    assert told() == 1
