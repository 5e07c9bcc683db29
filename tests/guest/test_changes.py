# SPDX-License-Identifier: GPL-2.0
"""What others do to a thread: attributes, affinity, class, cgroup, priority inheritance."""

import pytest

from .recorder import CHOICE, EXEC, OUSTED, TICK, Record, expect, names, record, times

# Behaviour: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")


@pytest.fixture
def change(guest, program):
    """change("nice_change"): runs that scenario of trigger_attr.c beside the recorder."""

    def run(scenario: str, *parameters: str) -> Record:
        return record(guest, f"{program('trigger_attr')} {scenario}", *parameters)

    return run


@pytest.fixture
def boosted(guest, program):
    def run(scenario: str) -> Record:
        return record(guest, f"{program('trigger_boost')} {scenario}")

    return run


def _changes(events, is_one):
    """From the first one to the last: before and after, a thread may wait for its memory."""
    found = [i for i, e in enumerate(events) if is_one(e)]
    return events[found[0] : found[-1] + 1] if found else []


def _told(events, count):
    """Of so many changes that the scenario makes; its end may make another one, after a sleep."""
    told = [i for i, e in enumerate(events) if e.name == "attr_changed"][:count]
    return events[told[0] : told[-1] + 1]


def _ousted(events):
    return _changes(events, lambda e: e.flags & OUSTED)


def _never_slept(events):
    expect(times(events, "block") == 0, "no block", events)
    expect(times(events, "unblock_place") == 0, "no unblock", events)


def test_nice_of_a_running_thread_is_attr_changed(change):
    found = change("nice_change")
    events = found.of("running")
    expect(times(events, "attr_changed") >= 5, "five attr_changed", events)
    _never_slept(_told(events, 5))


def test_nice_of_a_sleeper_neither_blocks_nor_wakes(change):
    events = change("nice_beside").of("asleep")
    expect(times(events, "block") == times(events, "unblock_place"), "pairs", events)
    expect(times(events, "block", lambda e: e.flags & OUSTED) == 0, "no ousting", events)


def test_nice_of_a_queued_thread_is_attr_changed(change):
    events = change("nice_queued").of("queued")
    expect(times(events, "attr_changed") >= 5, "five attr_changed", events)
    _never_slept(_told(events, 5))


def test_new_affinity_that_moves_is_ousted(change):
    events = _ousted(change("affinity_move").of("moved"))
    blocks = [e for e in events if e.name == "block"]
    places = [e for e in events if e.name == "unblock_place"]
    expect([e.core for e in blocks] == [1, 2], "blocks on cores 1 and 2", events)
    expect([e.core for e in places] == [2, 3], "unblock_place on cores 2 and 3", events)
    expect(all(e.flags & OUSTED for e in blocks + places), "SAAKM_EV_OUSTED", events)
    expect(times(events, "unblock_prepare") == 0, "no question: there is no choice", events)


def test_new_affinity_of_a_queued_thread_is_ousted(change):
    events = _ousted(change("affinity_queued").of("moved"))
    blocks = [e for e in events if e.name == "block"]
    places = [e for e in events if e.name == "unblock_place"]
    expect([e.core for e in blocks] == [1], "one block on core 1", events)
    expect([e.core for e in places] == [2], "one unblock_place on core 2", events)
    expect(all(e.flags & OUSTED for e in blocks + places), "SAAKM_EV_OUSTED", events)


def test_new_affinity_that_does_not_move_is_attr_changed(change):
    events = change("affinity_stay").of("stays")
    expect(times(events, "attr_changed") >= 6, "six attr_changed", events)
    _never_slept(_told(events, 6))


def test_exec_asks_the_running_thread(change):
    events = change("exec_self").of("execs")
    asked = [e for e in events if e.name == "unblock_prepare" and e.flags & EXEC]
    expect(len(asked) == 1, "one question with SAAKM_EV_EXEC", events)
    expect(asked[0].flags & CHOICE, "SAAKM_EV_CHOICE", asked)


def test_exec_does_not_ask_a_thread_that_may_use_one_cpu_only(change):
    events = change("exec_pinned").of("execs")
    expect(times(events, "unblock_prepare", lambda e: e.flags & EXEC) == 0, "no question", events)


def test_exec_answer_moves_the_thread(change):
    events = change("exec_self", "exec_away=1").of("execs")
    asked = next(i for i, e in enumerate(events) if e.name == "unblock_prepare" and e.flags & EXEC)
    cpu = 3 if events[asked].prev_cpu == 2 else 2
    # Who is preempted between the question and the move runs once more where it was.
    after = events[asked:]
    moves = [i for i, e in enumerate(after) if e.name == "unblock_place" and e.flags & OUSTED]
    expect(moves and after[moves[0]].core == cpu, f"unblock_place on core {cpu}, ousted", events)
    ran = next((e for e in after[moves[0] :] if e.name == "running"), None)
    expect(ran and ran.core == cpu, f"running on core {cpu}", events)


def test_cgroup_move_is_attr_changed(change):
    events = change("cgroup_move").of("moved")
    expect(times(events, "attr_changed") >= 6, "six attr_changed", events)
    _never_slept(_told(events, 6))


@pytest.mark.parametrize("scenario", ["join_leave", "join_leave_self"])
def test_leaving_is_terminate_each_time(change, scenario):
    events = change(scenario).of("member")
    for name in ("setparam_attr", "new_place", "new_end", "terminate"):
        expect(times(events, name) == 5, f"five {name}", events)


def test_leaving_before_being_placed_is_no_event(change):
    events = change("join_leave_asleep").of("never")
    expect(names(events) == ["setparam_attr"], "setparam_attr alone", events)


def test_leaving_while_queued_is_terminate(change):
    events = change("leave_queued").of("member")
    expect(times(events, "terminate") == 1, "one terminate", events)
    expect(events[-1].name == "terminate", "terminate as the last event", events)
    before = names(events)[-2]
    expect(before not in ("block", "unblock_place"), "no block before it", events)


def test_new_parameter_is_told(change):
    events = change("parameter").of("running")
    # The recorder puts the parameter where other events have the core.
    told = [e.core for e in events if e.name == "setparam_attr"]
    expect(told == [0, 101, 102, 103], "setparam_attr with 0, 101, 102, 103", events)
    expect(times(events, "new_place") == 1, "one new_place: it stays in its policy", events)
    expect(times(events, "attr_changed") >= 3, "three attr_changed", events)
    expect(times(events, "terminate") == 1, "one terminate", events)


def test_boost_is_block_and_its_end_unblock(boosted):
    events = boosted("boost").of("holder")
    expect(times(events, "block") >= 1, "a block", events)
    expect(times(events, "unblock_place") == times(events, "block"), "as many unblocks", events)
    expect(times(events, "new_place") == 1, "one new_place", events)
    expect(times(events, "terminate") == 1, "one terminate", events)
    expect(max(e.seen for e in events) > 5, "data that survives the boost", events)


def test_leaving_while_boosted_is_terminate(boosted):
    events = boosted("boost_leave").of("holder")
    expect(names(events)[-2:] == ["block", "terminate"], "block, terminate as the last", events)
    expect(times(events, "terminate") == 1, "one terminate", events)


def test_joining_while_boosted_is_placed_afterwards(boosted):
    events = boosted("boost_join").of("holder")
    expect(names(events)[:3] == ["setparam_attr", "new_place", "new_end"], "a birth", events)
    expect(times(events, "terminate") == 1, "one terminate", events)


def test_rejoining_while_boosted_is_a_new_life(boosted):
    events = boosted("boost_rejoin").of("holder")
    expect(times(events, "new_place") == 2, "two new_place", events)
    expect(times(events, "terminate") == 2, "two terminate", events)


def test_no_thread_is_ticked_out_by_a_change(change):
    """Nice and affinity of a lone hog: it never loses its CPU to the policy."""
    events = change("nice_change").of("running")
    expect(times(events, "requeue", lambda e: e.flags & TICK) == 0, "no SAAKM_EV_TICK", events)
