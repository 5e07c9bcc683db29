# SPDX-License-Identifier: GPL-2.0
"""saakm dev --sim, with saves as an editor makes them and real simulations."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.dev.agent_scaffold import agent_files
from saakm.dev.simulated import Run, Simulated
from saakm.dev.simulated_view import SimulatedView, tell
from saakm.model.schema import fit, plain
from saakm.model.simulation import Simulation
from saakm.sim.asked import Asked
from saakm.sim.table import Before, show

POLICY = """#include <linux/saakm.h>
static int *volatile nothing;
static int mine_prepare(struct process_event *event)
{
	return saakm_usable_cpu(event->task, event->prev_cpu);
}
SAAKM_POLICY(mine, .prepare = mine_prepare, .slice_us = 4000);
"""
USABLE = "saakm_usable_cpu(event->task, event->prev_cpu)"


@pytest.fixture
def policy(tmp_path):
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "Kbuild").write_text("obj-m := mine.o\n")
    (directory / "mine.c").write_text(POLICY)
    return directory


class Loop:
    """A saakm dev --sim --json, whose lines are read one by one."""

    def __init__(self, policy, *more):
        self._file = policy / "mine.c"
        self.child = subprocess.Popen(
            [sys.executable, "-m", "saakm", "dev", str(policy), "--sim", "--json", *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
        )  # fmt: skip

    def next(self):
        line = self.child.stdout.readline()
        return json.loads(line) if line else pytest.fail(self.child.stderr.read(), pytrace=False)

    def save(self, old, new):
        """To another file, which then takes its place."""
        text = self._file.read_text()
        assert old in text
        scratch = self._file.with_suffix(".new")
        scratch.write_text(text.replace(old, new))
        scratch.rename(self._file)
        return self.next()

    def interrupt(self):
        """As Ctrl-C; the status, and what it says of the whole."""
        self.child.send_signal(signal.SIGINT)
        # A run that was still under way is told first.
        while (ended := self.next())["event"] != "ended":
            pass
        return self.child.wait(), "\n".join(ended["summary"])

    def end(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()
        self.child.stderr.close()


@pytest.fixture
def loop(policy):
    loop = Loop(policy)
    assert loop.next()["event"] == "started"
    yield loop
    loop.end()


def test_save_mistake_mend(loop):
    first = loop.next()
    assert (first["event"], first["version"], first["saves"]) == ("ran", 1, 0)
    assert first["complaints"] == [] and first["simulation"]["end_ns"] > 0

    second = loop.save("4000", "1000")
    assert (second["event"], second["version"], second["saves"]) == ("ran", 2, 1)
    assert second["simulation"]["hash"] != first["simulation"]["hash"]

    mistake = loop.save("1000", "1000 +")
    assert (mistake["event"], mistake["version"]) == ("compile-error", 2)
    assert any(line.startswith("mine.c:7:") and "error:" in line for line in mistake["complaints"])

    lacking = loop.save("1000 +", "saakm_nosuch()")
    assert lacking["event"] == "compile-error"
    assert "the simulator has no name 'saakm_nosuch'" in lacking["complaints"][0]

    third = loop.save("saakm_nosuch()", "4000")
    assert (third["event"], third["version"]) == ("ran", 3)
    assert third["simulation"] == first["simulation"]  # which a seed repeats

    status, summary = loop.interrupt()
    assert status == 0
    assert "4 saves: 2 ran, 2 did not compile" in summary and "version 3: " in summary


def test_a_fault_is_named_and_the_loop_goes_on(loop):
    loop.next()
    ejected = loop.save(USABLE, "12345")
    assert (ejected["event"], ejected["version"]) == ("misbehaved", 2)
    said = "\n".join(ejected["complaints"])
    assert "policy 'mine' was ejected at 0." in said and "refused-placement" in said
    assert "gdb -ex 'break sim_misbehaved'" in said

    crashed = loop.save("12345", "*nothing")
    assert (crashed["event"], crashed["version"]) == ("crashed", 3)
    assert "ended by SIGSEGV in handler" in crashed["complaints"][0]

    refused = loop.save("*nothing", "0) + init(1").get("event")
    assert refused == "compile-error"
    mended = loop.save("0) + init(1", USABLE)
    assert (mended["event"], mended["version"]) == ("ran", 4)
    assert "1 MISBEHAVED, 1 CRASHED" in loop.interrupt()[1]


def test_a_first_version_that_does_not_compile_is_waited_for(policy):
    (policy / "mine.c").write_text("int\n")
    loop = Loop(policy)
    try:
        assert loop.next()["event"] == "started"
        assert (loop.next()["event"], loop.save("int\n", POLICY)["version"]) == ("compile-error", 1)
        assert loop.interrupt()[0] == 0
    finally:
        loop.end()


def test_all_options_on_a_terminal_of_words(policy):
    done = CliRunner().invoke(
        app,
        ["dev", str(policy), "--sim", "--plain", "--for", "0.001", "--topology", "1s2c", "--seed", "3",
         "--each-for", "2ms", "--load", "rr", "--param", "rr.slice_us=1000", "--set", "handler_limit_ms=500",
         "--free", "--sanitize", "--check", "--interleave", "9"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    first, second, title, *_ = done.stdout.splitlines()
    assert "mine on 1s2c: hackbench, seed 3; edit " in first and "version 1 ran (build" in second
    assert title.startswith("mine on 1s2c: hackbench, seed 3, version 1")
    assert "2.00 ms simulated" in done.stdout and "CPU wait" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["rr", "--sim", "--config", "debug"], "--config has no effect with --sim"),
        (["rr", "--sim", "--append", "quiet"], "--append has no effect with --sim"),
        (["rr", "--sim", "--cpus", "2", "--topology", "1s2c"], "--cpus and --topology exclude"),
        (["rr", "--sim", "--topology", "9s"], "'9s' is not a topology"),
        (["rr", "--sim", "--workload", "nosuch"], "there is no workload 'nosuch'"),
        (["rr", "--sim", "--each-for", "7"], "'7' is not a span of simulated time"),
        (["rr", "--sim", "--param", "nosuch=1"], "the simulator refuses what it is given"),
        (["none", "--sim"], "'none' cannot be simulated"),
        (["nosuch", "--sim"], "there is no policy 'nosuch'"),
    ],
)
def test_what_is_refused_at_once(arguments, what):
    done = CliRunner().invoke(app, ["dev", *arguments])
    assert isinstance(done.exception, SaakmError), done.output
    assert what in done.exception.what and done.exception.status == 2


def test_options_of_a_simulation_are_refused_in_a_guest():
    done = CliRunner().invoke(app, ["dev", "rr", "--each-for", "1s"])
    assert isinstance(done.exception, SaakmError)
    assert done.exception.what == "--each-for has no effect in a guest"


def test_a_newer_save_ends_a_run(policy, monkeypatch):
    """Whoever saves does not wait for what is of no use any more."""
    session = Simulated(Asked(str(policy), simulated="1s"), policy)
    waiting = iter([True])
    monkeypatch.setattr(session._saves, "waiting", lambda: next(waiting, False))
    monkeypatch.setattr(session._saves, "take", lambda: 2)
    try:
        found = session.update(1, lambda ns, events: None)
    finally:
        session.close()
    assert (found.outcome, found.version, found.saves) == ("ran", 1, 3)
    assert tell(found, "mine").startswith("3 saves at once: version 1 ran ")


def test_an_agent_that_is_the_users_is_watched(tmp_path):
    for name, text in agent_files("mine", tmp_path).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    session = Simulated(Asked("user", agent=str(tmp_path)), paths.POLICIES / "user")
    try:
        assert session.saved() == 0
        main = tmp_path / "src" / "main.rs"
        main.write_text(f"// saved\n{main.read_text()}")
        while not session.saved():
            time.sleep(0.01)
    finally:
        session.close()


def test_what_has_changed_stands_below_each_row(policy, capsys):
    session = Simulated(Asked(str(policy)), policy)
    try:
        first = session.first(lambda ns, events: None)
    finally:
        session.close()
    simulation = first.result.simulation
    view = SimulatedView(policy, as_json=False)
    view.ran(first)
    view.ran(Run(2, "ran", result=first.result, title=first.title))
    assert "version 1 ran exactly like this, event by event" in capsys.readouterr().out

    # One that ended early is nothing to compare the next with, and says so at the end.
    cut = fit(plain(simulation) | {"interrupted": True}, Simulation)
    view.ran(Run(3, "misbehaved", result=replace(first.result, misbehaved=True)))
    view.ran(Run(4, "ran", result=replace(first.result, simulation=cut)))
    assert "version 2 ran exactly like this" in capsys.readouterr().out.rpartition("version 4")[2]
    ended = "\n".join(view._summary())
    assert "simulated, but it misbehaved" in ended and "simulated, then interrupted" in ended

    document = plain(simulation)
    for group in document["groups"]:
        group["run_ns"] *= 2
        group["waits"]["p99_ns"] //= 2
    document |= {"hash": "0" * 16, "end_ns": simulation.end_ns * 2}
    before = Before(fit(document, Simulation), "version 7")
    console = Console(width=80)
    with console.capture() as capture:
        show(first.result, "", console, before)
    text = capture.get()
    assert text.count("vs version 7") == len(simulation.groups) + sum(
        1 + len(group.marks) for group in simulation.groups if group.waits.count
    )
    assert "-50%" in text and "+100%" in text and "simulated (-50% since)" in text
    assert max(map(len, text.partition("simulated")[0].splitlines())) <= 80
