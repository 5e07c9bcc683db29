# SPDX-License-Identifier: GPL-2.0
"""Wrong moves of a policy are refused, counted and reported; its threads get on."""

import re

import pytest

from saakm.base.errors import GuestDied, SaakmError

from .support import SYSFS, last_error, load_policy, policies, run_ok, until

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/misuser/parameters"

# mode of modules/misuser -> kind of fault, handler that is named, and why.
CHANGE, ELECTION, MOVE = "wrong-transition", "wrong-election", "wrong-move"
NOT_QUEUED = "the thread is not READY in a queue"
NOT_THAT_QUEUE = "the queue is not of this CPU and policy"
PLACE = "(new_place|unblock_place|requeue)"
BALANCE = "(balancing_select|none)"  # an interrupt whose events come in between leaves no handler
REFUSED = {
    "place_twice": (CHANGE, PLACE, "there is no such transition"),
    "place_foreign": (CHANGE, PLACE, "not of this CPU"),
    "place_cpu": (CHANGE, PLACE, "on another CPU"),
    "place_null": (CHANGE, PLACE, "READY needs a runqueue"),
    "place_uninitialised": (CHANGE, PLACE, "not initialised"),
    "place_running": (CHANGE, PLACE, "this handler may not"),
    "place_nonsense": (CHANGE, PLACE, "there is no such state"),
    "place_sleeper": (CHANGE, PLACE, "about another thread"),
    "end_ready": (CHANGE, "(new|unblock)_end", "this handler may not"),
    "block_ready": (CHANGE, "block", "this handler may not"),
    "block_queue": (CHANGE, "block", "only READY takes a runqueue"),
    "block_waiting": (CHANGE, "block", "about another thread"),
    "tick_ready": (CHANGE, "tick", "this handler may not"),
    "tick_blocked": (CHANGE, "tick", "this handler may not"),
    "tick_terminated": (CHANGE, "tick", "this handler may not"),
    "tick_waiting": (CHANGE, "tick", "about another thread"),
    "running_blocked": (CHANGE, "running", "this handler may not"),
    "terminate_ready": (CHANGE, "terminate", "this handler may not"),
    "schedule_blocked": (CHANGE, "schedule", "this handler may not|about another thread"),
    "schedule_running": (CHANGE, "schedule", "this handler may not|about another thread"),
    "schedule_sleeper": (ELECTION, "schedule", "elected a thread that is not READY"),
    "steal_locked": (MOVE, "(new_place|unblock_place|tick)", "with a runqueue lock held"),
    "move_locked": (MOVE, "(new_place|unblock_place|tick)", "with a runqueue lock held"),
    "steal_own": (MOVE, BALANCE, "saakm_steal"),
    "steal_foreign": (MOVE, BALANCE, "saakm_steal"),
    "move_nowhere": (MOVE, BALANCE, "not of this CPU"),
    "switch_running": (MOVE, "tick", NOT_QUEUED),
    # It may have gone to another CPU, whose lock is not held.
    "switch_sleeper": (MOVE, "tick", f"{NOT_QUEUED}|another CPU|lock is not held"),
    "switch_foreign": (MOVE, "tick", NOT_THAT_QUEUE),
    "switch_uninitialised": (MOVE, "tick", NOT_THAT_QUEUE),
    "switch_null": (MOVE, "tick", NOT_THAT_QUEUE),
    "switch_unlocked": (MOVE, "(new|unblock)_prepare", "saakm_switch_queue.*lock is not held"),
    "slice_unlocked": (
        "policy-error",
        "(new|unblock)_prepare",
        "saakm_set_slice.*lock is not held",
    ),
}
# The class places the thread itself.
UNPLACED = ["place_foreign", "place_cpu", "place_null", "place_uninitialised"]


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


def _at_fault(kind: str, handler: str) -> str:
    return rf"saakm: policy misuser is at fault \({kind}\) in {handler}: "


def _tells(guest, watch, pattern):
    """Reports are printed later than they are made: not under a runqueue lock."""
    until(lambda: re.search(pattern, _told(guest, watch)), 10, f"a message like '{pattern}'")


@pytest.mark.parametrize("mode", REFUSED)
def test_wrong_move_is_refused_and_reported_fails(guest, program, watch, mode):
    watch.expect_violations()
    assert _misuse(guest, program, mode) > 0, "the misuser never came to make its move"
    kind, handler, why = REFUSED[mode]
    _tells(guest, watch, rf"{_at_fault(kind, handler)}.*({why})")
    if mode in UNPLACED:
        _tells_of_no_place(guest, watch)


def _tells_of_no_place(guest, watch):
    _tells(guest, watch, rf"{_at_fault('not-placed', '.*')}{PLACE} returned without change_state")


def test_thread_that_is_not_placed_runs_all_the_same_fails(guest, program, watch):
    watch.expect_violations()
    _misuse(guest, program, "place_never")
    _tells_of_no_place(guest, watch)


@pytest.mark.parametrize("mode, number", [("prepare_9999", 9999), ("prepare_negative", -7)])
def test_prepare_that_names_no_cpu_is_reported_fails(guest, program, watch, mode, number):
    watch.expect_violations()
    _misuse(guest, program, mode)
    fault = _at_fault("refused-placement", ".*")
    _tells(guest, watch, rf"{fault}\w+_prepare returned {number}, which is no CPU")


def test_policy_that_behaves_is_not_reported(guest, program, watch):
    """The misuser without a mode: proof that the others fail for their mode."""
    assert _misuse(guest, program, "none") == 0
    assert "at fault" not in _told(guest, watch)


def test_report_names_thread_and_states(guest, program, watch):
    watch.expect_violations()
    _misuse(guest, program, "place_null")
    _tells(guest, watch, r"saakm: thread victims/\d+ is NOT_QUEUED on CPU \d, this is CPU \d")


def test_report_comes_once(guest, program, watch):
    """Each kind of mistake once for each state, however often it happens."""
    watch.expect_violations(least=20)
    _misuse(guest, program, "place_twice")
    assert _told(guest, watch).count("is at fault") == 1


def test_all_are_reported_on_request(guest, program, watch):
    """But for a limit on their rate."""
    watch.expect_violations(least=20)
    time_for_others = "sleep 5"  # the limit is 10 in 5 s, of all policies together
    _misuse(guest, program, "place_twice", f"echo 1 >{SYSFS}/log_violations; {time_for_others}")
    assert _told(guest, watch).count("is at fault") >= 5


def test_policy_that_never_elects_loses_no_thread(guest, program):
    """Its threads wait for ever; unloading it gives them to the fair class."""
    ko = guest.kernel.modules / "misuser" / "misuser.ko"
    out = run_ok(
        guest,
        f"""
insmod {ko} mode=schedule_null timeout_ms=0 || exit 1
id=$(awk '$2 == "misuser" {{ print $1 }}' /proc/saakm/policies)
{program("starved")} $id
status=$?
rmmod misuser
exit $status
""",
    )
    assert "waits" in out
    assert "misuser" not in policies(guest)


UNBOUND = "/sys/devices/virtual/workqueue/cpumask"


@pytest.fixture
def workers_of_cpu1(guest):
    """Whatever may run on any CPU does so on CPU 1."""
    run_ok(guest, f"echo 2 >{UNBOUND}")
    yield
    if guest.alive:
        run_ok(guest, f"echo f >{UNBOUND}")


@pytest.mark.usefixtures("workers_of_cpu1")
def test_who_waits_in_a_handler_is_ejected_by_a_worker_of_its_cpu(guest, watch):
    """The interrupt that starts the ejection comes while the lock is held that its worker needs."""
    load_policy(guest, "hangs", "on_violation=eject")
    watch.expect_violations()
    armed = "/sys/module/hangs/parameters/waits"
    wakes = f"until grep -q N {armed}; do echo | cat >/dev/null; done"
    run_ok(guest, f"echo 1 >{armed}; taskset -c 1 saakmctl exec hangs -- sh -c '{wakes}'", 60)
    until(lambda: policies(guest)["hangs"].state == "ejected", 20, "the ejection")


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
    assert (
        "Kernel panic - not syncing: saakm: policy misuser (wrong-transition): change_state(READY"
        in str(died.value)
    )


# --- policies that must not be loaded ---

EDITION = (
    "load badload: the module was built for edition 1 of the API,"
    " this kernel has edition 2: build it again"
)
UNLOADABLE = {
    "queue": "load badload: queue is no enum saakm_rq_type",
    "list": "load badload: key is missing, for the queue is a LIST or RBTREE",
    "rbtree": "load badload: key is missing, for the queue is a LIST or RBTREE",
    "key": "load badload: key is of no use: the queue is a FIFO",
    "bound": "load badload: bound is of no use: the queue is no RBTREE",
    "none_key": "load badload: key is of no use: queue is SAAKM_RQ_NONE",
    "none_places": "load badload: place is missing, for queue is SAAKM_RQ_NONE",
    "none_new_place": "load badload: place is missing, for queue is SAAKM_RQ_NONE",
    "none_unblock_place": "load badload: place is missing, for queue is SAAKM_RQ_NONE",
    "none_schedule": "load badload: schedule is missing, for queue is SAAKM_RQ_NONE",
    "place": "load badload: place is of no use beside new_place and unblock_place",
    "prepare": "load badload: prepare is of no use beside new_prepare and unblock_prepare",
    "interval": "load badload: balancing_select is missing, for a balance_interval_ms is given",
    "select": "load badload: balance_interval_ms is missing, for there is a balancing_select",
    "free": "load badload: init is missing, for there is a free_metadata",
    "init": "load badload: its init returned -18",
    "greedy": "load badload: its init returned -12",
    "big": "load badload: task_size 100000 is more than 8192",
    "big_core": "load badload: core_size 40000 is more than 32768",
    "big_process": "load badload: process_size 100000 is more than 8192",
    "long": "load: the name of a policy has 1 to 31 characters",
    "edition": EDITION,
    "first": EDITION,
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
    assert "the name of a policy has" in last_error(guest)
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
