# SPDX-License-Identifier: GPL-2.0
"""What a kernel asks of fair is asked of a policy, and the first decision that differs is shown."""

import json
import re
import subprocess
import time

import pytest
from fair_recording import FairRecording
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.programs import compile_static
from saakm.cli import app
from saakm.commands import replay_fair as command
from saakm.lab.replay import fair_conduct
from saakm.lab.replay.build import build_fair
from saakm.lab.replay.calls import CALLS, FAIR_CALLS, FAIR_COUNTED, FAIR_MARK
from saakm.lab.replay.fair_conduct import FairAgreement, feature_line, replay_fair
from saakm.lab.replay.fair_record import FairRecorded
from saakm.lab.replay.scenarios import SCENARIOS, Scenario
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Recipe

FAIR = paths.REPO / "sim" / "fair"
MIXTURE = paths.GUEST_FILES / "mixture"
# Who wakes preempts, unless the parameter forbids it; the queue is a FIFO.
POLICY = """
#include <linux/saakm.h>

static bool wakeup_preemption = true;
module_param(wakeup_preemption, bool, 0644);

static bool preempts(struct task_struct *curr, struct task_struct *p)
{
	return wakeup_preemption;
}

static void dump(struct saakm_policy *policy, struct seq_buf *text)
{
	seq_buf_printf(text, "%u threads\\n", policy->nr_threads);
}

SAAKM_POLICY(wakes, .queue = SAAKM_RQ_FIFO, .wakeup_preempt = preempts, .dump = dump);
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    place = tmp_path_factory.mktemp("policy") / "wakes"
    place.mkdir()
    (place / "Kbuild").write_text("obj-m := wakes.o\n")
    (place / "wakes.c").write_text(POLICY)
    return read_module(place)


@pytest.fixture
def agree(module, tmp_path):
    def replayed(made, features=(), params=(), whole=True, module=module, states=False):
        made.write(tmp_path / "recording", whole)
        wanted = FairRecorded(Scenario("by-hand", "", (), features), 1, 1, states=states)
        program = build_fair(module, Recipe())
        begun = time.monotonic()
        return replay_fair(program, module, tmp_path / "recording", wanted, params, begun)

    return replayed


def two_threads(**changes):
    """The first runs, the second is woken."""
    made = FairRecording(**changes)
    for thread in (1, 2):
        made.forked(thread)
        made.enqueued(thread, new=True)
    made.picked(1)
    made.mark()
    made.sleeps(1)
    made.picked(2)
    made.enqueued(1)
    return made


def test_what_decides_alike_is_equal(agree):
    made = two_threads()
    made.preempts(1, True)
    made.picked(2)
    made.sleeps(2)
    made.picked(1)
    found = agree(made)
    assert found.holds, found.difference
    assert (found.picks, found.picks_of_boot, found.preemptions, found.delays) == (4, 1, 1, 0)


def test_another_pick_is_shown_with_both_states(agree):
    made = two_threads()
    made.preempts(1, True)
    made.picked(1)
    found = agree(made)
    assert not found.holds and found.picks == 2
    first, *rest = found.difference.splitlines()
    assert re.match(
        r"call \d+, pick_task_fair on CPU 0, .*: fair picks thread 1, the policy 2", first
    )
    text = "\n".join(rest)
    assert "current is thread 2" in text and "2 threads" in text
    assert found.calls == int(re.findall(r"call (\d+)", first)[0]) + 1


@pytest.mark.parametrize("there", [True, False])
def test_another_preemption_is_shown(agree, there):
    made = two_threads()
    made.preempts(1, there)
    found = agree(made, params=[f"wakeup_preemption={int(not there)}"])
    who = "the policy does not" if there else "fair does not"
    assert who in found.difference.splitlines()[0]


def test_a_request_of_an_enqueue_counts_when_the_preemption_is_decided(agree):
    made = FairRecording()
    for thread in (1, 2):
        made.forked(thread)
    made.enqueued(1, new=True)
    made.picked(1)
    made.mark()
    made.enqueued(2, new=True, resched=True)
    made.preempts(2, True)
    made.picked(1)
    assert not agree(made).difference


def test_a_delayed_dequeue_is_a_decision(agree):
    made = two_threads()
    made.preempts(1, True)
    made.sleeps(2, delayed=True)
    found = agree(made)
    assert "delayed dequeue" in found.difference.splitlines()[0] and found.delays == 0


def test_a_feature_is_a_parameter_from_when_it_changes(agree):
    made = two_threads(features=0x7)
    made.preempts(1, True)
    made.has_features(0x3)
    made.picked(2)
    made.sleeps(2)
    made.picked(1)
    made.enqueued(2)
    made.preempts(2, False)
    assert agree(made, features=("NO_WAKEUP_PREEMPTION",)).holds
    assert "the policy makes the running thread give way" in agree(made).difference


def test_a_feature_that_the_policy_lacks_is_refused(agree):
    made = two_threads(features=0x7)
    made.has_features(0x3)
    made.preempts(1, True)
    with pytest.raises(SaakmError, match="does not take run_to_parity=0"):
        agree(made, features=("NO_RUN_TO_PARITY",))


def test_a_call_that_cannot_be_made_ends_the_comparison(agree):
    made = two_threads()
    made.unknown()
    assert "cannot be made" in agree(made).difference


def test_what_is_cut_off_is_no_result(agree):
    with pytest.raises(SaakmError, match="cut off"):
        agree(two_threads(), whole=False)


def test_a_parameter_that_the_policy_lacks_is_refused(agree):
    with pytest.raises(SaakmError, match="has no parameter nosuch"):
        agree(two_threads(), params=["nosuch=1"])


# Its virtual time begins elsewhere, and follows the clock of the CPU.
ORDERED = """
#include <linux/saakm.h>

static unsigned int begins = 1000000, ahead;
module_param(begins, uint, 0444);
module_param(ahead, uint, 0444);

static u64 vruntime(const struct task_struct *task)
{
	return begins + 10 * task->pid + (task->pid == 2 ? ahead : 0);
}

static u64 deadline(const struct task_struct *task)
{
	return vruntime(task) + 700000;
}

SAAKM_POLICY(ordered, .queue = SAAKM_RQ_RBTREE, .key = deadline, .bound = vruntime);
"""


def test_virtual_times_are_compared_where_they_are_wanted(agree, tmp_path):
    place = tmp_path / "ordered"
    place.mkdir()
    (place / "Kbuild").write_text("obj-m := ordered.o\n")
    (place / "ordered.c").write_text(ORDERED)
    made = FairRecording()
    for thread in (1, 2):
        times = {"vruntime": 10 * thread, "deadline": 10 * thread + 700_000}
        made.forked(thread, **times)
        made.enqueued(thread, new=True)
    made.picked(1)
    made.mark()
    made.picked(1)
    ordered = read_module(place)
    equal = agree(made, module=ordered, states=True)
    assert equal.holds and equal.states >= 4
    assert agree(made, module=ordered).states == 0
    ahead = ["ahead=7"]
    assert agree(made, params=ahead, module=ordered).holds
    found = agree(made, params=ahead, module=ordered, states=True)
    what = "of thread 2 the policy has vruntime +7, deadline +7"
    assert what in found.difference.splitlines()[0]
    assert "READY 12 700012" in found.difference


def test_who_has_left_the_queue_is_a_decision(agree):
    made = two_threads()
    made.preempts(1, True)
    made.has_queued(3)
    made.picked(2)
    found = agree(made)
    assert "fair has 3 threads in its queue, the policy 2" in found.difference.splitlines()[0]


# --- what is recorded ---


def test_every_recorded_call_is_made_or_said_not_to_be():
    text = (FAIR / "calls.c").read_text() + (FAIR / "main.c").read_text()
    named = set(re.findall(r'"(\w+_(?:fair|entity))"', text))
    assert {function.name for function in FAIR_CALLS} - named == {"yield_to_task_fair"}
    assert named <= {function.name for function in FAIR_CALLS}


@pytest.mark.parametrize("function", FAIR_CALLS, ids=lambda f: f.name)
def test_signatures_are_those_that_the_recorder_reads(function):
    assert re.fullmatch(r"[rtice]{1,5}", function.arguments)
    assert function.returns in {"t", "i", "b", "-"}


def test_what_counts_is_recorded():
    assert {FAIR_MARK, FAIR_COUNTED} <= {function.name for function in FAIR_CALLS}
    assert not {f.name for f in FAIR_CALLS} & {f.name for f in CALLS}


# --- scenarios ---


def test_there_are_at_least_fifteen_scenarios_of_one_name_each():
    assert len(SCENARIOS) >= 15
    assert all(name == one.name and one.about for name, one in SCENARIOS.items())


def test_scenarios_use_what_the_mixture_knows():
    known = set(re.findall(r'\{ "(\w+)", &g->\w+ \}', (MIXTURE / "main.c").read_text()))
    groups = [group for one in SCENARIOS.values() for group in one.groups]
    assert all(re.fullmatch(r"\d+\*(\w+=-?\d+(--?\d+|-\d+)?,?)+", group) for group in groups)
    assert {key for group in groups for key in re.findall(r"(\w+)=", group)} == known


@pytest.mark.parametrize("group", ["3", "0*run=1", "2*nosuch=1", "999*run=1"])
def test_the_mixture_refuses_what_is_no_group(group):
    done = subprocess.run([compile_static(MIXTURE), group], capture_output=True, text=True)
    assert done.returncode == 2 and "mixture: " in done.stderr


@pytest.mark.parametrize(
    ("feature", "line"),
    [
        ("NEXT_BUDDY", "feature NEXT_BUDDY next_buddy old"),
        ("NO_NEXT_BUDDY", "feature NO_NEXT_BUDDY next_buddy 0"),
        ("NO_RUN_TO_PARITY", "feature NO_RUN_TO_PARITY run_to_parity 0"),
        ("PLACE_LAG", "feature PLACE_LAG place_lag 1"),
    ],
)
def test_a_feature_and_its_parameter(feature, line):
    assert feature_line(feature) == line


# --- the command ---


def agreement(wanted, **changes):
    given = {
        "scenario": wanted.scenario.name,
        "features": wanted.all_features,
        "policy": "fifo",
        "cpus": wanted.cpus,
        "kernel": wanted.config,
        "calls": 9,
        "picks": 5,
        "picks_of_boot": 2,
        "choices": 3,
        "preemptions": 2,
        "delays": 1,
        "states": 0,
        "difference": "",
        "seconds": 1.5,
    }
    return FairAgreement(**{**given, **changes})


@pytest.fixture
def compared(monkeypatch):
    """What is asked for; nothing is booted."""
    asked = []

    def compare(policy, wanted, params, keep, on_begin):
        asked.append((policy, list(wanted), params, keep))
        for one in asked[-1][1]:
            on_begin(one)
        return [agreement(one) for one in asked[-1][1]]

    monkeypatch.setattr(command, "compare_with_fair", compare)
    monkeypatch.setattr(command, "refuse_old_qemu", lambda: None)
    return asked


def invoke(*words):
    words = ("replay", *words, "--of", "fair")
    return CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb"})


def test_scenarios_on_each_number_of_cpus(compared, tmp_path):
    words = ["fifo", "--scenario", "slices,fork", "--cpus", "1,2", "--picks", "500", "--seed", "3"]
    params = ("slice_us=1", "on-violation=warn")
    given = [word for param in params for word in ("--param", param)]
    more = ["--features", "NEXT_BUDDY", *given, "--states"]
    done = invoke(*words, *more, "--keep", str(tmp_path / "kept"))
    assert done.exit_code == 0, done.output
    ((policy, wanted, passed, keep),) = compared
    assert policy.name == "fifo" and passed == params and keep.is_dir()
    told = [(one.scenario.name, one.cpus) for one in wanted]
    assert told == [("slices", 1), ("slices", 2), ("fork", 1), ("fork", 2)]
    same = {(one.picks, one.seed, one.all_features, one.config, one.states) for one in wanted}
    assert same == {(500, 3, ("NEXT_BUDDY",), "debug", True)}
    assert "slices" in done.output and "yes" in done.output


def test_all_scenarios_as_json(compared):
    done = invoke("fifo", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["scenario"] for row in rows] == list(SCENARIOS)
    assert {row["cpus"] for row in rows} == {1}
    kernels = {row["scenario"]: row["kernel"] for row in rows}
    assert (kernels["slices"], kernels["next-buddy"]) == ("base", "debug")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "--of fair is for one policy"),
        (["fifo", "rr"], "--of fair is for one policy"),
        (["fifo,rr"], "(?s)--of fair is for one policy.*2 are named"),
        (["nosuch"], "nosuch"),
        (["fifo", "--scenario", "nosuch"], "there is no scenario 'nosuch'"),
        (["fifo", "--scenario", ""], "there is no scenario ''"),
        (["fifo", "--param", "run_to_parity"], "is no parameter"),
        (["fifo", "--param", "slice_us=1, 2"], "is no parameter"),
        (["eevdf", "--param", "run_to_party=0"], "eevdf cannot be loaded with run_to_party=0"),
        (["fifo", "--cpus", "0"], "--cpus 0 is no list of numbers of CPUs"),
        (["fifo", "--features", "next_buddy"], "'next_buddy' is no feature of fair"),
        (
            ["fifo", "--scenario", "weights,next-buddy", "--features", "NO_NEXT_BUDDY"],
            "two settings of NEXT_BUDDY",
        ),
        (["fifo", "--workload", "hackbench"], "--workload has no effect on what is asked of fair"),
        (["fifo", "--kinds"], "--kinds has no effect"),
        (["fifo", "--of", "saakm", "--scenario", "slices"], "--scenario has no effect"),
        (["fifo", "--of", "saakm", "--states"], "--states has no effect"),
    ],
)
def test_bad_input(compared, words, what):
    with pytest.raises(SaakmError, match=what):
        CliRunner().invoke(app, ["replay", "--of", "fair", *words], catch_exceptions=False)
    assert not compared


def test_no_more_picks_are_recorded_than_a_disk_takes(compared):
    done = invoke("fifo", "--picks", "99999999999999999999")
    assert done.exit_code == 2 and "--picks" in done.output and not compared


def test_who_names_none_is_told_what_each_is_about(compared):
    with pytest.raises(SaakmError) as refused:
        CliRunner().invoke(
            app, ["replay", "fifo", "--of", "fair", "--scenario", "?"], catch_exceptions=False
        )
    assert all(f"{name}: {one.about}" in refused.value.why for name, one in SCENARIOS.items())


def test_what_differs_or_has_nothing_to_compare_does_not_hold():
    wanted = FairRecorded(SCENARIOS["slices"], 1, 10)
    assert agreement(wanted).holds
    assert not agreement(wanted, difference="call 8").holds
    assert not agreement(wanted, picks=2).holds


def test_what_differs_is_shown_with_status_1(compared, monkeypatch):
    def compare(policy, wanted, params, keep, on_begin):
        return [agreement(one, difference="call 8, pick") for one in wanted]

    monkeypatch.setattr(command, "compare_with_fair", compare)
    done = invoke("fifo", "--scenario", "slices")
    assert done.exit_code == 1
    assert "until call 9" in done.output and "call 8, pick" in done.output
    assert "it is not replayed" in done.output


def test_a_log_has_all_columns(compared):
    words = ("replay", "fifo", "--scenario", "mixed-buddy", "--of", "fair")
    done = CliRunner().invoke(app, words, env={"COLUMNS": "40", "TERM": "dumb"})
    assert "NEXT_BUDDY NO_RUN_TO_PARITY" in done.output and "…" not in done.output


@pytest.mark.parametrize("why", [KeyboardInterrupt, SaakmError])
def test_what_was_compared_before_an_end_is_shown(compared, monkeypatch, capsys, why):
    def compare(policy, wanted, params, keep, on_begin):
        yield agreement(wanted[0])
        raise why if why is KeyboardInterrupt else SaakmError("no", "the disk is full", "free some")

    monkeypatch.setattr(command, "compare_with_fair", compare)
    options = command.Options("slices,fork", 10, (), (), 1, False)
    with pytest.raises(why):
        command.run(paths.REPO, [1], options, None, as_json=False)
    said = capsys.readouterr().out
    assert "slices" in said and "yes" in said and "fork" not in said


def test_recordings_are_kept_where_they_are_wanted(monkeypatch, tmp_path, module):
    monkeypatch.setattr(fair_conduct, "record_fair", lambda one, out: out.write_text("recorded"))
    monkeypatch.setattr(
        fair_conduct, "replay_fair", lambda *given: agreement(given[3], seconds=given[5] and 1.0)
    )
    begun = []
    wanted = [FairRecorded(SCENARIOS["slices"], 2, 10)]
    found = list(
        fair_conduct.compare_with_fair(module.directory, wanted, (), tmp_path, begun.append)
    )
    assert begun == wanted and len(found) == 1
    assert (tmp_path / "fair-slices-2.recording").read_text() == "recorded"
