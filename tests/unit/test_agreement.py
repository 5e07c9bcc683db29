# SPDX-License-Identifier: GPL-2.0
"""What is compared between kernel and simulator, and what counts as different."""

import json

import pytest
from typer.testing import CliRunner

from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.commands import agree
from saakm.lab.agreement.compare import NEAR_NS, compare
from saakm.lab.agreement.scenario import read, read_all
from saakm.lab.agreement.story import Step, Story, Window, tell
from saakm.trace.events import parse_events
from saakm.workload.program_text import parse_text

TRACE = """\
a-7 [000] 1000: saakm_transition: comm=a pid=7 policy=1 prev=BLOCKED next=READY cpu=0 handler=unblock_place
a-7 [000] 2000: saakm_transition: comm=a pid=7 policy=1 prev=READY next=RUNNING cpu=0 handler=none
x-0 [000] 3000: sched_switch: prev_comm=x prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120
{interruption}a-7 [000] 90000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=x next_pid=0 next_prio=120
"""
INTERRUPTION = """\
a-7 [000] 50000: saakm_transition: comm=a pid=7 policy=1 prev=RUNNING next=READY cpu=0 handler=requeue
a-7 [000] 50010: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=k next_pid={by} next_prio=120
k-9 [000] 50900: saakm_transition: comm=a pid=7 policy=1 prev=READY next=RUNNING cpu=0 handler=none
k-9 [000] 51000: sched_switch: prev_comm=k prev_pid={by} prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 next_prio=120
"""


def _story(interruption: str = "") -> Story:
    lines = TRACE.format(interruption=interruption).splitlines()
    return tell(parse_events(lines), {7: "a/0", 8: "b/0"}, Window(0, 0, 100_000))


def test_a_thread_and_a_cpu_have_stories():
    story = _story()
    assert [step.what for step in story.threads["a/0"]] == [
        "BLOCKED -> READY (unblock_place)", "READY -> RUNNING (none)", "runs", "sleeps"
    ]  # fmt: skip
    assert [(cpu, [step.what for step in steps]) for cpu, steps in story.cpus.items()] == [
        (0, ["a/0"])
    ]


def test_an_interruption_by_the_kernel_is_left_out_and_counted():
    story = _story(INTERRUPTION.format(by=9))
    assert story.interruptions == 1 and story.threads == _story().threads


@pytest.mark.parametrize("handler, times", [("used", 0), ("yield", 1)])
def test_what_a_policy_is_told_of_cpu_time_is_left_out(handler, times):
    """The player's threads cause it; other calls stay."""
    call = "a-7 [000] 40000: saakm_call: policy=1 handler={} pid=7 flags=0x0 cpu=0\n"
    steps = _story(call.format(handler)).threads["a/0"]
    assert sum(step.what == f"{handler}() flags 0x0" for step in steps) == times


def test_a_preemption_by_one_of_the_workload_is_not():
    story = _story(INTERRUPTION.format(by=8))
    assert story.interruptions == 0
    assert "is preempted" in [step.what for step in story.threads["a/0"]]


def test_the_first_difference_in_order_is_found():
    ours = Story({"a/0": [Step(1, "runs", 0), Step(5, "sleeps", 0)], "b/0": [Step(3, "runs", 1)]})
    theirs = Story({"a/0": [Step(1, "runs", 0), Step(5, "exits", 0)], "b/0": [Step(3, "runs", 2)]})
    found = compare(ours, theirs)
    assert found.steps == 1 and found.difference
    assert found.difference.whom == "b/0" and "CPU 2" in str(found.difference)


def test_steps_that_one_of_them_lacks_are_a_difference():
    ours, theirs = Story({"a/0": [Step(1, "runs", 0)]}), Story({"a/0": []})
    assert compare(ours, theirs).difference and compare(theirs, ours).difference
    assert not compare(ours, ours).difference


@pytest.mark.parametrize("apart, differs", [(NEAR_NS, False), (NEAR_NS + 1000, True)])
def test_times_may_differ_by_little(apart, differs):
    ours, theirs = Story({"a/0": [Step(0, "runs", 0)]}), Story({"a/0": [Step(apart, "runs", 0)]})
    found = compare(ours, theirs)
    assert bool(found.difference) == differs and found.late_ns == apart


def test_scenarios_are_programs_and_say_what_they_show():
    scenarios = read_all()
    assert len(scenarios) >= 25
    for one in scenarios:
        parse_text(one.text, one.name)
    assert len({one.shows for one in scenarios}) == len(scenarios)


@pytest.mark.parametrize(
    "line, why",
    [("# colour: red", "none of"), ("# for: soon", "no time"), ("# at: 1ms burn 2", "no action")],
)
def test_a_wrong_line_is_refused(tmp_path, line, why):
    file = tmp_path / "one.txt"
    file.write_text(f"# shows: this\n# policy: rr\n{line}\nsaakm-program 1\n")
    with pytest.raises(SaakmError, match=str(file)) as caught:
        read(file)
    assert why in caught.value.why


def test_the_command_runs_one_side_alone_and_lists_what_there_is():
    done = CliRunner().invoke(app, ["agree", "yield", "slices", "--only", "simulator"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == ["yield", "slices", "2 of 2 scenarios run"]
    listed = json.loads(CliRunner().invoke(app, ["agree", "--list", "--json"]).stdout)
    assert len(listed) == len(read_all()) and all(one["shows"] for one in listed)
    shown = CliRunner().invoke(app, ["agree", "yield", "--list"]).stdout
    assert "│ yield" in shown and "│ slices" not in shown
    done = CliRunner().invoke(app, ["agree", "nosuch"])
    assert "there is no scenario 'nosuch'" in str(done.exception) and done.exception.status == 2


def test_what_differs_is_a_status_and_a_row(monkeypatch):
    def simulate(result):
        result.faults.append("it complained")

    monkeypatch.setattr(agree, "run_simulated", simulate)
    done = CliRunner().invoke(app, ["agree", "yield", "--only", "simulator", "--json"])
    (row,) = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (row["name"], row["agrees"], row["faults"]) == ("yield", None, ["it complained"])
