# SPDX-License-Identifier: GPL-2.0
"""Agents in the simulator: the policy `user`, its device, and programs that decide, all as they are."""

import json
import os
import re
import socket
import subprocess
from functools import cache
from pathlib import Path

import call
import pytest
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.base.procfs import unanswered
from saakm.builder import agents
from saakm.cli import app
from saakm.dev.agent_scaffold import agent_files
from saakm.lint import sources
from saakm.sim import costs, linking
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

WORKLOADS = [one.name for one in registry.listing()]
# What torture asks for and cannot have, as it changes the machine meanwhile.
EXPECTED = re.compile(
    r"was refused: -|keeps its policy: sched_setattr: (no policy has the id|policy \w+ was ejected)"
)
DUMP = "read=/sys/kernel/debug/saakm/dump"


@cache
def simulator(agent: str, kind: Kind = Kind.PLAIN) -> Path:
    module = read_module(paths.POLICIES / agents.POLICY)
    return build([module], Recipe(kind), agents.parse(agent))


def simulated(
    program: Path, directory: Path, workload: str, cpus: int, ms: int, *more: str
) -> subprocess.CompletedProcess[str]:
    """`more`: other options, and the agent's behind --."""
    text, table = directory / f"{cpus}.program", directory / "costs"
    text.write_text(to_text(registry.load(workload, cpus)))
    table.write_text(costs.text_for(costs.MEASURED, agents.POLICY))
    at = more.index("--") if "--" in more else len(more)
    machine = [f"cpus={cpus}", f"for={ms * 10**6}", "check=1", f"costs={table}"]
    command = [program, *machine, *more[:at], text, *more[at:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def result(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one for one in found["warnings"] if not EXPECTED.search(one)] == [], done.stderr
    return found


def rescued(done: subprocess.CompletedProcess[str]) -> int:
    """How many threads a CPU has run because the agent had not answered."""
    return unanswered(done.stderr)


@pytest.mark.parametrize("agent", ["fifo", "rustland"])
@pytest.mark.parametrize("cpus", [1, 4])
def test_workloads_run_and_repeat(agent, cpus, tmp_path):
    program, decisions = simulator(agent), 0
    for workload in WORKLOADS:
        first, again = (
            simulated(program, tmp_path, workload, cpus, 30, "interleave=20") for _ in range(2)
        )
        found = result(first)
        assert (first.stdout, first.stderr) == (again.stdout, again.stderr), workload
        (deciding,) = found["agents"]
        assert deciding["cpus"] == ("0" if cpus == 1 else "0-3") and deciding["rounds"]
        decisions += deciding["decisions"]
    assert decisions > 50


@pytest.mark.parametrize("options", [[], ["--no-fast-path", "--no-burst"]], ids=" ".join)
def test_every_wakeup_is_decided(options, tmp_path):
    """Where the kernel may place nobody itself, each has an event and a decision."""
    done = simulated(simulator("fifo"), tmp_path, "hackbench", 4, 1000, DUMP, "--", *options)
    found = result(done)
    (agent,) = found["agents"]
    assert agent["run_ns"] > 0 and agent["events"] >= agent["decisions"] > 500
    fast = sum(map(int, re.findall(r"on an idle CPU (\d+)", done.stderr)))
    assert (fast == 0) == bool(options)
    assert rescued(done) == 0 and agent["starts"] == 1
    assert "agent fifo 0.1.0 (pid" in done.stderr and ", 0 bounced" in done.stderr


def test_torture_takes_its_policy_from_under_it(tmp_path):
    """An agent whose policy has been ejected, and is loaded again, begins again."""
    for cpus in (1, 4):
        found = result(
            simulated(simulator("fifo"), tmp_path, "torture", cpus, 2500, "interleave=20")
        )
        assert found["agents"][0]["starts"] > 1


def test_an_agent_that_does_not_answer_is_not_waited_for(tmp_path):
    """It computes for 300 ms in each round: the kernel runs threads that have waited for 100 ms."""
    table = tmp_path / "slow"
    table.write_text("agent_round 300000000\n")
    done = simulated(simulator("fifo"), tmp_path, "hackbench", 4, 5000, f"costs={table}", DUMP)
    found = result(done)
    assert rescued(done) > 10
    groups = {group["name"]: group for group in found["groups"]}
    # All come to their end, and what they waited for is the limit, and a look each 5 ms.
    assert groups["receivers"]["iterations"] == 20
    assert 100e6 < groups["receivers"]["waits"]["max_ns"] < 130e6


def test_what_an_agent_costs_is_its_own_time(tmp_path):
    tables = ("agent_round 1\n", "agent_round 2000\nagent_event 10000\n", "wakeup 0\n")
    cheap, dear, free = (
        result(simulated(simulator("fifo"), tmp_path, "hackbench", 1, 1000, f"costs={file}"))
        for number, text in enumerate(tables)
        if (file := tmp_path / f"table{number}").write_text(text)
    )
    (agent,) = dear["agents"]
    assert agent["run_ns"] == agent["rounds"] * 2000 + agent["events"] * 10_000
    assert dear["end_ns"] > cheap["end_ns"] and not free["agents"][0]["run_ns"]
    assert not dear["cost_ns"]


# --- as a user meets it ---


def test_the_command_says_what_the_agent_did():
    done = call.saakm("sim", "user", "--agent", "fifo --slice-us 1000", "--workload", "hackbench",
                      "--for", "5ms", "--check", COLUMNS="200")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "user:fifo --slice-us 1000 on 1s4c: hackbench, seed 1" in " ".join(done.stdout.split())
    line = (
        r"agent of CPUs 0-3: [\d,]+ events, [\d,]+ decisions, [\d,]+ rounds?, ran for [\d.]+ [mu]s"
    )
    assert re.search(line, done.stdout)


def test_a_scheduler_may_have_an_agent_for_each_cache():
    found = json.loads(
        call.saakm(
            "sim", "user:rustland-llc", "--topology", "2s4c", "--for", "20ms", "--json"
        ).stdout
    )
    assert [agent["cpus"] for agent in found["agents"]] == ["0-3", "4-7"]
    assert all(agent["decisions"] for agent in found["agents"])
    again = subprocess.run(found["command"], capture_output=True, text=True)
    assert json.loads(again.stdout)["hash"] == found["hash"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["rr", "--agent", "fifo"], "--agent 'fifo' says nothing about 'rr'"),
        (["user:rustland", "--agent", "fifo"], "name two agents"),
        (["user", "--agent", "sleep 1"], "the agent 'sleep 1' cannot be simulated"),
        (["user", "--coverage", "covered"], "--coverage of a policy with an agent"),
        (["user", "--agent", "fifo", "--agent", "rustland"], "--agent is given 2 times"),
        (["user", "--param", "slice_us=0"], "module 'user' refuses --param slice_us=0"),
        (["user", "--param", "agents=1"], "module 'user' refuses --param agents=1"),
    ],
)
def test_what_is_refused(arguments, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["sim", *arguments])
    assert isinstance(done.exception, SaakmError), done.output
    assert done.exception.status == 2 and what in done.exception.what


def test_an_agent_may_have_some_of_the_cpus():
    """Of those that there are in the simulated machine, whatever the host has."""
    asked = ("--topology", "1s12c", "--for", "5ms", "--json")
    done = call.saakm("sim", "user", "--agent", "fifo --cpus 3-9 --domains cpu", *asked)
    assert [agent["cpus"] for agent in json.loads(done.stdout)["agents"]] == [*"3456789"]
    done = call.saakm("sim", "user", "--agent", "fifo --domains cpu", *asked[:-1])
    assert re.search(r"^12 agents: [\d,]+ events?, ", done.stdout, re.M)
    done = call.saakm("sim", "user", "--agent", "fifo --cpus 9-12", *asked)
    assert done.returncode == 2
    assert "there is no CPU 12; the simulated machine has CPUs 0-11" in done.stdout + done.stderr


def test_a_program_that_ends_by_itself_is_no_result(tmp_path):
    """What it prints is said, and never taken for the result."""
    done = simulated(simulator("fifo"), tmp_path, "hackbench", 4, 5, "--", "--version")
    assert (done.returncode, done.stdout) == (2, "")
    why = "before it began to schedule, the agent's program has ended by itself, with status 0"
    assert done.stderr.splitlines() == [f"{agents.CRATE} 0.1.0", why]
    done = simulated(simulator("fifo"), tmp_path, "hackbench", 4, 5, "--", "--wrong")
    assert done.returncode == 2 and "by itself" not in done.stderr


def test_an_agent_speaks_of_itself_by_its_name():
    done = call.saakm("sim", "user", "--agent", "fifo --wrong")
    assert done.returncode == 2 and "Usage: fifo [OPTIONS]" in done.stderr
    assert (
        "--take-over have no effect"
        in call.saakm("sim", "user", "--agent", "fifo --stats 1").stderr
    )


@pytest.mark.parametrize("name", ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"])
def test_flags_of_the_users_do_not_replace_ours(name, tmp_path, monkeypatch):
    """Cargo takes one of its sources of flags: without ours the program is no simulator."""
    asked = []
    monkeypatch.setattr(linking, "run_cargo", lambda *_, **names: asked.append(names))
    linking._cargo("mine", tmp_path, tmp_path, tmp_path / "sim.o", Recipe(Kind.PLAIN))
    monkeypatch.setenv(name, "")
    linking._cargo("mine", tmp_path, tmp_path, tmp_path / "sim.o", Recipe(Kind.PLAIN))
    assert asked[0] == {}
    assert asked[1]["CARGO_ENCODED_RUSTFLAGS"].startswith("--cfg\x1fsaakm_sim\x1f")


def test_a_simulator_for_tests_wants_an_agent():
    """What it is started by is crates/saakm-user: nobody else knows how."""
    answer = json.loads(call.saakm("sim", "user", "--agent-elsewhere").stdout)
    alone = subprocess.run([answer["simulator"], "cpus=4", "-"], capture_output=True, text=True)
    assert alone.returncode == 2 and "the first word is not agents=" in alone.stderr
    assert answer["program"].startswith("saakm-program 1\n") and Path(answer["costs"]).is_file()
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        words = [answer["simulator"], f"agents={theirs.fileno()}", "-"]
        gone = subprocess.run(words, input=answer["program"], pass_fds=[theirs.fileno()],
                              capture_output=True, text=True)  # fmt: skip
    assert (gone.returncode, gone.stderr) == (2, "sim: the agent's process has gone\n")


def test_properties_of_our_schedulers():
    """Of cargo's tests those that need a simulator: lint leaves them out."""
    assert not sources.cargo(paths.REPO, "test", "--locked", "--test", "simulator")


# --- what takes minutes ---


@pytest.mark.long
def test_an_agent_in_a_test_makes_the_same_run():
    """Of its own process, by messages, or linked in: to the simulator it is the same."""
    words = ["cargo", "test", "--quiet", "--locked", "--test", "simulator", "--"]
    done = subprocess.run(
        [*words, "--ignored", "--nocapture", "hash_of_fifos_run"], capture_output=True, text=True,
        cwd=paths.CRATES / agents.CRATE, env={**os.environ, "CARGO_TARGET_DIR": str(paths.CARGO)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    linked = call.saakm("sim", "user:fifo", "--for", "30ms", "--json")
    assert f"hash {json.loads(linked.stdout)['hash']}\n" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("agent", agents.OURS)
def test_sanitized(agent, tmp_path):
    program = simulator(agent, Kind.SANITIZE)
    for workload in WORKLOADS:
        for cpus, interleave in ((1, 0), (4, 7), (8, 50)):
            wanted = (f"interleave={interleave}", f"llc={max(cpus // 2, 1)}", "seed=2")
            result(simulated(program, tmp_path, workload, cpus, 60, *wanted))


FORGETS = """        self.arrivals += 1;
        if self.arrivals % 10 == 0 {
            return;
        }
"""
LOOKS = """        self.arrivals += 1;
        if self.arrivals % 1000 == 0 {
            let keys: std::collections::HashMap<u32, u32> = (0..9).map(|key| (key, 0)).collect();
            eprintln!("{:?} {:?}", std::time::SystemTime::now(), keys);
        }
"""


def project(directory: Path, begins: str) -> str:
    """As `saakm new --user` makes it, but for the beginning of a decision."""
    for name, text in agent_files("mine", directory).items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("        self.arrivals += 1;\n", begins))
    return str(directory)


@pytest.mark.long
def test_a_project_of_the_users(tmp_path):
    """Its clock and its tables are the same in each run; and of what it forgets the kernel knows."""
    mine, waits = tmp_path / "mine", []
    for begins, forgets in ((LOOKS, False), (FORGETS, True)):
        simulator.cache_clear()
        program = simulator(project(mine, begins))
        first, again = (
            simulated(program, tmp_path, "hackbench", 4, 20_000, DUMP) for _ in range(2)
        )
        assert (first.stdout, first.stderr) == (again.stdout, again.stderr)
        assert ("tv_nsec: " in first.stderr) != forgets
        groups = {group["name"]: group for group in result(first)["groups"]}
        assert bool(rescued(first)) == forgets and groups["receivers"]["iterations"] == 20
        waits.append(groups["receivers"]["waits"]["max_ns"])
    assert waits[0] < 50e6 and waits[1] > 100e6


ENDS = "        if self.arrivals == 9 {\n            std::process::exit(0);\n        }\n"
WAITS = "        if self.arrivals == 9 {\n            std::thread::park();\n        }\n"
COUNTS = "        self.arrivals += 1;\n"


@pytest.mark.long
def test_what_a_project_must_not_do_is_said(tmp_path):
    """But it may print, and where the result goes it does not matter."""
    found = {}
    for begins in (f'{COUNTS}print!("x");\n', COUNTS + ENDS, COUNTS + WAITS):
        simulator.cache_clear()
        program = simulator(project(tmp_path / "mine", begins))
        done = simulated(program, tmp_path, "hackbench", 4, 20_000)
        found[begins] = done
    printed, ended, waited = found.values()
    assert result(printed)["agents"] and "xxx" in printed.stderr
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "the agent's program has ended by itself, with status 0" in ended.stderr
    assert waited.returncode == 1
    assert "the agent's program waits, and must not but in PARK" in waited.stderr
