# SPDX-License-Identifier: GPL-2.0
"""Agents of the policy `user`: how they are named, what is refused, and what stands before a command."""

import subprocess
from pathlib import Path

import pytest
from call import saakm

from saakm.base import cache, paths
from saakm.base.errors import BadInput, SaakmError
from saakm.builder import agents
from saakm.builder.policies import by_name
from saakm.commands import under
from saakm.dev import agent_scaffold
from saakm.lab.bench import schedulers
from saakm.lab.cost import measure, operations


@pytest.fixture
def program(tmp_path, monkeypatch):
    """One in a directory that a guest would see."""
    monkeypatch.setattr(cache, "HIDDEN", ())
    file = tmp_path / "mine"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("word", "without", "agent"),
    [
        ("user", "user", ""),
        ("user:rustland", "user", "rustland"),
        ("user:rustland --slice-us 5:slice_us=5:timeout_ms=0", "user:slice_us=5:timeout_ms=0", "rustland --slice-us 5"),
        ("user:slice_us=5", "user:slice_us=5", ""),
        ("user:./mine:x", "user", "./mine:x"),
        ("rr:slice_us=5", "rr:slice_us=5", ""),
        ("users:fifo", "users:fifo", ""),
    ],
)  # fmt: skip
def test_a_scheduler_and_its_agent(word, without, agent):
    assert agents.apart(word) == (without, agent)


def test_who_decides():
    assert agents.chosen("rr") is None
    assert agents.chosen("user").words == ("fifo",)
    assert agents.chosen(str(paths.POLICIES / "user")).words == ("fifo",)
    assert agents.chosen("user:rustland-llc").words == ("rustland-llc",)
    assert agents.chosen("user", "rustland --slice-us 5").words == ("rustland", "--slice-us", "5")


def test_a_program_has_a_place_before_it_runs_elsewhere(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    agent = agents.chosen("user", "./mine --fast")
    assert agent.command() == [str(program), "--fast"]
    assert agent.sources() == [program]
    assert agents.chosen("user", "sh mine").sources() == [program]


@pytest.mark.parametrize(
    ("word", "option", "what"),
    [
        ("rr", "fifo", "--agent 'fifo' says nothing about 'rr'"),
        ("user:nosuch", None, "there is no agent 'nosuch'"),
        ("user", "./nosuch", "there is no agent './nosuch'"),
        ("user:fifo", "rustland", "name two agents"),
        ("user", "'fifo", "is no command line"),
        ("user", " ", "has no name"),
        ("user", "", "has no name"),
        ("user", str(paths.POLICIES), "is no agent"),
    ],
)
def test_refusals(word, option, what):
    with pytest.raises(BadInput) as refused:
        agents.chosen(word, option)
    assert what in refused.value.what and refused.value.why and refused.value.next_step


@pytest.mark.parametrize(
    "words",
    [
        ["run", "rr", "--agent", "fifo", "--", "true"],
        ["trace", "rr", "--agent", "fifo", "--", "true"],
        ["dev", "rr", "--agent", "fifo"],
        ["dev", "rr", "--sim", "--agent", "fifo"],
        ["dev", "user", "--sim", "--agent", "sleep 1"],
        ["sim", "rr", "--agent", "fifo"],
        ["run", "user", "--agent", "", "--", "true"],
        ["run", "user", "--agent", "fifo", "--agent", "rustland", "--", "true"],
        ["trace", "user", "--agent", "fifo", "--agent", "fifo", "--", "true"],
        ["dev", "user", "--agent", "fifo", "--agent", "rustland"],
        ["dev", "user", "--sim", "--agent", "fifo", "--agent", "rustland"],
        ["bench", "--schedulers", "user", "--agent", "fifo", "--agent", "rustland"],
        ["cost", "--schedulers", "user", "--agent", "fifo", "--agent", "rustland"],
        ["bench", "--agent", "fifo"],
        ["cost", "--schedulers", "fifo", "--agent", "fifo"],
        ["cost", "--schedulers", "user:nosuch"],
        ["bench", "--schedulers", "user:nosuch"],
        ["run", "user:nosuch", "--", "true"],
    ],
)
def test_commands_refuse_before_they_build(words):
    done = saakm(*words, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n  why:  ") == done.stderr.count("\n  next: ") == 1


def test_the_option_is_given_once():
    assert under.one_agent(None) is None and under.one_agent(["rustland"]) == "rustland"
    assert under.one_agent([""]) == ""
    with pytest.raises(BadInput, match="is given 2 times: 'fifo', './mine'"):
        under.one_agent(["fifo", "./mine"])


def test_what_a_guest_does_not_see_is_refused(program, monkeypatch):
    monkeypatch.setattr(cache, "HIDDEN", (program.parent,))
    with pytest.raises(SaakmError, match="does not see the agent's"):
        under.chosen("user", agent_option=str(program))


def test_the_option_goes_where_no_agent_is_named():
    given = ("fair", "user", "user:fifo", "user:slice_us=5")
    filled = ("fair", "user:rustland", "user:fifo", "user:rustland:slice_us=5")
    assert agents.with_option(given, "rustland") == filled
    assert agents.with_option(given, None) == given
    with pytest.raises(BadInput, match="says nothing about fair"):
        agents.with_option(("fair", "user:fifo"), "rustland")


def test_as_schedulers_of_applications(program):
    user, slow = schedulers.chosen(["user", f"user:{program}:slice_us=9"])
    assert (user.name, user.agent, user.label) == ("user", "", "user")
    assert (slow.name, slow.agent, slow.settings) == ("user", str(program), ("slice_us=9",))
    found = schedulers.find(slow)
    assert found.policy == "user" and found.parameters == ("slice_us=9",)
    assert found.prefix[:2] == ("sh", "-c") and found.prefix[-3:] == ("exec", "user", "--")
    before = found.build
    program.write_text("#!/bin/sh\n:\n")
    assert schedulers.find(slow).build != before


def test_as_schedulers_whose_cost_is_counted(program):
    word = f"user:{program} --fast"
    assert by_name([word]) == {word: None} and operations.is_policy(word)
    assert operations.chosen_schedulers([word, "user:fifo"], patched=True) == [word, "user:fifo"]
    assert measure.loaded_policies(word, measure.Conditions()) == ["user"]
    agent = agents.chosen(word)
    with pytest.raises(BadInput, match="cannot be measured"):
        measure._program_of(agent, agent.command())


def run_under(tmp_path, agent, command, domains="1"):
    """As in a guest, but for the file that says how many domains have an agent."""
    attached = tmp_path / "agents"
    attached.write_text(f"{domains}\n")
    text = agents.script().replace("/sys/module/user/parameters/agents", str(attached))
    assert "-ge 2400" in text  # two minutes
    return subprocess.run(["sh", "-c", text.replace("-ge 2400", "-ge 100"), "under_agent", agent, *command],
                          capture_output=True, text=True, timeout=100)  # fmt: skip


def test_the_command_has_its_status_and_the_agent_ends(tmp_path):
    listens = f"trap 'echo ended >{tmp_path}/ended; exit' TERM; echo >{tmp_path}/listens"
    agent = f"echo schedules; {listens}; while :; do sleep 0.01; done"
    waits = f"until [ -e {tmp_path}/listens ]; do sleep 0.01; done"
    done = run_under(tmp_path, agent, ["sh", "-c", f"{waits}; echo out; exit 7"])
    assert (done.returncode, done.stdout) == (7, "out\n") and "schedules" in done.stderr
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize(
    ("agent", "domains", "what"),
    [
        ("echo no device >&2; exit 3", "0", "the agent has not started"),
        ("echo no device >&2; exec sleep 100", "0", "the agent decides about nothing"),
        ("echo no device >&2; echo $$ >PID", "1", "the agent has left its CPUs during the run"),
    ],
)
def test_an_agent_that_does_not_decide(tmp_path, agent, domains, what):
    pid = tmp_path / "pid"
    lives = f"grep -q ') [^ZX] ' /proc/$(cat {pid})/stat 2>/dev/null"
    ended = f"until [ -s {pid} ] && ! {lives}; do sleep 0.01; done"
    done = run_under(tmp_path, agent.replace("PID", str(pid)), ["sh", "-c", ended], domains)
    assert done.returncode == 1 and done.stderr.startswith(f"saakm: {what}\n")
    assert "  | no device\n" in done.stderr and "\n  next: " in done.stderr


def test_the_policy_is_not_loaded(tmp_path):
    done = subprocess.run(agents.prefix(["true"]) + ["true"], capture_output=True, text=True)
    if not Path("/sys/module/user").exists():
        assert done.returncode == 1 and "saakmctl load user" in done.stderr


def test_a_new_one(tmp_path):
    done = saakm("new", "--user", "my-own", "--dir", tmp_path)
    assert done.returncode == 0 and f"--agent {tmp_path}/my-own" in done.stdout
    there = {str(f.relative_to(tmp_path / "my-own")) for f in tmp_path.rglob("*") if f.is_file()}
    assert {"Cargo.toml", "src/main.rs", "README.md", ".cargo/config.toml"} <= there
    assert agents.program_of(tmp_path / "my-own") == "my-own"
    code = (tmp_path / "my-own/src/main.rs").read_text()
    assert "impl Scheduler for MyOwn {" in code and max(map(len, code.splitlines())) <= 100
    again = saakm("new", "--user", "my-own", "--dir", tmp_path)
    assert again.returncode == 2 and "exists already" in again.stderr
    both = saakm("new", "--user", "other", "--from", "rr", "--dir", tmp_path)
    assert both.returncode == 2 and "exclude each other" in both.stderr


@pytest.mark.parametrize(
    "name", ["", "Mine", "9", "fn", "fifo", "saakm-x", "a/b", "x" * 32, "deps"]
)
def test_names_that_a_new_one_cannot_have(name):
    assert agent_scaffold.fault_in_name(name)
