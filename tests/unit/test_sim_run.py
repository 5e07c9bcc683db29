# SPDX-License-Identifier: GPL-2.0
"""How a simulator is run and read, with programs that only print what one would."""

import io
import json
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.model.schema import fit
from saakm.model.simulation import Simulation
from saakm.sim import compile, scenario, table, traced, verdict
from saakm.sim import run as running
from saakm.sim.crash import Crashed
from saakm.sim.machine import parse_machine
from saakm.sim.run import Outcome, run
from saakm.sim.scenario import Origin, Scenario

DIST = {"count": 2, "sum_ns": 3000, "min_ns": 1000, "max_ns": 2000, "p50_ns": 1000, "p99_ns": 2000}
RESULT = {
    "form": 1, "seed": 7, "cpus": 4, "end_ns": 2 * 10**9, "interrupted": False, "events": 5000,
    "switches": 1200, "wakeups": 3, "ticks": 1, "forks": 0,
    "migrations": {"smt": 1, "llc": 2, "node": 3, "far": 4}, "idle_ns": 4 * 10**9, "cost_ns": 0,
    "hash": "0123456789abcdef", "policies": [{"name": "rr", "id": 1, "threads": 2, "ejected": None}],
    "groups": [{"name": "workers", "policy": "rr", "threads": 2, "run_ns": 1_500_000, "switches": 1,
                "preemptions": 2, "migrations": 3, "iterations": 4, "waits": DIST,
                "marks": {"request": DIST, "never": {"count": 0}}}],
    "warnings": [],
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for module in (scenario, traced):
        monkeypatch.setattr(module, "CACHE", tmp_path / "sim")
    return tmp_path


@pytest.fixture
def wanted():
    return Scenario(parse_machine("1s4c"), "saakm-program 1\n", seed=7, end_ns=10**9)


@pytest.fixture
def fake(tmp_path):
    def make(script):
        file = tmp_path / "fake"
        file.write_text(f"#!{sys.executable}\nimport json, os, signal, sys, time\n{script}")
        file.chmod(0o755)
        return file

    return make


def printing(result=RESULT, status=0):
    return f"print(json.dumps(json.loads({json.dumps(result)!r})))\nsys.exit({status})\n"


def test_the_command_line(wanted, tmp_path):
    machine = ["cpus=4", "smt=1", "llc=4", "node=4"]
    assert wanted.arguments()[:-1] == [*machine, "seed=7", "for=1000000000", "costs=free"]
    more = Scenario(
        parse_machine("1s1c"), "saakm-program 1\n", 1, 5, costs="tick 5\n", interleave=9, check=True,
        ipi_ns=0, params=("rr.slice_us=5",), settings=("on_violation=warn",),
    )  # fmt: skip
    words = more.arguments(progress_fd=3, trace=tmp_path / "t")
    assert words[6:12] == [
        words[6],
        "ipi=0",
        "interleave=9",
        "check=1",
        "rr.slice_us=5",
        "set=on_violation:warn",
    ]
    assert words[12:14] == [f"trace={tmp_path}/t", "progress=3"]
    assert Path(words[6].partition("=")[2]).read_text() == "tick 5\n"
    assert Path(words[-1]).read_text() == "saakm-program 1\n"
    assert wanted.arguments()[-1] == words[-1]


def test_a_run(wanted, fake):
    said = []
    script = """
fd = int(next(word for word in sys.argv if word.startswith("progress=")).partition("=")[2])
os.write(fd, b"10000000 50\\n20000000 90\\nnonsense\\n")
print("[0.000001] hello", file=sys.stderr)
"""
    outcome = run(fake(script + printing()), wanted, on_progress=lambda *now: said.append(now))
    assert said == [(10**7, 50), (2 * 10**7, 90)]
    assert outcome.simulation.seed == 7 and not outcome.misbehaved
    assert outcome.log == "[0.000001] hello\n"
    assert outcome.cpu_seconds > 0
    assert outcome.events_per_second == round(5000 / outcome.cpu_seconds)


def test_a_misbehaviour_has_a_result(wanted, fake):
    assert run(fake(printing(status=1)), wanted).misbehaved


def test_bad_input_is_told_in_its_words(wanted, fake):
    with pytest.raises(SaakmError) as error:
        run(fake("print('x.program:3: no such word', file=sys.stderr); sys.exit(2)"), wanted)
    assert error.value.why == "x.program:3: no such word"
    assert "again" in error.value.next_step


def test_a_crash_names_who_where_and_how_to_look(wanted, fake):
    script = "print(\"in handler 'block' of policy 'rr'\", file=sys.stderr, flush=True)\n"
    with pytest.raises(Crashed) as error:
        run(fake(script + "os.kill(os.getpid(), signal.SIGSEGV)"), wanted)
    said = error.value
    assert said.what == "the simulation was ended by SIGSEGV in handler 'block' of policy 'rr'"
    assert "seed 7" in said.why and "| in handler" in said.why
    assert (
        "gdb -ex 'break sim_misbehaved'" in said.next_step
        and "seed=7 for=1000000000" in said.next_step
    )
    assert said.status == 1


def test_a_report_of_a_sanitizer(wanted, fake):
    report = """
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1
    #0 0x401 in rr_block /work/policies/rr/rr.c:12
Shadow bytes around the buggy address:
"""
    script = f"sys.stderr.write({report!r}); sys.exit({running._SANITIZER})"
    with pytest.raises(Crashed) as error:
        run(fake(script), wanted)
    assert error.value.what == "the simulation was ended by a sanitizer"
    assert "heap-use-after-free" in error.value.why
    assert "in rr_block(), /work/policies/rr/rr.c:12" in error.value.why
    assert "Shadow" not in error.value.why


@pytest.mark.parametrize(
    ("number", "log", "what", "why", "status"),
    [
        ("SIGSEGV", "handler new_place of policy (none), CPU 0", "SIGSEGV in handler 'new_place'",
         "seed 7; what it said last", 1),
        ("SIGABRT", "", "SIGABRT", "abort(): perhaps libc, which found its memory damaged; seed 7; "
         "it said nothing before", 1),
        ("SIGKILL", "", "SIGKILL", "somebody killed it", 2),
    ],
)  # fmt: skip
def test_what_a_signal_means(wanted, fake, number, log, what, why, status):
    script = f"print({log!r}, file=sys.stderr, end='', flush=True)\n"
    with pytest.raises(Crashed) as error:
        run(fake(script + f"os.kill(os.getpid(), signal.{number})"), wanted)
    assert error.value.what == f"the simulation was ended by {what}"
    assert why in error.value.why and error.value.status == status


@pytest.mark.parametrize(
    ("printed", "why"),
    [("", "Expecting value"), ("{}", "missing required field"), ("[]", "Expected `object`")],
)
def test_no_result(wanted, fake, printed, why):
    with pytest.raises(Crashed) as error:
        run(fake(f"print({printed!r})"), wanted)
    assert error.value.what == "the simulation printed no result" and why in error.value.why


def test_another_form_of_the_result_is_refused():
    with pytest.raises(ValueError, match="`form` is 2"):
        fit({**RESULT, "form": 2}, Simulation)


def test_an_interrupt_is_passed_on_and_the_result_is_read(wanted, fake):
    """The program says that it is ready: nothing here depends on how long anything takes."""
    script = f"""
def stop(*_):
    {printing({**RESULT, "interrupted": True}).splitlines()[0]}
    sys.stdout.flush()
    os._exit(0)
signal.signal(signal.SIGINT, stop)
fd = int(next(word for word in sys.argv if word.startswith("progress=")).partition("=")[2])
os.write(fd, b"1 1\\n")
while True:
    time.sleep(60)
"""
    before = signal.getsignal(signal.SIGINT)

    def itself(*_):
        os.kill(os.getpid(), signal.SIGINT)

    outcome = run(fake(script), wanted, on_progress=itself, partial=True)
    assert outcome.simulation.interrupted
    assert signal.getsignal(signal.SIGINT) is before


def test_who_wants_all_of_it_is_interrupted(wanted, fake):
    """What compares takes the beginning of a simulation for no result: the first interrupt ends it."""
    script = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
fd = int(next(word for word in sys.argv if word.startswith("progress=")).partition("=")[2])
os.write(fd, b"1 1\\n")
while True:
    time.sleep(60)
"""
    with pytest.raises(KeyboardInterrupt):
        run(fake(script), wanted, on_progress=lambda *_: os.kill(os.getpid(), signal.SIGINT))


def test_what_ignores_interrupts_is_not_interrupted(wanted, fake):
    """A script's job in the background, when the script is."""
    script = f"""
signal.signal(signal.SIGINT, signal.SIG_DFL)  # as the simulator has a handler
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
fd = int(next(word for word in sys.argv if word.startswith("progress=")).partition("=")[2])
os.write(fd, f"{{os.getpid()}} 1\\n".encode())
signal.sigwait([signal.SIGUSR1])
{printing()}"""

    def interrupt(pid, _):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(pid, signal.SIGUSR1)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        outcome = run(fake(script), wanted, on_progress=interrupt, partial=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome.simulation.seed == 7


def test_a_second_interrupt_ends_it_all(wanted, fake):
    script = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
fd = int(next(word for word in sys.argv if word.startswith("progress=")).partition("=")[2])
os.write(fd, f"{os.getpid()} 1\\n".encode())
while True:
    time.sleep(60)
"""
    children = []

    def twice(pid, _):
        children.append(pid)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(fake(script), wanted, on_progress=twice, partial=True)
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)


def test_another_thread_may_run_one(wanted, fake):
    """Only the first thread of a program hears of signals."""
    found = []
    program = fake(printing())
    thread = threading.Thread(target=lambda: found.append(run(program, wanted)))
    thread.start()
    thread.join()
    assert found[0].simulation.seed == 7


def test_the_table(wanted, fake):
    outcome = run(fake(printing()), wanted)
    console = Console(width=80, file=io.StringIO())
    table.show(outcome, "rr on 1s4c", console)
    text = console.file.getvalue()
    rows = [[cell.strip() for cell in line.strip("│ ").split("│")] for line in text.splitlines()]
    assert ["workers", "2", "1.50 ms", "1", "2", "3", "4"] in rows
    for what in ("CPU wait", "request"):
        assert ["workers", what, "2", "1.50 us", "1.00 us", "2.00 us", "2.00 us"] in rows
    assert "never" not in text
    assert "2.00 s simulated" in text and "5,000 events" in text
    assert "10 migrations: 1 within a core, 2 within a cache, 3 within a node, 4 between" in text
    assert "CPUs idle 50.0%" in text


def test_files_of_a_run_are_kept_by_content():
    one, two = scenario.keep("a", "program"), scenario.keep("b", "program")
    os.utime(one, (0, 0))
    assert scenario.keep("a", "program") == one != two and one.stat().st_mtime > 0


def test_a_file_of_the_cache_is_not_trusted():
    kept = scenario.keep("a", "program")
    kept.write_text("damaged")
    assert scenario.keep("a", "program").read_text() == "a"


def test_the_users_own_files_are_read(wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = [Origin(name, Path(name)) for name in ("my.program", "a=b.costs")]
    words = replace(wanted, costs="", program_of=mine[0], costs_of=mine[1]).arguments()
    assert words[-1] == f"{tmp_path}/my.program" and f"costs={tmp_path}/a=b.costs" in words


def test_of_our_own_files_it_is_said_what_they_are_made_of(wanted, fake):
    script = """
costs = next(word for word in sys.argv if word.startswith("costs=")).partition("=")[2]
print(f"{sys.argv[-1]}:7: no lock\\n{costs}: no costs", file=sys.stderr)
sys.exit(2)
"""
    of = {"program_of": Origin("my.json"), "costs_of": Origin("dear.json")}
    made = replace(wanted, program="1\n2\n3\n4\n5\n6\n  unlock x\n", costs="", **of)
    with pytest.raises(SaakmError) as error:
        run(fake(script), made)
    first, second = error.value.why.splitlines()
    assert first == "in the program made of my.json, at 'unlock x': no lock"
    assert second == "in the costs made of dear.json: no costs"
    assert str(paths.CACHE) not in str(error.value)
    known = replace(made, program_of=Origin("my.json", lines=(0, 1, 0, 0, 0, 0, 12)))
    with pytest.raises(SaakmError) as error:
        run(fake(script), known)
    assert error.value.why.splitlines()[0] == "my.json:12: no lock"


def outcome_of(log, **more):
    return Outcome(fit({**RESULT, **more}, Simulation), True, log, 1.0, ())


def test_a_long_log_is_shown_in_part(capsys):
    lines = [f"line {number}" for number in range(100_000)]
    lines[5000] = "[1.0] saakm: policy 'rr' is at fault: it lies"
    assert verdict.tell(outcome_of("\n".join(lines) + "\n"), None) == 1
    *said, debugger = capsys.readouterr().err.splitlines()
    assert "gdb -ex 'break sim_misbehaved'" in debugger
    assert said[:200] == lines[:200] and said[-50:] == lines[-50:] and len(said) == 252
    assert said[201] == lines[5000]
    kept = said[200].partition("saakm: 99,750 lines are left out here; the whole is in ")[2]
    assert Path(kept).read_text().splitlines() == lines


@pytest.mark.parametrize("number", [0, 1, 250, 251])
def test_a_short_log_is_shown_whole(capsys, tmp_path, number):
    log = "hello\n" * number + "no end"
    verdict.tell(outcome_of(log), tmp_path / "kernel.log")
    said, _, debugger = capsys.readouterr().err.rpartition("\n  the same again, in a debugger")
    assert debugger.endswith("\n")
    assert (said == log) == (number < 251) and said.endswith(
        "hello\nno end"[-6 - 6 * (number > 0) :]
    )
    assert (f"1 lines are left out here; the whole is in {tmp_path}" in said) == (number == 251)


def test_an_ejection_on_request_is_no_fault():
    ends = {"user": "by modules/36", "stall": "ill did not run"}
    policies = [
        {
            "name": kind,
            "id": 1,
            "threads": 0,
            "ejected": {"kind": kind, "reason": why, "at_ns": 7000},
        }
        for kind, why in ends.items()
    ]
    assert verdict.sentences(replace(outcome_of("", policies=policies), misbehaved=False)) == [
        "saakm: policy 'user' was ejected at 0.000007 s on request, which is no fault (by modules/36)",
        "saakm: policy 'stall' was ejected at 0.000007 s: stall: ill did not run",
        "  next: docs/reference/safety.md on 'stall'",
    ]


def test_each_fault_is_told_once(capsys):
    """Those of the kernel stand in its log, too; one of the workload has nobody who complains."""
    both = ["WARN at rr.c:1: x [CPU 0]", "2 threads wait, and nobody is left who could wake them"]
    outcome = replace(outcome_of(f"[1.0] {both[0]}\n", warnings=both), misbehaved=False)
    assert verdict.tell(outcome, None) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"[1.0] {both[0]}",
        f"saakm: {both[1]}",
        f"saakm: the simulated kernel complained: {both[0]}",
    ]
    assert verdict.sentences(outcome_of("one two three", warnings=["one", "two", "three"]))[0] == (
        "saakm: the simulated kernel complained: one (and 2 complaints more)"
    )


def test_the_events_of_a_trace_leave_nothing_behind(tmp_path):
    with traced.events_file() as events:
        events.write_text("one")
        assert events.read_text() == "one" and not list((tmp_path / "sim" / "runs").iterdir())


def test_pictures_of_a_simulation_show_simulated_time(wanted, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(traced, "draw_pictures", lambda *arguments: asked.append(arguments))
    events = tmp_path / "events"
    events.write_text("")
    traced.write(events, fit(RESULT, Simulation), wanted.topology, tmp_path / "traced", "a title")
    assert [arguments[-2:] for arguments in asked] == [("a title", "simulated time")]


def test_tools_speak_plain_english(monkeypatch):
    """Else quotes and words would depend on the user's language."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert compile.run_tool(["sh", "-c", "echo $LC_ALL"]).stdout == "C\n"
    with pytest.raises(SaakmError, match="cannot be built"):
        compile.run_tool(["/no/such/compiler"])


def test_it_is_a_process_group_of_its_own(wanted, fake):
    """A terminal's interrupt comes to saakm alone."""
    script = "assert os.getpgid(0) == os.getpid()\n" + printing()
    assert run(fake(script), wanted).simulation.seed == 7
