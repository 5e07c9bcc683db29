# SPDX-License-Identifier: GPL-2.0
"""The table of transitions, as the class itself answers."""

import re

import pytest

from .recorder import STATES
from .support import run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

# From the design: what a thread may do next. Everything else is wrong.
ALLOWED = {
    "NOT_QUEUED": {"READY"},
    "READY": {"RUNNING", "MIGRATING", "BLOCKED", "TERMINATED", "DELAYED"},
    "RUNNING": {"READY", "READY_TICK", "BLOCKED", "TERMINATED", "DELAYED"},
    "READY_TICK": {"READY", "RUNNING", "BLOCKED", "TERMINATED", "DELAYED"},
    "BLOCKED": {"READY", "TERMINATED"},
    "MIGRATING": {"READY"},
    "TERMINATED": set(),
    "DELAYED": {"READY", "BLOCKED"},
}


def test_all_64_pairs(guest):
    guest.load("transitions")
    rows = [
        line.split() for line in run_ok(guest, "cat /sys/kernel/debug/transitions").splitlines()
    ]
    answers = {(STATES[int(a)], STATES[int(b)]): bool(int(yes)) for a, b, yes in rows}
    expected = {(a, b): b in ALLOWED[a] for a in STATES for b in STATES}
    assert len(answers) == 64
    wrong = {pair: answer for pair, answer in answers.items() if expected[pair] != answer}
    assert not wrong, f"the class answers otherwise: {wrong}"


def _transitions(guest, load: str, commands: str) -> set[tuple[str, str]]:
    """The arrows that the trace shows while the commands run, of which the table must have each."""
    trace = "/sys/kernel/tracing"
    out = run_ok(
        guest,
        f"""
insmod {load} || exit 1
id=$(awk 'END {{ print $1 }}' /proc/saakm/policies)
echo 4096 >{trace}/buffer_size_kb
echo >{trace}/trace
echo 1 >{trace}/events/saakm/saakm_transition/enable
{commands}
status=$?
echo 0 >{trace}/events/saakm/saakm_transition/enable
grep -o 'prev=[A-Z_]* next=[A-Z_]*' {trace}/trace | sort -u
exit $status
""",
        timeout=90,
    )
    seen = {(a, b) for a, b in re.findall(r"^prev=(\w+) next=(\w+)$", out, re.M)}
    assert seen, f"no transition in the trace:\n{out}"
    illegal = {pair for pair in seen if pair[1] not in ALLOWED[pair[0]]}
    assert not illegal, f"transitions that the table forbids: {illegal}"
    return seen


def test_every_legal_transition_happens(guest, program):
    """Under a storm with stealing, the trace shows each arrow of the table, and no other."""
    ko = guest.kernel.modules / "recorder" / "recorder.ko"
    seen = _transitions(
        guest,
        f"{ko} steal=1 groups=0",
        f"""
{program("trigger_life")} storm $id && {program("trigger_life")} tick_pair $id &&
{program("trigger_attr")} join_leave $id && {program("trigger_attr")} affinity_queued $id &&
{program("trigger_attr")} leave_queued $id && {program("steal_pair")} pair $id""",
    )
    common = {
        ("NOT_QUEUED", "READY"),
        ("READY", "RUNNING"),
        ("READY", "MIGRATING"),
        ("MIGRATING", "READY"),
        ("READY", "BLOCKED"),
        ("RUNNING", "BLOCKED"),
        ("RUNNING", "READY_TICK"),
        ("RUNNING", "TERMINATED"),
        ("READY_TICK", "READY"),
        ("BLOCKED", "READY"),
        ("BLOCKED", "TERMINATED"),
    }
    assert common <= seen, f"never happened: {common - seen}"


def test_every_transition_of_those_that_stay_queued_happens(guest, program):
    """READY_TICK to DELAYED is rare: a tick just before the sleep."""
    ko = guest.kernel.modules / "delayer" / "delayer.ko"
    delayed = program("delayed")
    seen = _transitions(
        guest, str(ko), f"{delayed} woken $id && {delayed} elected $id && {delayed} affinity $id"
    )
    common = {
        ("RUNNING", "DELAYED"),
        ("DELAYED", "READY"),
        ("DELAYED", "BLOCKED"),
        ("READY", "DELAYED"),
    }
    assert common <= seen, f"never happened: {common - seen}"
