# SPDX-License-Identifier: GPL-2.0
"""Several policies at once: who goes first, what the columns count, and leaving."""

import pytest

from .recorder import EVENTS, SCHEDULE, parse
from .support import emptied, load_policy, policies, run_ok

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")


def _shares(guest, program, ms, *members):
    out = run_ok(guest, f"{program('shares')} 1 {ms} {' '.join(members)}", timeout=100)
    return [int(ns) / 1e9 for ns in out.split()]


def test_higher_priority_is_first_in_the_list(guest):
    load_policy(guest, "fifo")
    load_policy(guest, "recorder", "priority=5", "groups=0")
    load_policy(guest, "rr")
    found = policies(guest)
    assert list(found) == ["recorder", "fifo", "rr"]
    assert [p.priority for p in found.values()] == [5, 0, 0]


def test_lower_priority_is_last_in_the_list(guest):
    load_policy(guest, "recorder", "priority=-5", "groups=0")
    load_policy(guest, "rr")
    assert list(policies(guest)) == ["rr", "recorder"]


def test_higher_priority_takes_the_cpu(guest, program):
    low = load_policy(guest, "rr")
    high = load_policy(guest, "recorder", "priority=5", "groups=0")
    second, first = _shares(guest, program, 500, f"{low}:0", f"{high}:0")
    assert second < 0.02 * first, f"{second:.3f} s beside {first:.3f} s"


def test_among_equals_the_first_loaded_takes_the_cpu(guest, program):
    early = load_policy(guest, "rr")
    late = load_policy(guest, "vtime")
    second, first = _shares(guest, program, 500, f"{late}:0", f"{early}:0")
    assert second < 0.02 * first, f"{second:.3f} s beside {first:.3f} s"


def test_second_policy_runs_while_the_first_sleeps(guest, program):
    early = load_policy(guest, "rr")
    late = load_policy(guest, "vtime")
    first, second = _shares(guest, program, 500, f"{early}:0:s", f"{late}:0")
    assert second > first > 0, f"first {first:.3f} s, second {second:.3f} s"


def test_policy_without_threads_is_not_asked(guest, program):
    first = load_policy(guest, "fifo")
    load_policy(guest, "recorder", f"groups={SCHEDULE}")
    last = load_policy(guest, "rr")
    _shares(guest, program, 200, f"{first}:0:s", f"{last}:0")
    events = parse(run_ok(guest, f"cat {EVENTS}"))
    assert events == [], f"asked {len(events)} times, first: {events[0]}"


def test_first_policy_preempts_at_wakeup(guest, program):
    early = load_policy(guest, "fifo")
    late = load_policy(guest, "rr")
    soon, rounds = map(int, run_ok(guest, f"{program('preempts')} 1 {late}:0 {early}:0").split())
    assert soon >= 0.8 * rounds, f"it ran at once in {soon} of {rounds} rounds"


def test_second_policy_does_not_preempt(guest, program):
    early = load_policy(guest, "fifo")
    late = load_policy(guest, "rr")
    soon, rounds = map(int, run_ok(guest, f"{program('preempts')} 1 {early}:0 {late}:0").split())
    assert soon == 0, f"it ran beside a hog of the first policy in {soon} of {rounds} rounds"


def test_ids_rise_and_are_never_reused(guest):
    ids = []
    for name in ("fifo", "rr", "fifo", "vtime", "fifo"):
        ids.append(load_policy(guest, name))
        guest.unload(name)
    first = ids[0]
    assert ids == list(range(first, first + 5))
    assert first >= 1


def test_columns_count(guest, program):
    """Three families of one parent and twenty children each."""
    id = load_policy(guest, "rr")
    before = policies(guest)["rr"]
    assert (before.threads, before.new, before.terminated) == (0, 0, 0)
    run_ok(guest, f"{program('trigger_life')} storm {id}")
    after = emptied(guest, "rr")
    assert (after.new, after.terminated) == (63, 63)
    assert after.switches >= 63
    assert after.state == "active"
    assert after.module == "rr"


def test_threads_column_counts_the_living(guest, program):
    id = load_policy(guest, "rr")
    out = run_ok(
        guest,
        f"""
rm -f /tmp/hogs; {program("hogs")} {id} 1 free 0 0 0 >/tmp/hogs &
until grep -q . /tmp/hogs; do :; done
cat /proc/saakm/policies
kill $!; wait $!; true
""",
    )
    (counts,) = (row.split()[5:8] for row in out.splitlines() if row.split()[1:2] == ["rr"])
    assert counts == ["3", "3", "0"]
    after = emptied(guest, "rr")
    assert (after.new, after.terminated) == (3, 3)


def test_moving_between_policies_counts_at_both(guest, program):
    one, two = load_policy(guest, "fifo"), load_policy(guest, "rr")
    run_ok(guest, f"{program('moves')} {one} {two} 5")
    found = policies(guest)
    assert (found["fifo"].new, found["fifo"].terminated) == (5, 5)
    assert (found["rr"].new, found["rr"].terminated) == (5, 5)


def test_one_unloads_while_the_other_goes_on(guest, program):
    """Those that stay share a CPU: they take turns, whether anybody else comes there or not."""
    stays, goes = load_policy(guest, "rr"), load_policy(guest, "fifo")
    hogs = program("hogs")
    run_ok(
        guest,
        f"""
rm -f /tmp/stays /tmp/goes
{hogs} {stays} 1 pinned 0 0 >/tmp/stays &
{hogs} {goes} 2 free 0 0 >/tmp/goes &
until grep -q . /tmp/stays && grep -q . /tmp/goes; do :; done
rmmod fifo || exit 1
for tid in $(cat /tmp/goes); do grep -qx 'policy 0' /proc/$tid/saakm || exit 2; done
for tid in $(cat /tmp/stays); do grep -qx 'policy {stays}' /proc/$tid/saakm || exit 3; done
before=$(awk '$2 == "rr" {{ print $9 }}' /proc/saakm/policies)
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.3
	now=$(awk '$2 == "rr" {{ print $9 }}' /proc/saakm/policies)
	[ $now -gt $before ] && exit 0
done
exit 4
""",
    )
    assert list(policies(guest)) == ["rr"]
    assert policies(guest)["rr"].threads == 2
