# SPDX-License-Identifier: GPL-2.0
"""Latencies from a trace as trace-cmd prints it."""

import pytest

from saakm.bench import latency

# Thread 10 is the workload's, 11 its child, 99 somebody else.
TRACE = """\
cpus=2
            sh-10    [000]   100.000000000: sched_process_fork:   comm=sh pid=10 child_comm=sh child_pid=11
            sh-10    [000]   100.001000000: sched_wakeup_new:     sh:11 [120] CPU:001
        <idle>-0     [001]   100.001500000: sched_switch:         swapper/1:0 [120] R ==> sh:11 [120]
            sh-11    [001]   100.002000000: sched_switch:         sh:11 [120] S ==> swapper/1:0 [120]
            sh-10    [000]   100.003000000: sched_waking:         sh:11 [120] CPU:001
            sh-10    [000]   100.003100000: sched_wakeup:         sh:11 [120] CPU:001
        <idle>-0     [001]   100.003500000: sched_switch:         swapper/1:0 [120] R ==> sh:11 [120]
            sh-11    [001]   100.004000000: sched_switch:         sh:11 [120] R ==> other:99 [120]
            sh-10    [000]   100.004500000: sched_waking:         comm=sh pid=11 prio=120 target_cpu=001
         other-99    [001]   100.006000000: sched_switch:         prev_comm=other prev_pid=99 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=11 next_prio=120
            sh-10    [000]   100.007000000: sched_waking:         other:99 [120] CPU:001
            sh-11    [001]   100.008000000: sched_switch:         sh:11 [120] S ==> other:99 [120]
"""


def waits(text, root=10):
    events, begin = latency._events(text.splitlines())
    return latency._waits(events, root), begin


def test_wakeups_and_waits_of_the_workload_alone():
    found, begin = waits(TRACE)
    # The second wakeup met a thread that was ready anyway; it ran 1.5 ms later all the same.
    assert found.wakeup == [pytest.approx(0.0005), pytest.approx(0.0015)]
    assert found.queue == [pytest.approx(0.0005), pytest.approx(0.0004), pytest.approx(0.002)]
    assert begin == 0.0


def test_other_threads_do_not_count():
    assert waits(TRACE, root=12345)[0] == latency.Waits()


def test_a_thread_woken_before_it_left_the_cpu_did_not_wait():
    found, _ = waits("""\
 sh-1  [000]  1.0: sched_waking:  sh:10 [120] CPU:000
 sh-10 [000]  2.0: sched_switch:  sh:10 [120] R ==> sh:1 [120]
 sh-1  [000]  2.5: sched_switch:  sh:1 [120] S ==> sh:10 [120]
""")
    assert found.wakeup == [] and found.queue == [pytest.approx(0.5)]


def test_where_events_were_lost_nothing_before_counts():
    lost = "CPU:1 [LOST 7 EVENTS]\n"
    lines = TRACE.splitlines(keepends=True)
    found, begin = waits("".join([*lines[:1], "CPU:1 [7 EVENTS DROPPED]\n", *lines[1:6], lost, *lines[6:]]))
    assert begin == pytest.approx(0.0035) and len(found.wakeup) == 1


def test_percentiles():
    found = latency.summary([n * 1e-6 for n in range(1, 1001)])
    assert found["n"] == 1000 and found["max"] == 1000.0
    assert found["p50"] == pytest.approx(500.5) and found["p99.9"] == pytest.approx(999.0, abs=0.1)
    assert latency.summary([]) == {"n": 0}
