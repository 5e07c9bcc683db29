# SPDX-License-Identifier: GPL-2.0
"""saakm sim as a user meets it: the class and policies themselves run here, in simulated machines.

No result depends on how long anything takes: simulated time is a number, and a seed repeats.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import call
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.policies import policies
from saakm.cli import app
from saakm.sim import costs
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Compiler, Kind, Recipe
from saakm.sim.machine import parse_machine
from saakm.sim.run import run
from saakm.sim.scenario import Scenario

ENDLESS = """\
saakm-program 1
mark turn
group spinner 3 0 main 0 all none
group sleeper 2 0 main 0 all none
program spinner
  loop forever
    run uniform:1000:900000
    iteration
    yield
  end
end
program sleeper
  loop forever
    sleep exponential:300000
    mark_begin turn due
    run 50000
    mark_end turn
  end
end
"""


saakm = partial(call.saakm, "sim", COLUMNS="200")


def result(*arguments, status=0):
    done = saakm(*arguments, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def endless(tmp_path):
    file = tmp_path / "endless.program"
    file.write_text(ENDLESS)
    return str(file)


def scenario(seed=1, topology="2s1c", **more):
    costs_of = costs.text_for(costs.MEASURED, "rr")
    return Scenario(parse_machine(topology), ENDLESS, seed, 10**8, costs=costs_of, **more)


@cache
def told(recipe, seed=1, policy="rr"):
    """All that a run says, in one text."""
    program = build([read_module(paths.POLICIES / policy)], recipe)
    outcome = run(program, scenario(seed), environment={"LLVM_PROFILE_FILE": os.devnull})
    return f"{outcome.simulation}\n{outcome.log}"


# --- the same, whatever the host does ---


def test_a_seed_repeats_and_another_one_does_not():
    again = run(build([read_module(paths.POLICIES / "rr")], Recipe()), scenario())
    assert f"{again.simulation}\n{again.log}" == told(Recipe())
    assert told(Recipe(), seed=2) != told(Recipe())


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(level="-O0"),
        # A wider mask of CPUs makes no difference either; test_coverage() has the same program.
        Recipe(Kind.COVERAGE, Compiler.CLANG, nr_cpus=1024),
        Recipe(Kind.SANITIZE),
    ],
    ids=["O0", "clang", "sanitize"],
)
def test_no_compiler_makes_a_difference(recipe):
    assert told(recipe) == told(Recipe())


# --- what it prints ---


@pytest.mark.parametrize("policy", policies())
def test_each_policy_runs(policy, endless):
    found = result(policy, "--workload", endless, "--for", "50ms", "--check")
    assert found["end_ns"] == 50_000_000 and not found["misbehaved"] and not found["warnings"]
    assert [(p["name"], p["ejected"]) for p in found["policies"]] == [(policy, None)]
    groups = {group["name"]: group for group in found["groups"]}
    assert groups["spinner"]["threads"] == 3 and groups["spinner"]["policy"] == policy
    # Three of them on four CPUs, with two that seldom run: they have nearly all of three.
    assert 140_000_000 < groups["spinner"]["run_ns"] <= 150_000_000
    assert groups["spinner"]["iterations"] > 100
    assert groups["sleeper"]["marks"]["turn"]["count"] > 50
    assert found["events_per_second"] > 0 and found["command"][-1].endswith(".program")


def test_the_table(endless):
    done = saakm("fifo", "--workload", endless, "--for", "50ms", "--free", "--seed", "3",
                 "--compiler", "gcc")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "spinner" in done.stdout and "turn" in done.stdout
    assert re.search(r"costs of scheduling 0\.0%; hash [0-9a-f]{16}", done.stdout)


def test_the_workloads():
    listed = {one["name"]: one for one in json.loads(saakm("--list", "--json").stdout)}
    assert "hackbench" in listed and listed["hackbench"]["what"]
    text = saakm("--list").stdout
    assert all(name in text for name in listed)


def test_the_workloads_fit_a_terminal_of_80_columns():
    """An option has a line, or two, and no column of a few words."""
    lines = saakm("--list", COLUMNS="80").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "   fds=20     senders, and receivers, of a group" in map(str.rstrip, lines)
    broken = [line for line in lines if line.startswith("   ") and len(line.split()) == 1]
    assert len(broken) < len(lines) / 20


def test_sanitized_with_races_on_another_machine(endless, tmp_path):
    found = result("rr", "--workload", endless, "--for", "20ms", "--sanitize", "--check",
                   "--interleave", "50", "--topology", "2s1l2c2t", "--out", str(tmp_path / "out"))  # fmt: skip
    assert found["cpus"] == 8
    kept = {file.name for file in (tmp_path / "out").iterdir()}
    assert kept == {"result.json", "kernel.log", "workload.program", "costs.txt"}
    assert json.loads((tmp_path / "out" / "result.json").read_text())["hash"] == found["hash"]
    kept_program = (tmp_path / "out" / "workload.program").read_text()
    assert kept_program.split() == ENDLESS.split()


def test_several_policies_and_what_is_set(endless):
    found = result("rr", "--load", "vtime", "--load", "tests/guest/modules/sbf", "--workload", endless,
                   "--for", "20ms", "--param", "slice_us=2000", "--set", "on_violation=warn")  # fmt: skip
    assert [policy["name"] for policy in found["policies"]] == ["rr", "vtime", "sbf"]


def test_costs_count(endless, tmp_path):
    table = tmp_path / "costs.txt"
    table.write_text("switch 100000\nrate 1000\n")
    dear, free = (
        result("rr", "--workload", endless, "--for", "20ms", *more)
        for more in (["--costs", str(table)], ["--free"])
    )
    # Who is woken before a switch to the idle thread is over does not wait for its end.
    charged = 100_000 * dear["switches"]
    assert 0.8 * charged < dear["cost_ns"] <= charged and not free["cost_ns"]


def test_idle_time_and_costs_exclude_each_other(tmp_path):
    """One thread on one CPU: each of its 20 sleeps begins with a switch, and ends with another one."""
    table, program = tmp_path / "costs.txt", tmp_path / "sleeps.program"
    table.write_text("switch 50000\nrate 1000\n")
    program.write_text("""\
saakm-program 1
group a 1 0 main 0 all none
program a
  loop 20
    run 100000
    sleep 200000
  end
end
""")
    of = ["rr", "--topology", "1s1c", "--workload", str(program), "--costs", str(table)]
    found = result(*of)
    of_idle, costs = 20 * (200_000 - 50_000), 2 * 20 * 50_000
    assert of_idle <= found["idle_ns"] <= of_idle + 100_000
    assert costs <= found["cost_ns"] <= costs + 500_000  # kernel threads
    assert found["idle_ns"] + found["cost_ns"] + 20 * 100_000 == found["end_ns"]
    assert "CPUs idle 40.5%, costs of scheduling 32.4%;" in saakm(*of).stdout


def test_a_trace_as_of_a_guest(endless, tmp_path):
    directory = tmp_path / "trace"
    found = result("rr", "--workload", endless, "--for", "20ms", "--trace", str(directory))
    names = {file.name for file in directory.iterdir()}
    pictures = {f"{name}.png" for name in ("migrations", "residency", "queues", "latency", "share")}
    assert names == {"trace.perfetto-trace", "summary.json", *pictures}
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["threads"] == 5 and summary["lost"] == 0
    # Those to idle and to kernel's threads are not the policy's.
    assert 0 < summary["switches"] <= found["switches"]
    trace = pb.Trace()
    trace.ParseFromString((directory / "trace.perfetto-trace").read_bytes())
    assert len(trace.packet) > 100


def test_a_trace_alone(endless, tmp_path):
    file = tmp_path / "rr.perfetto-trace"
    done = saakm("rr", "--workload", endless, "--for", "5ms", "--trace", str(file))
    assert done.returncode == 0 and f"{file}: open it" in done.stdout
    assert file.stat().st_size > 1000 and len(list(tmp_path.iterdir())) == 2


def test_coverage(endless, tmp_path):
    directory = str(tmp_path / "c")
    wanted = ("prio", "--workload", endless, "--topology", "2s64c", "--coverage", directory)
    found = result(*wanted, "--for", "20ms")
    rows = {row["file"]: row for row in found["coverage"]}
    assert 0 < rows["policies/prio/prio.c"]["lines_run"] <= rows["policies/prio/prio.c"]["lines"]
    ours = rows["linux/kernel/sched/saakm/elect.c"]
    assert 0 < ours["lines_run"] <= ours["lines"] and 0 < ours["branches_run"] < ours["branches"]
    assert (tmp_path / "c" / "index.html").exists()
    done = saakm(*wanted, "--for", "20ms")
    assert "policies/prio/prio.c" in done.stdout and "index.html" in done.stdout
    assert re.search(r"lines run . +% . branches run . +% ", done.stdout)


def test_an_interrupt_ends_it_with_what_there_is(endless):
    """The first line of progress says that it simulates; after that no span of time counts."""
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, "rr", "--workload", endless, "--for", "10h", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )
    out, err = child.communicate()
    # By the signal: bash goes on with a loop after a program that exits by itself.
    assert child.returncode == -signal.SIGINT, err
    found = json.loads(out)
    assert found["interrupted"] and 0 < found["end_ns"] < 10 * 3600 * 10**9


# As a terminal would, at the first word of the simulator.
INTERRUPTED = """
import os, signal, sys
from saakm.sim import run

report = run._report

def interrupt(line, on_progress):
    report(line, on_progress)
    os.kill(os.getpid(), signal.SIGINT)
    run._report = report

run._report = interrupt
sys.argv = ["saakm", "sim", *sys.argv[1:]]
from saakm.cli import main
main()
"""


# --- what is refused, and what goes wrong ---


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "no policy is named"),
        (["nosuch"], "there is no policy 'nosuch'"),
        (["none"], "'none' cannot be simulated"),
        (["rr", "--topology", "9s"], "'9s' is not a topology"),
        (["rr", "--topology", "9s4l64c2t"], "makes no sense"),
        (["rr", "--for", "10"], "'10' is not a span of simulated time"),
        (["rr", "--free", "--costs", "x"], "--free and --costs exclude each other"),
        (["rr", "--sanitize", "--coverage", "x"], "--sanitize and --coverage exclude each other"),
        (["rr", "--sanitize", "--compiler", "clang"], "--compiler clang exclude each other"),
        (["rr", "--costs", "/nosuch"], "/nosuch is not a table of costs"),
        (["rr", "--load", "policies/rr"], "two modules are called 'rr'"),
        (["rr", "--param", "slice_us"], "--param slice_us sets nothing"),
        (["rr", "--param", "vtime.x=1"], "is of no module that is loaded"),
        (["rr", "--set", "on_violation"], "--set on_violation sets nothing"),
        (["rr", "--param", "nosuch=1"], "the simulator refuses what it is given"),
        (["rr", "--set", "nosuch=1"], "the simulator refuses what it is given"),
        (["rr", "--load", "policies/rr:other"], "policies/rr:other names no policy"),
        (["policies/rr/rr.c"], "policies/rr/rr.c is not a policy's directory"),
        (["rr", "--workload", "policies"], "policies: it is no workload"),
        (["rr", "--workload", "/dev/null"], "/dev/null: it is no workload"),
        (["rr", "--workload", "nosuch"], "nosuch"),
        (["rr", "--workload", "/nosuch.json"], "/nosuch.json"),
        (["rr", "--trace", "/proc/x/y"], "cannot write"),
        (["rr", "--out", "README.md"], "cannot write into README.md"),
    ],
)
def test_errors_say_what_why_and_what_next(arguments, what, monkeypatch):
    monkeypatch.chdir(paths.REPO)
    done = CliRunner().invoke(app, ["sim", *arguments])
    assert isinstance(done.exception, SaakmError), done.output
    assert done.exception.status == 2 and done.stdout == ""
    assert what in done.exception.what and done.exception.why and done.exception.next_step


@pytest.mark.parametrize("option", ["--trace", "--coverage", "--out"])
def test_what_it_writes_goes_into_no_directory_of_somebody_else(option, tmp_path, endless):
    """It takes one that it has written before, also if nothing came of that."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "index.html").write_text("mine")
    for name, why in (
        ("full", "it is not empty, and has no "),
        ("endless.program/x", "a part of that path is a file"),
        ("/proc/x", "it may not be written there"),
    ):
        done = saakm("rr", option, str(tmp_path / name))
        assert done.returncode == 2 and f"  why:  {why}" in done.stderr
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["index.html"]
    own = str(tmp_path / "own")
    for more, status in (["--set", "x=1"], 2), ([], 0), ([], 0):
        done = saakm("rr", "--workload", endless, "--for", "5ms", option, own, *more)
        assert done.returncode == status, done.stderr


def test_an_error_is_an_exit_status_and_a_sentence():
    done = saakm("rr", "--set", "nosuch=1")
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr
    said = "--set nosuch=1: there is no such file; there are check_transitions, "
    assert f"saakm: the simulator refuses what it is given\n  why:  {said}" in done.stderr
    example = re.search(r"as (\w+=\d+); may", saakm("--help").stdout.partition("--set")[2])
    assert example and saakm("rr", "--for", "1ms", "--set", example[1]).returncode == 0
    done = saakm("rr", "--param", "slice_us=x")
    assert "why:  --param rr.slice_us=x: the module does not take that" in done.stderr


def test_a_fault_in_a_workload_is_in_the_users_file(tmp_path):
    file = tmp_path / "mine.program"
    text = "# mine\n\nsaakm-program 1\nmutex m 1\ngroup g 1 0 main 0 all none\nprogram g\nunlock m\nend\n"
    file.write_text(text)
    done = saakm("rr", "--workload", str(file))
    assert done.returncode == 2 and f"why:  {file}:7: thread 0 of group 'g'" in done.stderr


def test_where_a_workload_loops_is_said_as_the_user_calls_it(tmp_path):
    text = "saakm-program 1\ngroup g 1 0 main 0 all none\nprogram g\nloop forever\nend\nend\n"
    (tmp_path / "mine.program").write_text(text)
    task = {"loop": -1, "phases": {"p": {"loop": 9, "yield": ""}}}
    (tmp_path / "mine.json").write_text(json.dumps({"tasks": {"g": task}}))
    for name, place in ("mine.program", "mine.program:5"), ("mine.json", "mine.json:1"):
        done = saakm("rr", "--free", "--workload", name, cwd=tmp_path)
        said = f"  why:  {place}: thread 0 of group 'g' never stops"
        assert done.returncode == 2 and said in done.stderr
        assert str(tmp_path) not in done.stderr and str(paths.CACHE) not in done.stderr


RTAPP = """{
  "tasks": {
    "first": { "instance": 2, "run": 1000, "sleep": 100 },
    "second": {
      "run": 1000, "saakm": "%s"
    }
  },
  "global": { "duration": 2 }
}
"""


def test_a_file_of_rt_app_is_named_with_its_line_and_says_how_long(tmp_path):
    file = tmp_path / "two.json"
    file.write_text(RTAPP % "nosuch")
    done = saakm("rr", "--workload", str(file))
    assert done.returncode == 2
    assert f"why:  {file}:4: no policy is loaded that is called 'nosuch'\n" in done.stderr
    file.write_text(RTAPP % "rr")
    assert result("rr", "--workload", str(file))["end_ns"] == 2 * 10**9
    assert result("rr", "--workload", str(file), "--for", "10ms")["end_ns"] == 10**7


def test_an_interrupt_while_it_starts_is_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = saakm("rr", PYTHONPATH=f"{tmp_path}:{paths.REPO / 'src'}")
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


FAILS = """#include <linux/saakm.h>
static int __init mine_init(void)
{
	return -EINVAL;
}
module_init(mine_init);
MODULE_LICENSE("GPL");
"""


def test_a_module_that_does_not_start_is_a_fault(tmp_path):
    done = told_of(mine(tmp_path, FAILS))
    assert done.returncode == 1
    assert "saakm: module 'mine' could not be loaded: -EINVAL\n  why:  its init" in done.stderr


def mine(tmp_path, text):
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "Kbuild").write_text("obj-m := mine.o\n")
    (directory / "mine.c").write_text(text)
    return directory


def told_of(directory, *arguments):
    done = saakm(str(directory), "--for", "5ms", *arguments)
    assert "Traceback" not in done.stderr
    return done


def test_a_policy_elsewhere_and_its_warnings(tmp_path, endless):
    directory = mine(
        tmp_path,
        """#include <linux/saakm.h>
static int unused;
SAAKM_POLICY(mine);
""",
    )
    done = told_of(directory, "--workload", endless)
    assert done.returncode == 0, done.stderr
    assert f"{directory}/mine.c:2:12: warning: 'unused' defined but not used" in done.stderr


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("#include <linux/kprobes.h>", "the simulator has no header <linux/kprobes.h>"),
        ("int f(void); int f(void) { return kthreadd_run(); }", "has no name 'kthreadd_run'"),
        (
            "int nobody_has_this(void); int f(void); int f(void) { return nobody_has_this(); }",
            "has no function or variable 'nobody_has_this'",
        ),
    ],
)
def test_what_the_simulator_does_not_have(tmp_path, code, what):
    directory = mine(tmp_path, f"#include <linux/saakm.h>\n{code}\nSAAKM_POLICY(mine);\n")
    done = told_of(directory)
    assert done.returncode == 2 and what in done.stderr
    assert f"{directory}/mine.c:2 uses it" in done.stderr and "saakm run" in done.stderr


WRITES_FAR = """#include <linux/saakm.h>
static char *small;
static int mine_prepare(struct process_event *event)
{
	small = kmalloc(8, GFP_ATOMIC);
	((volatile char *)small)[8] = 1;
	return saakm_usable_cpu(event->task, 0);
}
SAAKM_POLICY(mine, .prepare = mine_prepare);
"""
SHIFTS_FAR = """#include <linux/saakm.h>
static volatile int bits = 40;
static int mine_prepare(struct process_event *event)
{
	return saakm_usable_cpu(event->task, (1 << bits) & 1);
}
SAAKM_POLICY(mine, .prepare = mine_prepare);
"""
READS_NOTHING = """#include <linux/saakm.h>
static int *volatile nothing;
static int mine_prepare(struct process_event *event)
{
	return *nothing;
}
SAAKM_POLICY(mine, .prepare = mine_prepare);
"""


@pytest.mark.parametrize(
    ("code", "options", "how"),
    [
        (WRITES_FAR, ["--sanitize"], "ended by a sanitizer"),
        (SHIFTS_FAR, ["--sanitize"], "ended by a sanitizer"),
        (READS_NOTHING, [], "ended by SIGSEGV"),
    ],
    ids=["asan", "ubsan", "signal"],
)
def test_a_crash_says_who_it_was_and_how_to_look(tmp_path, endless, code, options, how):
    directory = mine(tmp_path, code)
    out = directory / "out"
    done = told_of(directory, "--workload", endless, *options, "--json", "--out", str(out))
    told = json.loads(done.stdout)
    assert done.returncode == 1 and told["misbehaved"] and how in told["error"]["what"]
    assert {file.name for file in out.iterdir()} == {"kernel.log", "workload.program", "costs.txt"}
    first = done.stderr[done.stderr.index("saakm: the simulation") :].splitlines()[0]
    assert f"{how} in handler 'unblock_prepare' of policy 'mine'" in first
    assert "seed 1" in done.stderr and "gdb -ex 'break sim_misbehaved' " in done.stderr
    command = done.stderr.partition(" --args ")[2].split()
    assert Path(command[0]).exists() and Path(command[-1]).read_text().split() == ENDLESS.split()


HANDLER = """#include <linux/saakm.h>
#include <linux/delay.h>
static volatile bool ever = true;
static struct list_head first, second;
static int mine_prepare(struct process_event *event)
{
	struct list_head *one;

	%s
	return saakm_usable_cpu(event->task, 0);
}
SAAKM_POLICY(mine, .prepare = mine_prepare);
"""
LOOPS = {
    "for": "while (ever) ;",
    "udelay": "while (ever) udelay(10);",
    "list": "first.next = &second; second.next = &second; list_for_each(one, &first) ever = true;",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_is_named_and_a_debugger_stops_in_it(tmp_path, kind):
    """Simulated time is that of the first wakeup, whatever the loop takes."""
    done = told_of(mine(tmp_path, HANDLER % LOOPS[kind]))
    assert done.returncode == 1
    said = next(line for line in done.stderr.splitlines() if line.startswith("saakm: the sim"))
    assert "not end" in said and "[handler unblock_prepare of policy mine, thread " in said
    command = shlex.split(done.stderr.partition("that stops there: ")[2])
    assert command[0] == "gdb"
    shown = subprocess.run(
        ["gdb", "-batch", *command[1:]], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    stack = shown.stdout.partition("Breakpoint 1, sim_misbehaved")[2]
    assert re.search(r"^#\d+ .*mine_prepare \(.*/mine\.c:\d+$", stack, re.M), shown.stdout


EATS = "while (kmalloc(4 << 20, GFP_ATOMIC | (ever ? __GFP_NOFAIL : 0)) || !ever) ;"


@pytest.mark.parametrize("code", [EATS, EATS.replace("ever", "!ever")], ids=["surely", "perhaps"])
def test_who_takes_all_memory_is_named(tmp_path, code):
    done = told_of(mine(tmp_path, HANDLER % code))
    assert done.returncode == 1
    said = next(line for line in done.stderr.splitlines() if line.startswith("saakm: the sim"))
    assert "no memory left for kmalloc(): 204" in said
    assert "a run may have no more [handler unblock_prepare of policy mine, " in said


def test_who_takes_all_memory_of_a_small_host_is_named(tmp_path):
    module = read_module(mine(tmp_path, HANDLER % EATS))
    command = [str(build([module], Recipe(Kind.PLAIN, Compiler.GCC, 64))), "cpus=2"]
    done = subprocess.run(
        # Room for per-CPU data, and some hundred MiB.
        ["prlimit", f"--as={9 << 29}", *command, "-"],
        input=ENDLESS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "and the host has no more [handler unblock_prepare of policy mine, " in done.stdout


def test_where_no_cpu_ticks_the_slow_handler_is_named_all_the_same():
    misuser = paths.GUEST_MODULES / "misuser"
    done = saakm(str(misuser), "--for", "1s", "--param", "mode=tick_slow", "--json")
    first = json.loads(done.stdout)["warnings"][0]
    assert done.returncode == 1
    assert first.startswith(
        "tick has taken 2000000 us, while its CPU did nothing else [handler tick"
    )


def test_a_large_variable_on_the_stack_is_warned_of_as_by_kbuild(tmp_path):
    directory = mine(tmp_path, HANDLER % "volatile char large[2000]; large[event->prev_cpu] = 1;")
    said = "warning: the frame size of 20[0-9][0-9] bytes is larger than 1024 bytes"
    assert re.search(rf"{directory}/mine.c:\d+:1: {said}", told_of(directory).stderr)


def test_idle_time_of_the_boot_does_not_count(tmp_path):
    """A module that does not load is waited for: by grace periods of RCU."""
    directory = mine(tmp_path, FAILS)
    plain, beside = (
        result("rr", "--for", "1ms", *more, status=status)
        for more, status in (([], 0), (["--load", str(directory)], 1))
    )
    assert plain["end_ns"] == beside["end_ns"] == 1_000_000
    assert all(2_000_000 < found["idle_ns"] < 4_000_000 for found in (plain, beside))


def test_an_ejection_is_a_fault(tmp_path, endless):
    """A place for a thread that no kernel has."""
    directory = mine(
        tmp_path,
        """#include <linux/saakm.h>
static int mine_prepare(struct process_event *event)
{
	return 12345;
}
SAAKM_POLICY(mine, .prepare = mine_prepare);
""",
    )
    done = told_of(directory, "--workload", endless)
    assert done.returncode == 1 and "policy 'mine' was ejected at 0." in done.stderr
    assert "docs/reference/safety.md" in done.stderr
    assert "spinner" in done.stdout


# What the handlers of tests/guest/modules/misuser do wrong, where the class only warns.
FAULTS = {
    "place_twice": "policy misuser is at fault (wrong-transition) in new_place: change_state(",
    "running_sleeps": "policy misuser is at fault (sleep) in running: running slept",
    "newly_idle_sleeps": "policy misuser is at fault (sleep) in newly_idle: newly_idle slept",
}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_that_only_warns(mode):
    """Also of a kernel's thread, which is about to leave the CPU with a stack."""
    misuser = paths.GUEST_MODULES / "misuser"
    done = saakm(str(misuser), "--workload", "hackbench:loops=20", "--for", "1s", "--param",
                 f"mode={mode}", "--set", "on_violation=warn", "--json")  # fmt: skip
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert result["misbehaved"]
    assert any(text.startswith(FAULTS[mode]) for text in result["warnings"]), result["warnings"]
    assert all("to fix it" not in text for text in result["warnings"])


UNBALANCED = """\
#include <linux/saakm.h>

static char *kind = "none";
module_param(kind, charp, 0444);

static void tick(struct process_event *event, struct core_event *core)
{
	if (!strcmp(kind, "preempt_disable"))
		preempt_disable();
	else if (!strcmp(kind, "rcu_read_lock"))
		rcu_read_lock();
	else if (!strcmp(kind, "local_irq_enable"))
		local_irq_enable();
	change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

SAAKM_POLICY(unbalanced, .tick = tick);
"""
LEFT = {
    "preempt_disable": "preemption count 10002, interrupts off, RCU 0; they were 10001, off, 0",
    "rcu_read_lock": "preemption count 10001, interrupts off, RCU 1; they were 10001, off, 0",
    "local_irq_enable": "preemption count 10001, interrupts on, RCU 0; they were 10001, off, 0",
    "none": "",
}


@pytest.mark.parametrize("kind", LEFT)
def test_a_handler_leaves_all_counts_as_they_were(kind, tmp_path):
    (tmp_path / "unbalanced.c").write_text(UNBALANCED)
    (tmp_path / "Kbuild").write_text("obj-m := unbalanced.o\n")
    done = saakm(str(tmp_path), "--workload", "hackbench:loops=20", "--for",
                 "100ms", "--param", f"kind={kind}", "--json")  # fmt: skip
    warnings = json.loads(done.stdout)["warnings"]
    assert done.returncode == (1 if LEFT[kind] else 0), done.stderr
    said = f"tick has left {LEFT[kind]} [handler tick of policy unbalanced, "
    assert all(text.startswith(said) for text in warnings)
    assert bool(warnings) == bool(LEFT[kind])


def test_threads_that_wait_for_one_another(tmp_path):
    (tmp_path / "crosswise.program").write_text("""\
saakm-program 1
mutex m 1
mutex n 1
group a 1 0 main 0 all none
group b 1 0 main 0 all none
program a
  lock m
  run 1000000
  lock n
end
program b
  lock n
  run 1000000
  lock m
end
""")
    done = saakm("rr", "--workload", str(tmp_path / "crosswise.program"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == [
        "2 threads wait, and nobody is left who could wake them: "
        "one of group 'a' for n, one of group 'b' for m"
    ]


def test_a_module_that_registers_nothing_is_named(tmp_path):
    done = told_of(mine(tmp_path, '#include <linux/module.h>\nMODULE_LICENSE("GPL");\n'))
    assert done.returncode == 2
    assert "saakm: mine registers no policy\n" in done.stderr
    assert f"there is no SAAKM_POLICY(...) in {tmp_path}/mine/mine.c" in done.stderr


def test_a_tick_that_takes_all_time_is_refused(tmp_path):
    """At 4 ms a tick, which would have looked like a policy that lets nobody run."""
    costs = tmp_path / "costs"
    for instructions, status in ((4_000_000, 2), (3_000_000, 0)):
        costs.write_text(f"tick {instructions}\n")
        done = saakm("fifo", "--costs", str(costs), "--for", "20ms")
        assert done.returncode == status, done.stderr
        assert (f"{costs}: a tick takes 4000000 ns" in done.stderr) == bool(status)


def test_a_table_without_costs_is_not_taken_for_free(tmp_path):
    costs = tmp_path / "costs"
    costs.write_text("# nothing yet\nrate 1000\n")
    done = saakm("fifo", "--costs", str(costs), "--for", "1ms")
    assert done.returncode == 2 and f"{costs}: it names no cost" in done.stderr


def test_nothing_is_written_in_the_place_of_an_input(tmp_path):
    out, trace = tmp_path / "out", tmp_path / "trace"
    run = ("rr", "--for", "5ms", "--json")
    result(*run, "--out", str(out), "--trace", str(trace))
    program, recording = out / "workload.program", trace / "trace.perfetto-trace"
    for output, place, read in (
        ("--out", out, program),
        ("--trace", trace, trace),
        ("--trace", recording, recording),
    ):
        done = saakm(*run, output, str(place), "--workload", str(read))
        assert done.returncode == 2
        assert "would be written, and is read" in done.stderr


def test_a_directory_that_cannot_be_written_is_refused_first():
    """Not even by root."""
    for option in ("--out", "--trace", "--coverage"):
        done = saakm("rr", option, "/sys/kernel")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr and "building" not in done.stderr


def test_a_device_is_an_output_for_who_may_not_write_beside_it():
    """As /dev/null for any user but root, who has to step down to see it."""
    code = (
        "import os, sys, pathlib; sys.path.insert(0, sys.argv[1])\n"
        "from saakm.base.files import check_output\n"
        "os.geteuid() or os.setuid(65534)\n"
        "check_output(pathlib.Path('/dev/null'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(paths.REPO / "src")], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_at_twice_the_rate_what_costs_instructions_takes_half_the_time():
    took = []
    for rate in ("1000", "2000"):
        done = saakm("fifo", "--rate", rate, "--for", "20ms", "--json")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        took.append(result["cost_ns"] / result["switches"])
    assert took[1] < took[0] * 0.7


def test_a_rate_of_nothing_is_refused(tmp_path):
    costs = tmp_path / "costs"
    costs.write_text("switch 1000\nrate 1000\n")
    done = saakm("fifo", "--rate", "2000", "--free", "--for", "1ms")
    assert done.returncode == 2 and "--free and --rate exclude each other" in done.stderr
    done = saakm("fifo", "--rate", "2000", "--costs", str(costs), "--for", "1ms")
    assert done.returncode == 2 and f"--rate says nothing about {costs}" in done.stderr
