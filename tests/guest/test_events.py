# SPDX-License-Identifier: GPL-2.0
"""Each event of a thread's life is told once, in order, and no other is."""

import pytest

from .recorder import (
    CHOICE,
    FORK,
    OUSTED,
    STATES,
    SYNC,
    THREADS,
    TICK,
    USED,
    YIELD,
    Record,
    expect,
    names,
    record,
    times,
)

# Which events come, and in which order: the debug kernel takes four times as long for the same.
pytestmark = pytest.mark.kernel("base")


@pytest.fixture
def life(guest, program):
    """life("fork_exit"): runs that scenario of trigger_life.c beside the recorder."""

    def run(scenario: str, *parameters: str) -> Record:
        return record(guest, f"{program('trigger_life')} {scenario}", *parameters)

    return run


def _ends_well(events):
    """A thread that lived in the policy until it died: one birth, one death."""
    for name in ("new_place", "new_end", "terminate"):
        expect(times(events, name) == 1, f"one {name}", events)
    expect(events[-1].name == "terminate", "terminate as the last event", events)


def test_fork_asks_where_and_places_the_child(life):
    found = life("fork_exit")
    child = found.of("child")
    _ends_well(child)
    expect(names(child)[:4] == ["new_prepare", "new_place", "new_end", "running"], "a birth", child)
    expect(child[0].flags & CHOICE, "SAAKM_EV_CHOICE in new_prepare", child)
    born = [e for e in child if e.name in ("new_prepare", "new_place", "new_end")]
    expect(all(e.flags & FORK for e in born), "SAAKM_EV_FORK until it runs", child)
    expect(
        not any(
            e.flags & FORK
            for e in child
            if e not in born + [e for e in child if e.name == "wakeup_preempt"]
        ),
        "no SAAKM_EV_FORK afterwards",
        child,
    )
    expect(times(child, "setparam_attr") == 0, "no setparam_attr for a fork", child)


def test_fork_answer_is_where_the_child_starts(life):
    child = life("fork_exit", "prepare_cpu=3").of("child")
    _ends_well(child)
    place = next(e for e in child if e.name == "new_place")
    expect(place.core == 3, "new_place on core 3, as new_prepare answered", child)


def test_joining_thread_is_placed_without_being_asked(life):
    parent = life("fork_exit").of("parent")
    _ends_well(parent)
    start = ["setparam_attr", "new_place", "new_end", "running"]
    expect(names(parent)[:4] == start, "setparam_attr before the first new_place", parent)


def test_sleep_is_block_and_waking_is_unblock(life):
    events = life("sleep_wake").of("sleeper")
    _ends_well(events)
    expect(times(events, "block") >= 5, "five blocks", events)
    blocks = times(events, "block")
    for name in ("unblock_prepare", "unblock_place", "unblock_end"):
        expect(times(events, name) == blocks, f"as many {name} as block", events)
    expect(times(events, "block", lambda e: e.flags & OUSTED) == 0, "no ousting", events)


def test_waking_answer_is_where_it_wakes(life):
    events = life("sleep_wake", "prepare_cpu=2").of("sleeper")
    woken = [e for e in events if e.name == "unblock_place"]
    expect(woken and all(e.core == 2 for e in woken), "unblock_place on core 2", events)
    expect(all(e.flags & CHOICE for e in woken), "SAAKM_EV_CHOICE: it was asked", events)


def test_yield_is_told_and_queues_behind(life):
    found = life("yield_pair")
    events = found.of("yielder")
    _ends_well(events)
    expect(times(events, "yield") >= 10, "ten yields", events)
    gave = times(events, "requeue", lambda e: e.flags & YIELD)
    expect(gave > 0, "a requeue with SAAKM_EV_YIELD while another waits", events)
    expect(times(found.of("hog"), "yield") == 0, "no yield of the hog", found.of("hog"))


def test_yield_alone_keeps_the_cpu(life):
    events = life("yield_alone").of("yielder")
    _ends_well(events)
    expect(times(events, "yield") >= 10, "ten yields", events)
    gave = times(events, "requeue", lambda e: e.flags & YIELD)
    expect(gave * 2 < times(events, "yield"), "no requeue for most yields of a lone thread", events)


def test_tick_ends_a_slice(life):
    found = life("tick_pair")
    for name in ("first", "second"):
        events = found.of(name)
        _ends_well(events)
        expect(times(events, "tick") > 0, "ticks", events)
        ended = [n for n, e in enumerate(events) if e.name == "requeue" and e.flags & TICK]
        expect(len(ended) > 1, "requeues with SAAKM_EV_TICK", events)
        # Before and after, a page of its program may have to be waited for.
        hogging = events[ended[0] : ended[-1]]
        expect(times(hogging, "block") == 0, "no block of a thread that does not sleep", events)


def test_tick_of_a_lone_thread_changes_nothing(life):
    events = life("tick_alone").of("hog")
    _ends_well(events)
    expect(times(events, "tick") >= 5, "ticks while it runs", events)
    ended = times(events, "requeue", lambda e: e.flags & TICK)
    expect(ended == 0, "no SAAKM_EV_TICK: nobody took its CPU", events)


def test_used_comes_while_a_thread_runs(life):
    """How much it says: test_accounts.py. That it comes at no other time: check_lives()."""
    found = life("tick_pair", f"groups={THREADS | USED}")
    for name in ("first", "second"):
        expect(times(found.of(name), "used") > 0, "used", found.of(name))


@pytest.mark.parametrize("scenario, who", [("stop_cont", "stopped"), ("ptrace_stop", "traced")])
def test_stopping_is_block(life, scenario, who):
    events = life(scenario).of(who)
    _ends_well(events)
    expect(times(events, "block") >= 3, "three blocks", events)
    expect(times(events, "unblock_place") == times(events, "block"), "as many unblocks", events)


@pytest.mark.parametrize("state", ["running", "blocked", "queued"])
def test_killed_thread_terminates_once(life, state):
    _ends_well(life(f"kill_{state}").of("killed"))


def test_storm_of_births_and_deaths_balances(life):
    found = life("storm")
    births = {e.pid for e in found.only("new_place")}
    deaths = [e.pid for e in found.only("terminate")]
    assert len(births) >= 63, f"only {len(births)} threads were placed"
    assert len(deaths) == len(set(deaths)), "a thread terminated twice"
    assert births == set(deaths), f"placed but never terminated: {births - set(deaths)}"


def test_sync_wakeup_is_told(guest, program):
    """A pipe's writer is about to sleep when it wakes the reader."""
    found = record(guest, f"{program('trigger_wake')} pipe", "prepare_cpu=1")
    events = found.of("reader")
    synced = times(events, "unblock_place", lambda e: e.flags & SYNC)
    expect(synced > 0, "SAAKM_EV_SYNC", events)
    asked = [
        (before, e)
        for before, e in zip(events, events[1:])
        if e.name == "wakeup_preempt" and before.name == "unblock_end" and e.flags & SYNC
    ]
    expect(asked, "wakeup_preempt with SAAKM_EV_SYNC", events)
    expect(
        all(e.flags == before.flags for before, e in asked),
        "the same flags in wakeup_preempt",
        events,
    )


def test_sync_wakeup_on_the_only_cpu_is_told(guest, program):
    """Nobody chooses a CPU then: wakeup_preempt is the first to hear of it."""
    events = record(guest, f"{program('trigger_wake')} pipe_pinned").of("reader")
    asked = [e for e in events if e.name == "wakeup_preempt"]
    expect(any(e.flags & SYNC for e in asked), "SAAKM_EV_SYNC in wakeup_preempt", events)
    expect(not any(e.flags & CHOICE for e in asked), "no choice of a CPU", events)


def test_a_thread_that_is_stolen_is_told(guest, program):
    """Hogs on one CPU are let go, and the others steal: moved says from where to where."""
    found = record(guest, f"{program('let_go')} 3", "steal=Y")
    moves = found.only("moved")
    expect(moves, "moved, for CPUs that run dry", found.events)
    for move in moves:
        expect(move.prev_cpu != move.core, "from another core", [move])
        expect(STATES[move.state] == "MIGRATING", "in the state MIGRATING", [move])
        after = [e for e in found.events if e.pid == move.pid and e.time_ns > move.time_ns]
        ran = next((e for e in after if e.name in ("running", "moved")), None)
        expect(not ran or ran.core == move.core or ran.name == "moved", "and runs there", after)


def test_waker_and_previous_cpu_are_told(guest, program):
    """The waker sits on CPU 3, the sleeper last ran on CPU 1."""
    events = record(guest, f"{program('trigger_wake')} remote").of("sleeper")
    woken = [e for e in events if e.name == "unblock_place" and e.flags & CHOICE]
    expect(woken, "unblock_place after a choice", events)
    expect(all(e.prev_cpu in (1, 2) for e in woken), "prev_cpu 1 or 2", events)
    told = sum(e.waker_cpu == 3 for e in woken)
    expect(told * 2 > len(woken), "waker_cpu 3 for most", events)


def test_waker_is_told_without_a_choice(guest, program):
    """The waker sits on CPU 3, the sleeper may use CPU 1 alone."""
    events = record(guest, f"{program('trigger_wake')} remote_pinned").of("sleeper")
    woken = [e for e in events if e.name == "unblock_place" and not e.flags & CHOICE]
    told = sum((e.prev_cpu, e.waker_cpu) == (1, 3) for e in woken)
    expect(told > len(woken) / 2, "prev_cpu 1 and waker_cpu 3 for most", events)


@pytest.mark.parametrize("answer", ["Y", "N"])
def test_wakeup_preempt_decides(guest, program, answer):
    """A thread wakes beside a hog with a slice that outlasts the test: ten rounds.

    A hog that is not preempted lives to see many ticks; one that is, perhaps one
    or two that were due before the interrupt that takes its CPU came through.
    """
    hog_goes_on = "slice_us=60000000"
    command = f"{program('trigger_wake')} beside"
    found = record(guest, command, f"preempt={answer}", hog_goes_on)
    woken = found.names["woken"]
    asked = [i for i, e in enumerate(found.events) if e.name == "wakeup_preempt" and e.pid == woken]
    at_once = 0
    for i in asked:
        hog = found.events[i].prev_cpu  # where the recorder puts the running thread
        after = [e.name for e in found.events[i:] if e.pid == hog]
        at_once += "requeue" in after[:3] and after[: after.index("requeue")].count("tick") < 3
    expect(len(asked) >= 5, "wakeup_preempt in most rounds", found.of("woken"))
    share = at_once / len(asked)
    assert share >= 0.7 if answer == "Y" else share <= 0.5, (
        f"the hog was preempted at once in {at_once} of {len(asked)} rounds"
    )
