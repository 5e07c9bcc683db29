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
    "READY": {"RUNNING", "MIGRATING", "BLOCKED", "TERMINATED"},
    "RUNNING": {"READY", "READY_TICK", "BLOCKED", "TERMINATED"},
    "READY_TICK": {"READY", "RUNNING", "BLOCKED", "TERMINATED"},
    "BLOCKED": {"READY", "TERMINATED"},
    "MIGRATING": {"READY"},
    "TERMINATED": set(),
}


def test_all_49_pairs(guest):
    guest.load("transitions")
    rows = [
        line.split() for line in run_ok(guest, "cat /sys/kernel/debug/transitions").splitlines()
    ]
    answers = {(STATES[int(a)], STATES[int(b)]): bool(int(yes)) for a, b, yes in rows}
    expected = {(a, b): b in ALLOWED[a] for a in STATES for b in STATES}
    assert len(answers) == 49
    wrong = {pair: answer for pair, answer in answers.items() if expected[pair] != answer}
    assert not wrong, f"the class answers otherwise: {wrong}"


def test_every_legal_transition_happens(guest, program):
    """Under a storm with stealing, the trace shows each arrow of the table, and no other."""
    trace = "/sys/kernel/tracing"
    ko = guest.kernel.modules / "recorder" / "recorder.ko"
    out = run_ok(
        guest,
        f"""
insmod {ko} steal=1 groups=0 || exit 1
id=$(awk '$2 == "recorder" {{ print $1 }}' /proc/saakm/policies)
echo 4096 >{trace}/buffer_size_kb
echo >{trace}/trace
echo 1 >{trace}/events/saakm/saakm_transition/enable
{program("trigger_life")} storm $id && {program("trigger_life")} tick_pair $id &&
{program("trigger_attr")} join_leave $id && {program("trigger_attr")} affinity_queued $id &&
{program("trigger_attr")} leave_queued $id && {program("steal_pair")} pair $id
status=$?
echo 0 >{trace}/events/saakm/saakm_transition/enable
grep -o 'prev=[A-Z_]* next=[A-Z_]*' {trace}/trace | sort | uniq -c
exit $status
""",
        timeout=90,
    )
    seen = {}
    for line in out.splitlines():
        if found := re.fullmatch(r"\s*(\d+) prev=(\w+) next=(\w+)", line):
            seen[found[2], found[3]] = int(found[1])
    assert seen, f"no transition in the trace:\n{out}"
    illegal = {pair for pair in seen if pair[1] not in ALLOWED[pair[0]]}
    assert not illegal, f"transitions that the table forbids: {illegal}"
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
    assert common <= set(seen), f"never happened: {common - set(seen)}"
