# SPDX-License-Identifier: GPL-2.0
"""What is recorded in a kernel, and replayed in user space, is all that the core calls."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.commands import replay as command
from saakm.lab.replay import conduct, record
from saakm.lab.replay.calls import CALLS, EFFECTS, GLOBALS, OPAQUE

CLASS = paths.LINUX / "kernel" / "sched" / "saakm"
REPLAY = paths.REPO / "sim" / "replay"
# The watchdog's own round, in a worker: it decides nothing about threads that go on.
NOT_REPLAYED = {"saakm_patrol"}
# Hotplug, cgroups, topology and boot are not recorded.
NOT_RECORDED = {
    "saakm_rq_activate",
    "saakm_rq_deactivate",
    "saakm_init_rq",
    "saakm_server_bw",
    "saakm_server_attach_root",
    "saakm_update_topology",
}
NAMES = {function.name for function in CALLS}


def test_every_callback_of_the_class_is_recorded() -> None:
    text = (CLASS / "class.c").read_text()
    body = text[text.index("DEFINE_SCHED_CLASS(saakm)") :]
    callbacks = set(re.findall(r"^\t\.\w+\s*= (\w+),$", body[: body.index("};")], re.M))
    assert len(callbacks) > 15
    assert callbacks - {"set_cpus_allowed_common"} <= NAMES


def test_every_hook_of_the_core_is_recorded_or_said_not_to_be() -> None:
    text = (CLASS / "hooks.h").read_text()
    found = set(re.findall(r"^(?:struct )?\w+ \*?(\w*saakm_\w+)\([^;{]*\);$", text, re.M))
    hooks = {name for name in found if not name.startswith("saakm_cgroup")}
    assert len(hooks) > 20
    assert hooks - NAMES == NOT_RECORDED


def test_every_recorded_call_is_replayed_or_said_not_to_be() -> None:
    entries = set(re.findall(r"ENTRY\((\w+), \w+\)", (REPLAY / "calls.c").read_text()))
    assert NAMES - entries == NOT_REPLAYED
    assert entries - {"name_"} <= NAMES


def test_what_replaces_the_model_is_recorded() -> None:
    replaced = set(re.findall(r"model_of_(\w+)\(", (REPLAY / "effects.c").read_text()))
    recorded = {function.name for function in (*EFFECTS, *OPAQUE)}
    ours = {"open_softirq", "hrtimer_start"}  # asked for at boot; a wrapper in the kernel
    assert replaced - ours <= recorded


@pytest.mark.parametrize("function", [*CALLS, *EFFECTS, *OPAQUE], ids=lambda f: f.name)
def test_signatures_are_those_that_the_recorder_reads(function) -> None:  # type: ignore[no-untyped-def]
    assert re.fullmatch(r"[rtaib]{1,5}|-", function.arguments)
    assert function.returns in {"t", "i", "b", "-"}


def test_variables_are_known_to_the_replayer() -> None:
    known = set(re.findall(r"VARIABLE\((\w+), ", (REPLAY / "members.c").read_text()))
    assert known - {"name_"} == set(GLOBALS)


# --- the command ---


def agreement(policies=("rr",), **changes):
    counts = {"calls": 10, "equal": 8, "raced": 1, "tried": 20, "overlapping": 3, "not_replayed": 1}
    kinds = {"saakm_pick_task": {"calls": 10, "equal": 8, "overlapping": 3}}
    given = {"cpus": 2, **counts, "kinds": kinds, "difference": "", "seconds": 1.5, **changes}
    return conduct.Agreement(policies, **given)


@pytest.fixture
def compared(monkeypatch):
    """What is asked for; nothing is booted."""
    asked = []

    def compare_all(_kernel, wanted, keep, on_end):
        asked.append((list(wanted), keep))
        found = [agreement(tuple(policy.name for policy in one.policies)) for one in asked[-1][0]]
        for one in found:
            on_end(one)
        return found

    monkeypatch.setattr(command, "compare_all", compare_all)
    monkeypatch.setattr(command, "build_kernel", lambda _: None)
    monkeypatch.setattr(command, "refuse_old_qemu", lambda: None)
    return asked


def invoke(*words):
    return CliRunner().invoke(app, ["replay", *words], env={"COLUMNS": "200", "TERM": "dumb"})


def test_each_word_is_a_recording_on_each_number_of_cpus(compared, tmp_path):
    words = ["rr", "fifo,vtime", "--cpus", "2,4", "--calls", "500", "--seed", "3"]
    done = invoke(*words, "--workload", "changes", "--keep", str(tmp_path / "kept"), "--kinds")
    assert done.exit_code == 0, done.output
    ((wanted, keep),) = compared
    named = [(tuple(policy.name for policy in one.policies), one.cpus) for one in wanted]
    both = ("fifo", "vtime")
    assert named == [(("rr",), 2), (("rr",), 4), (both, 2), (both, 4)]
    assert {(one.seed, one.calls, one.command) for one in wanted} == {
        (3, 500, record.WORKLOADS["changes"])
    }
    assert keep == tmp_path / "kept" and keep.is_dir()
    assert "raced" in done.output and "saakm_pick_task" in done.output


def test_a_log_has_all_columns(compared):
    words = ["replay", "fifo,vtime", "--kinds"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "40", "TERM": "dumb"})
    assert "not replayed" in done.output and "…" not in done.output


def test_the_usual_ones_as_json(compared):
    done = invoke("--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["policies"] for row in rows] == [["fifo"], ["rr"], ["prio"], ["vtime"]]
    assert (rows[0]["raced"], rows[0]["tried"]) == (1, 20)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["nosuch"], "nosuch"),
        (["rr", "--cpus", "two"], "--cpus two is no list of numbers of CPUs"),
        (["rr", "--cpus", "65"], "--cpus 65 is no list of numbers of CPUs"),
        (["rr", "--workload", "nosuch"], "there is no workload 'nosuch'"),
    ],
)
def test_bad_input(compared, words, what):
    with pytest.raises(SaakmError, match=what):
        CliRunner().invoke(app, ["replay", *words], catch_exceptions=False)
    assert not compared


def test_what_differs_or_was_not_compared_does_not_hold():
    assert agreement().holds
    assert not agreement(difference="call 8").holds
    assert not agreement(equal=7).holds
    assert not agreement(calls=0, equal=0, raced=0, not_replayed=0).holds


@pytest.mark.parametrize(("number", "refused"), [((7, 2), True), ((10, 0), False)])
def test_an_old_qemu_is_refused(monkeypatch, number, refused):
    qemu = SimpleNamespace(program=Path("/q"), version=".".join(map(str, number)), number=number)
    monkeypatch.setattr(record, "needed_qemu", lambda: qemu)
    if refused:
        with pytest.raises(SaakmError, match="cannot be recorded"):
            record.refuse_old_qemu()
    else:
        record.refuse_old_qemu()
