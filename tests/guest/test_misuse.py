# SPDX-License-Identifier: GPL-2.0
"""Wrong moves of a policy are refused, counted and reported; its threads get on."""

import re

import pytest

from saakm.errors import GuestDied, SaakmError

from .support import SYSFS, last_error, policies, run_ok, until

PARAMETERS = "/sys/module/misuser/parameters"

# mode of modules/misuser -> handler that is named, and why.
REFUSED = {
    "place_twice": ("(new|unblock)_place", "there is no such transition"),
    "place_foreign": ("(new|unblock)_place", "not of this CPU"),
    "place_cpu": ("(new|unblock)_place", "on another CPU"),
    "place_null": ("(new|unblock)_place", "READY needs a runqueue"),
    "place_uninitialised": ("(new|unblock)_place", "not initialised"),
    "place_running": ("(new|unblock)_place", "this handler may not"),
    "place_nonsense": ("(new|unblock)_place", "there is no such state"),
    "place_sleeper": ("(new|unblock)_place", "about another thread"),
    "end_ready": ("(new|unblock)_end", "this handler may not"),
    "block_ready": ("block", "this handler may not"),
    "block_queue": ("block", "only READY takes a runqueue"),
    "block_waiting": ("block", "about another thread"),
    "tick_ready": ("tick", "this handler may not"),
    "tick_blocked": ("tick", "this handler may not"),
    "tick_terminated": ("tick", "this handler may not"),
    "tick_waiting": ("tick", "about another thread"),
    "running_blocked": ("running", "this handler may not"),
    "terminate_ready": ("terminate", "this handler may not"),
    "schedule_blocked": ("schedule", "this handler may not|about another thread"),
    "schedule_running": ("schedule", "this handler may not|about another thread"),
    "schedule_sleeper": ("schedule", "elected a thread that is not READY"),
    "steal_locked": ("(new_place|unblock_place|tick)", "with a runqueue lock held"),
    "move_locked": ("(new_place|unblock_place|tick)", "with a runqueue lock held"),
    "steal_own": ("balancing_select", "saakm_steal"),
    "steal_foreign": ("balancing_select", "saakm_steal"),
    "move_nowhere": ("balancing_select", "not of this CPU"),
}
# The class places the thread itself.
UNPLACED = ["place_foreign", "place_cpu", "place_null", "place_uninitialised", "place_never"]


def _misuse(guest, program, mode, setup=""):
    """Runs threads under the misuser until all have come to their end."""
    ko = guest.kernel.modules / "misuser" / "misuser.ko"
    out = run_ok(
        guest,
        f"""
{setup}
insmod {ko} mode={mode} || exit 1
id=$(awk '$2 == "misuser" {{ print $1 }}' /proc/saakm/policies)
{program("victims")} $id || exit 1
cat {PARAMETERS}/refused {PARAMETERS}/accepted
rmmod misuser
""",
        timeout=60,
    )
    refused, accepted = map(int, out.split()[-2:])
    assert accepted == 0, f"{accepted} wrong moves were accepted ({refused} refused)"
    return refused


def _told(guest, watch):
    return guest.console()[watch.since :]


def _tells(guest, watch, pattern):
    """Reports are printed later than they are made: not under a runqueue lock."""
    until(lambda: re.search(pattern, _told(guest, watch)), 10, f"a message like '{pattern}'")


@pytest.mark.parametrize("mode", REFUSED)
def test_wrong_move_is_refused_and_reported_fails(guest, program, watch, mode):
    watch.expect_violations()
    assert _misuse(guest, program, mode) > 0, "the misuser never came to make its move"
    handler, why = REFUSED[mode]
    _tells(guest, watch, rf"saakm: policy misuser: wrong move in {handler}: .*({why})")


@pytest.mark.parametrize("mode", UNPLACED)
def test_thread_that_is_not_placed_runs_all_the_same_fails(guest, program, watch, mode):
    watch.expect_violations()
    _misuse(guest, program, mode)
    returned = "(new|unblock)_place returned without change_state"
    _tells(guest, watch, rf"policy misuser: wrong move in \w+: {returned}")


@pytest.mark.parametrize("mode, number", [("prepare_9999", 9999), ("prepare_negative", -7)])
def test_prepare_that_names_no_cpu_is_reported_fails(guest, program, watch, mode, number):
    watch.expect_violations()
    _misuse(guest, program, mode)
    _tells(guest, watch, rf"misuser: wrong move in .*_prepare returned {number}, which is no CPU")


def test_policy_that_behaves_is_not_reported(guest, program, watch):
    """The misuser without a mode: proof that the others fail for their mode."""
    assert _misuse(guest, program, "none") == 0
    assert "wrong move" not in _told(guest, watch)


def test_report_names_thread_and_states(guest, program, watch):
    watch.expect_violations()
    _misuse(guest, program, "place_null")
    _tells(guest, watch, r"saakm: thread victims/\d+ is NOT_QUEUED on CPU \d, this is CPU \d")


def test_report_comes_once(guest, program, watch):
    """Each kind of mistake once for each state, however often it happens."""
    watch.expect_violations(least=20)
    _misuse(guest, program, "place_twice")
    assert _told(guest, watch).count("wrong move in") == 1


def test_all_are_reported_on_request(guest, program, watch):
    """But for a limit on their rate."""
    watch.expect_violations(least=20)
    time_for_others = "sleep 5"  # the limit is 10 in 5 s, of all policies together
    _misuse(guest, program, "place_twice", f"echo 1 >{SYSFS}/log_violations; {time_for_others}")
    assert _told(guest, watch).count("wrong move in") >= 5


def test_policy_that_never_elects_loses_no_thread(guest, program):
    """Its threads wait for ever; unloading it gives them to the fair class."""
    ko = guest.kernel.modules / "misuser" / "misuser.ko"
    out = run_ok(
        guest,
        f"""
insmod {ko} mode=schedule_null || exit 1
id=$(awk '$2 == "misuser" {{ print $1 }}' /proc/saakm/policies)
{program("starved")} $id
status=$?
rmmod misuser
exit $status
""",
    )
    assert "waits" in out
    assert "misuser" not in policies(guest)


def test_violation_can_panic_fails(boot, program):
    """on_violation=panic: the guest dies, with our message as the reason."""
    guest = boot()
    ko = guest.kernel.modules / "misuser" / "misuser.ko"
    with pytest.raises(GuestDied) as died:
        guest.run(
            f"""
echo panic >{SYSFS}/on_violation
insmod {ko} mode=place_twice || exit 1
id=$(awk '$2 == "misuser" {{ print $1 }}' /proc/saakm/policies)
{program("victims")} $id
"""
        )
    assert "Kernel panic - not syncing: saakm: policy misuser: change_state(READY" in str(died.value)


# --- policies that must not be loaded ---

UNLOADABLE = {
    "schedule": "load badload: the routine schedule is missing",
    "new_place": "load badload: the routine new_place is missing",
    "unblock_place": "load badload: the routine unblock_place is missing",
    "routines": "load badload: the routine routines is missing",
    "init": "load badload: its init returned -18",
    "long": "load: a name has 1 to 31 characters, no blanks",
}


@pytest.mark.parametrize("fault", UNLOADABLE)
def test_bad_policy_is_refused_fails(guest, fault):
    with pytest.raises(SaakmError):
        guest.load("badload", f"fault={fault}")
    assert last_error(guest) == UNLOADABLE[fault]
    assert not policies(guest)


@pytest.mark.parametrize("name", ["", "two words", "sla/sh"])
def test_bad_name_is_refused_fails(guest, name):
    with pytest.raises(SaakmError):
        guest.load("badload", f'name="{name}"')
    assert "a name has" in last_error(guest)
    assert not policies(guest)


def test_name_in_use_is_refused_fails(guest):
    guest.load("recorder")
    with pytest.raises(SaakmError):
        guest.load("badload", "name=recorder")
    assert last_error(guest) == "load recorder: a policy of this name is loaded"
    assert list(policies(guest)) == ["recorder"]


def test_module_that_fails_after_adding_leaves_nothing_fails(guest, watch):
    with pytest.raises(SaakmError):
        guest.load("badload", "fault=late")
    assert not policies(guest)
    told = _told(guest, watch)
    assert "saakm: module of policy badload went away without saakm_remove_policy()" in told
    assert told.count("badload: free_metadata") == 1


def test_module_that_forgets_to_remove_leaves_nothing_fails(guest, watch):
    guest.load("badload", "fault=forget")
    guest.unload("badload")
    assert not policies(guest)
    assert "went away without saakm_remove_policy()" in _told(guest, watch)


def test_policy_loads_after_a_refused_one(guest):
    with pytest.raises(SaakmError):
        guest.load("badload", "fault=init")
    guest.load("badload")
    assert list(policies(guest)) == ["badload"]
