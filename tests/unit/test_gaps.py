# SPDX-License-Identifier: GPL-2.0
"""Gaps between threads, and decisions of an agent, out of events made by hand."""

import json

import pytest
from test_cli import saakm

from saakm.base.errors import SaakmError
from saakm.lab.bench import alone
from saakm.lab.report import traced
from saakm.model.schema import plain
from saakm.model.trace_metadata import Gaps as Kept
from saakm.model.trace_metadata import Recorded, Summary
from saakm.trace import turns
from saakm.trace.decisions import Decisions
from saakm.trace.events import STATES, parse_events
from saakm.trace.gaps import AGENT, IDLE, OTHER, WORK, Gaps
from saakm.trace.recording import summarise, write_trace

STARTER, AGENT_PID, KWORKER, ROOT, CHILD = 50, 60, 70, 100, 101
BLOCKED, READY, RUNNING, MIGRATING = map(STATES.index, ("BLOCKED", "READY", "RUNNING", "MIGRATING"))


def line(ns, cpu, pid, rest):
    return f" x-{pid} [{cpu:03}] {ns}: {rest}"


def fork(ns, cpu, parent, child):
    return line(
        ns, cpu, parent, f"sched_process_fork: comm=x pid={parent} child_comm=x child_pid={child}"
    )


def wake(ns, cpu, pid, name="sched_waking", by=0):
    return line(ns, cpu, by, f"{name}: comm=x pid={pid} prio=120 target_cpu=0")


def switch(ns, cpu, prev, following, state=1):
    return line(
        ns,
        cpu,
        prev,
        f"sched_switch: prev_comm=x prev_pid={prev} prev_prio=120 prev_state={state} "
        f"next_comm=x next_pid={following} next_prio=120",
    )


def becomes(ns, pid, before, state, policy=1):
    return line(
        ns, 0, pid,
        f"saakm_transition: comm=x pid={pid} policy={policy} prev={before} next={state} cpu=0 handler=x",
    )  # fmt: skip


def decided(ns, pid, error=0):
    values = (
        f"__probe_func=0xffffffff81000000 __probe_ret_ip=0xffffffffc0000000 pid={pid} error={error}"
    )
    return line(ns, 0, AGENT_PID, f"saakm_decided: {values}")


# CPU 1 idles, but for what stands here.
RUN = [
    fork(0, 0, STARTER, AGENT_PID),
    fork(10, 0, STARTER, ROOT),
    switch(1000, 0, STARTER, ROOT),
    fork(1990, 0, ROOT, CHILD),
    wake(2000, 0, CHILD, "sched_wakeup_new"),
    switch(2500, 1, 0, CHILD),  # a gap: it idled for 500
    switch(4000, 1, CHILD, 0),
    wake(5000, 0, CHILD),
    wake(5100, 1, CHILD, "sched_wakeup"),
    switch(5600, 1, 0, AGENT_PID),  # idle for 600, then the agent for 300
    switch(5900, 1, AGENT_PID, CHILD),
    switch(7000, 1, CHILD, KWORKER, 0),  # preempted by what is no gap,
    switch(7400, 1, KWORKER, 0),
    switch(7500, 1, 0, CHILD),  # and idle for 100
    switch(8000, 1, CHILD, 0),
    switch(9000, 0, ROOT, 0),
    switch(9900, 0, 0, KWORKER),
]


def gaps_of(lines, cpus=2, starter=STARTER):
    gaps = Gaps(ROOT, cpus, starter)
    for event in parse_events(lines):
        gaps.add(event)
    gaps.finish()
    return gaps


def test_gaps_are_what_a_cpu_did_while_the_next_thread_waited():
    gaps = gaps_of(RUN)
    assert [(gap.cpu, gap.idle_ns, gap.agent_ns) for gap in gaps.gaps] == [
        (1, 500, 0), (1, 600, 300), (1, 100, 0),
    ]  # fmt: skip
    assert gaps.starts_ns == [1000, 2500, 5900, 7500]
    assert (gaps.begin_ns, gaps.end_ns) == (1000, 9000)
    assert gaps.wanted_ns == 8000 + (1500 + 1100 + 500) + (1200 + 300)


def test_time_lost_is_of_as_many_cpus_as_threads_wait():
    gaps = gaps_of(RUN)
    assert (gaps.idle_ns, gaps.agent_ns) == (500 + 600 + 100, 300)
    # Three CPUs: two more idle all the time, and one of them is enough for who waits.
    gaps = gaps_of(RUN, cpus=4)
    assert (gaps.idle_ns, gaps.agent_ns) == (500 + 900 + 500, 0)


def test_who_decides_is_told_from_who_works():
    kinds = {span.pid: span.kind for span in gaps_of(RUN).spans}
    assert kinds == {0: IDLE, STARTER: AGENT, AGENT_PID: AGENT, KWORKER: OTHER, ROOT: WORK,
                     CHILD: WORK}  # fmt: skip
    # Without a script all that is not the command's is somebody else.
    kinds = {span.pid: span.kind for span in gaps_of(RUN, starter=0).spans}
    assert kinds[AGENT_PID] == OTHER


def test_who_is_woken_before_it_has_left_its_cpu_does_not_wait():
    lines = [
        switch(1000, 0, STARTER, ROOT),
        wake(1500, 1, ROOT),
        switch(2000, 0, ROOT, 0),
        wake(4000, 1, ROOT, "sched_wakeup"),
        switch(4300, 0, 0, ROOT),
        switch(5000, 0, ROOT, 0),
    ]
    gaps = gaps_of(lines)
    assert [gap.idle_ns for gap in gaps.gaps] == [300] and gaps.idle_ns == 300


def test_a_gap_begins_when_the_cpu_is_left_and_the_thread_waits():
    lines = [
        fork(10, 0, ROOT, CHILD),
        switch(1000, 0, STARTER, ROOT),
        wake(1500, 0, CHILD, "sched_wakeup_new"),
        switch(2000, 0, ROOT, 0),
        switch(2200, 0, 0, CHILD),
        switch(3000, 0, CHILD, 0),
        wake(3500, 0, ROOT),
        switch(3600, 0, 0, ROOT),
        switch(4000, 0, ROOT, 0),
    ]
    gaps = gaps_of(lines, cpus=1).gaps
    assert [(gap.begin_ns, gap.end_ns, gap.ns) for gap in gaps] == [
        (2000, 2200, 200), (3500, 3600, 100),
    ]  # fmt: skip


def test_a_thread_that_waits_elsewhere_is_no_gap_of_a_cpu_that_works():
    lines = [
        fork(10, 0, ROOT, CHILD),
        switch(1000, 0, STARTER, ROOT),
        wake(1000, 0, CHILD, "sched_wakeup_new"),
        switch(3000, 0, ROOT, CHILD, 0),
        switch(4000, 0, CHILD, ROOT),
        switch(5000, 0, ROOT, 0),
    ]
    gaps = gaps_of(lines, cpus=1)
    assert len(gaps.starts_ns) == 3 and not gaps.gaps
    assert (gaps.idle_ns, gaps.agent_ns) == (0, 0)


DECISIONS = [
    becomes(1000, CHILD, BLOCKED, READY),
    decided(1500, CHILD, error=-11),  # an older one, which comes too late
    becomes(1900, CHILD, READY, MIGRATING),
    becomes(1950, CHILD, MIGRATING, READY),  # to another CPU: it goes on waiting
    decided(2000, CHILD),
    becomes(2600, CHILD, READY, RUNNING),
    becomes(3000, ROOT, BLOCKED, READY),
    becomes(3100, ROOT, READY, RUNNING),  # the kernel itself has placed it
    becomes(4000, CHILD, RUNNING, READY),
    decided(4200, CHILD),
    decided(4300, ROOT),  # it does not wait
    becomes(4400, ROOT, BLOCKED, READY, policy=2),
    decided(4500, ROOT),
    becomes(5000, CHILD, READY, RUNNING),
]


def test_decisions():
    found = Decisions(1)
    for event in parse_events(DECISIONS):
        found.add(event)
    assert found.decision_ns == [1000, 200]
    assert found.run_ns == [600, 800]
    assert found.undecided == {CHILD: 0, ROOT: 1}
    assert found.per_second == pytest.approx(1e9 / 2200)


def test_the_summary_has_both(tmp_path):
    recorded = Recorded(
        status=0, policy_id=1, policy={}, cpus=2, release="6.12", entries=0, lost=0, tgids={}, pid=ROOT,
        starter=STARTER,
    )  # fmt: skip
    lines = sorted([*RUN, *DECISIONS], key=lambda one: int(one.split("] ")[1].split(":")[0]))
    summary = summarise("user", write_trace(lines, recorded, tmp_path / "t"), recorded, tmp_path)
    gaps = summary.gaps
    assert (gaps.starts, gaps.gaps) == (4, 3)
    assert (gaps.us_p50, gaps.us_p90, gaps.us_p99, gaps.us_max) == (0.5, 0.82, 0.892, 0.9)
    assert gaps.idle_percent == pytest.approx(100 * 1200 / 12600)
    assert gaps.agent_percent == pytest.approx(100 * 300 / 12600)
    decisions = summary.decisions
    assert (decisions.decisions, decisions.undecided) == (2, 1)
    assert (decisions.us_p50, decisions.us_max, decisions.run_us_p50) == (0.6, 1.0, 0.7)
    # Of what has no first process, as in the simulator, there is nothing to say.
    nobody = Recorded(
        status=0, policy_id=1, policy={}, cpus=2, release="6.12", entries=0, lost=0, tgids={}
    )
    timeline = write_trace(RUN, nobody, tmp_path / "t")
    assert summarise("fifo", timeline, nobody, tmp_path).gaps is None


def test_tables_of_recordings(tmp_path):
    """What was not recorded is left out; what was lost is said."""
    gaps = Kept(starts=4, gaps=3, us_p50=0.5, us_p90=0.82, us_p99=0.892, us_max=1234.5,
                idle_percent=7.5, agent_percent=1.875)  # fmt: skip
    summaries = {
        "fair": {"scheduler": "fair", "gaps": gaps},
        "user": {"scheduler": "user:rustland --no-burst", "gaps": gaps, "lost": 1000},
        "old": {},
    }
    for name, more in summaries.items():
        (tmp_path / name).mkdir()
        values = {"seconds": 1.0, "events": 9, "lost": 0, "threads": 2, "switches": 4,
                  "kernel_switches": None, "migrations": 0, "wakeups": 1, "wakeup_us_p50": 1.0,
                  "wakeup_us_p99": 2.0, "calls": {}, "bytes": {}, "topology": "1s2c"}  # fmt: skip
        summary = Summary(policy=name, **{**values, **more})
        (tmp_path / name / "summary.json").write_text(json.dumps(plain(summary)))
    said = saakm("report", "--traces", *(str(tmp_path / name) for name in summaries)).stdout
    assert said.splitlines()[-2:] == [
        "| fair | 1s2c | 4 | 3 | 0.5 | 0.8 | 0.9 | 1,234.5 | 7.50 | 1.88 |",
        "| user:rustland --no-burst | 1s2c, 1,000 events lost | 4 | 3 | 0.5 | 0.8 | 0.9 | 1,234.5 | 7.50 | 1.88 |",
    ]
    with pytest.raises(SaakmError, match="neither gaps nor decisions"):
        traced.tables([tmp_path / "old"])
    with pytest.raises(SaakmError, match="not the summary of a trace"):
        traced.tables([tmp_path])


def test_a_picture_shows_turns_in_the_middle():
    gaps = gaps_of(RUN)
    assert turns.window(gaps) == (1000, 7500)
    gaps.starts_ns = list(range(0, 100_000, 1000))
    assert turns.window(gaps) == (42_000, 58_000)  # 8 turns of each of 2 CPUs


def test_a_workload_may_have_another_point():
    workload, variant = alone.find("build:jobs-3")
    assert workload.name == "build" and variant.command.endswith("-j3 prog")
    with pytest.raises(SaakmError, match="are [0-9]+ commands"):
        alone.find("hackbench")
