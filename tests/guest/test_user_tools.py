# SPDX-License-Identifier: GPL-2.0
"""The tools with the policy user: run, dev, cost, and docs/how-to/schedulers-in-user-space.md."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from call import saakm

from saakm.base import paths
from saakm.builder import agents

from .document import Reader, checkout  # noqa: F401
from .support import PROGRAMS, run_ok

PAGE = "how-to/schedulers-in-user-space.md"
pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(600)]
PYTHON = f"/usr/bin/python3 {PROGRAMS / 'fifo_agent.py'}"
WORK = "hackbench -g 1 -l 50"


def under(text, command):
    """For a shell in the guest."""
    agent = agents.parse(text)
    return shlex.join([*agent.prefix(), "saakmctl", "exec", "user", "--", *command])


@pytest.mark.parametrize("agent", [*agents.OURS, PYTHON])
def test_a_command_has_an_agent(guest, agent):
    guest.load("user")
    script = f"{WORK} && cat /sys/module/user/parameters/agents && grep ^name /proc/self/saakm"
    said = run_ok(guest, under(agent, ["sh", "-c", script])).splitlines()
    assert int(said[-2]) >= 1 and said[-1].split() == ["name", "user"]
    assert run_ok(guest, "cat /sys/module/user/parameters/agents") == "0\n"


def test_an_agent_that_dies_is_told_of(guest):
    guest.load("user")
    done = guest.run(under(f"{PYTHON} --die 100", WORK.split()))
    assert done.status == 1 and "has left its CPUs during the run" in done.stderr
    assert re.search(r"  \| ends after 1\d\d decisions", done.stderr), done.stderr
    done = guest.run(under(f"{PYTHON} --nosuch", ["echo", "ran"]))
    assert done.status == 1 and "has not started" in done.stderr and "--nosuch" in done.stderr
    assert not done.stdout


def test_the_status_is_the_commands():
    done = saakm("run", "user", "--deterministic", "--agent", PYTHON, "--", "sh", "-c", "exit 7")
    assert done.returncode == 7, done.stderr
    assert "not answered" not in done.stderr


@pytest.mark.parametrize("command", ["run", "trace"])
def test_threads_that_an_agent_forgets_are_told_of(command, tmp_path):
    words = (command, "user", *(("--output", tmp_path / "trace") if command == "trace" else ()))
    work = f"taskset -c 0 {WORK}; exit 7"
    words = (*words, "--deterministic", "--agent", f"{PYTHON} --forget 100")
    done = saakm(*words, "--", "sh", "-c", work)
    assert done.returncode == 7, done.stderr
    assert re.search(r"has not answered [\d,]+ times", done.stderr), done.stderr


def test_exact_runs_have_agents():
    script = "echo ran; cat /proc/uptime"
    # Of several CPUs a busy host may give QEMU other turns: see support.TURNS.
    words = ("run", "user:fifo", "--exact", "--cpus", "1", "--", "sh", "-c", script)
    first, second = saakm(*words), saakm(*words)
    assert first.returncode == second.returncode == 0, first.stderr
    assert first.stdout == second.stdout and first.stdout.startswith("ran\n")


def test_cost_counts_the_agent():
    """A thread that yields makes the agent run, which takes more than a turn of the kernel's."""
    done = saakm("cost", "--op", "yield", "--schedulers", "fifo,user,user:rustland", "--scale", "10",
                 "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    cost = {row["scheduler"]: row["instructions"] for row in json.loads(done.stdout)}
    assert cost["fifo"] < cost["user"] and cost["fifo"] < cost["user:rustland"]


def test_several_are_recorded_in_one_guest(tmp_path):
    """All events of each, and decisions where an agent takes them."""
    done = saakm("trace", "fair,user:fifo", "--deterministic", "--json", "--output", tmp_path,
                 "--cpus", "2", "--workload", "hackbench:process-pipes-1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    fair, user = json.loads(done.stdout)
    assert (fair["scheduler"], user["scheduler"]) == ("fair", "user:fifo")
    assert fair["decisions"] is None and fair["gaps"]["agent_percent"] == 0
    assert user["decisions"]["decisions"] > 10 and 0 < user["gaps"]["gaps"] < user["gaps"]["starts"]
    # Of the second recording, too, no kind of event is missing.
    assert user["lost"] == 0 and user["switches"] > 40 and user["calls"]["unblock_place"] > 0
    said = saakm("report", "--traces", *(one["directory"] for one in (fair, user)))
    assert said.stdout.count("| user:fifo | 1s2c |") == 2, said.stdout + said.stderr


def test_saves_take_over_live(tmp_path):
    directory = paths.CACHE / "tests" / "agents" / tmp_path.name  # a guest has a /tmp of its own
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    file = directory / "mine.py"
    shutil.copy(PROGRAMS / "fifo_agent.py", file)
    child = subprocess.Popen(
        [sys.executable, "-m", "saakm", "dev", "user", "--agent", f"/usr/bin/python3 {file}",
         "--json", "--for", "1000", "--workload", WORK],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )  # fmt: skip
    try:
        events = map(json.loads, child.stdout)
        assert next(event for event in events if event["event"] == "started")
        save(file, "def main():", "def main(:")
        refused = next(event for event in events if event["event"] not in ("sample", "started"))
        assert (refused["event"], refused["version"]) == ("refused", 1)
        assert any("SyntaxError" in line for line in refused["complaints"])
        save(file, "def main(:", "def main():  # mended")
        mended = next(event for event in events if event["event"] != "sample")
        assert (mended["event"], mended["version"]) == ("replaced", 2), mended["complaints"]
    finally:
        child.kill()
        child.wait()
        shutil.rmtree(directory, ignore_errors=True)


def save(file, old, new):
    """As editors do: to another file, which then takes its place."""
    scratch = file.with_suffix(".new")
    scratch.write_text(file.read_text().replace(old, new))
    scratch.rename(file)


FORGETS = "        if self.arrivals % 10 == 0 {\n            return;\n        }\n"


def cargo_test_as_written(checkout):  # noqa: F811
    """A scheduler that forgets threads is found. What lint has compiled of other crates is used."""
    command = "cd mine && cargo test"
    assert f"    {command}\n" in (paths.REPO / "docs" / PAGE).read_text()
    file, counts = checkout / "mine/src/main.rs", "        self.arrivals += 1;\n"
    right = file.read_text()
    for code, status in ((right, 0), (right.replace(counts, counts + FORGETS), 101)):
        file.write_text(code)
        done = subprocess.run(
            command, shell=True, cwd=checkout, capture_output=True, text=True,
            env={**os.environ, "CARGO_TARGET_DIR": str(paths.CARGO)},
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        assert "nobody_waits_long" in done.stdout
    file.write_text(right)


@pytest.mark.limit(1800)
def test_page_as_written(checkout):  # noqa: F811
    reader = Reader(checkout, PAGE)
    assert "It schedules as it is" in reader.run("./saakm new --user mine")
    cargo_test_as_written(checkout)
    assert "mine 0.1.0: schedules CPUs" in reader.run("./saakm run user --agent ./mine")
    assert "Time: " in reader.run("./saakm run user --agent './mine --slice-us 1000'")
    said = reader.run("./saakm dev user --agent ./mine",
                      instead="./saakm dev user --agent ./mine --plain --for 10 --workload true")  # fmt: skip
    assert "version 1 schedules: true" in said
    said = reader.run("./saakm trace user --agent ./mine")
    assert "trace-user" in said and " decisions, " in said and "gaps before" in said
    assert "user:./mine" in reader.run(
        "./saakm bench", instead="./saakm bench --rounds 1 --no-warm-up"
    )
    assert "user:./mine" in reader.run("./saakm cost", instead="./saakm cost --scale 5")
    assert reader.at_the_end()
