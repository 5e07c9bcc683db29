# SPDX-License-Identifier: GPL-2.0
"""Latencies from a trace as trace-cmd prints it."""

import pytest

from saakm.lab.bench import latency
from saakm.model.schema import plain

# Thread 10 is the workload's, 11 its child, 99 somebody else.
TRACE = """\
cpus=2
            sh-10    [000]   100.000000000: sched_process_fork:   parent_comm=sh parent_pid=10 child_comm=sh child_pid=11
            sh-10    [000]   100.001000000: sched_wakeup_new:     comm=sh pid=11 prio=120 target_cpu=1
        <idle>-0     [001]   100.001500000: sched_switch:         prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=0 next_comm=sh next_pid=11 next_prio=120
            sh-11    [001]   100.002000000: sched_switch:         prev_comm=sh prev_pid=11 prev_prio=120 prev_state=1 next_comm=swapper/1 next_pid=0 next_prio=120
            sh-10    [000]   100.003000000: sched_waking:         comm=sh pid=11 prio=120 target_cpu=1
            sh-10    [000]   100.003100000: sched_wakeup:         comm=sh pid=11 prio=120 target_cpu=1
        <idle>-0     [001]   100.003500000: sched_switch:         prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=0 next_comm=sh next_pid=11 next_prio=120
            sh-11    [001]   100.004000000: sched_switch:         prev_comm=sh prev_pid=11 prev_prio=120 prev_state=256 next_comm=other next_pid=99 next_prio=120
            sh-10    [000]   100.004500000: sched_waking:         comm=sh pid=11 prio=120 target_cpu=1
         other-99    [001]   100.006000000: sched_switch:         prev_comm=other prev_pid=99 prev_prio=120 prev_state=1 next_comm=sh next_pid=11 next_prio=120
            sh-10    [000]   100.007000000: sched_waking:         comm=other pid=99 prio=120 target_cpu=1
            sh-11    [001]   100.008000000: sched_switch:         prev_comm=sh prev_pid=11 prev_prio=120 prev_state=1 next_comm=other next_pid=99 next_prio=120
"""


def waits(text, root=10):
    events, begin_ns = latency.complete(text.splitlines())
    return latency.of_descendants(events, root), begin_ns


def test_wakeups_and_waits_of_the_workload_alone():
    found, begin_ns = waits(TRACE)
    # Its birth and two wakeups. The last met a thread that was ready anyway.
    assert found.wakeup_ns == [500_000, 500_000, 1_500_000]
    assert found.queue_ns == [500_000, 400_000, 2_000_000]
    assert begin_ns == 0


def test_other_threads_do_not_count():
    found, _ = waits(TRACE, root=12345)
    assert not found.wakeup_ns and not found.queue_ns


def test_a_thread_woken_before_it_left_the_cpu_did_not_wait():
    found, _ = waits("""\
 sh-1  [000]  1.0: sched_waking:  comm=sh pid=10 prio=120 target_cpu=0
 sh-10 [000]  2.0: sched_switch:  prev_comm=sh prev_pid=10 prev_prio=120 prev_state=0 next_comm=sh next_pid=1 next_prio=120
 sh-1  [000]  2.5: sched_switch:  prev_comm=sh prev_pid=1 prev_prio=120 prev_state=1 next_comm=sh next_pid=10 next_prio=120
""")
    assert found.wakeup_ns == [] and found.queue_ns == [500_000_000]


def test_where_events_were_lost_nothing_before_counts():
    lost = "CPU:1 [LOST 7 EVENTS]\n"
    lines = TRACE.splitlines(keepends=True)
    found, begin_ns = waits(
        "".join([*lines[:1], "CPU:1 [7 EVENTS DROPPED]\n", *lines[1:6], lost, *lines[6:]])
    )
    assert begin_ns == 3_500_000 and len(found.wakeup_ns) == 1


def test_percentiles():
    found = latency.summary([n * 1000 for n in range(1, 1001)])
    assert found.n == 1000 and found.max == 1000.0
    assert found.p50 == pytest.approx(500.5) and found.p99_9 == pytest.approx(999.0, abs=0.1)
    assert plain(latency.summary([])) == {"n": 0}
