# SPDX-License-Identifier: GPL-2.0
"""How fast the simulator is: what is measured and shown. No speed is asserted."""

import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console
from test_cli import saakm

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.lab.scale import __main__ as scale_main
from saakm.lab.scale import conduct, process, rivals, sections
from saakm.lab.scale.conduct import Point
from saakm.model import experiment
from saakm.model.experiment import Scale
from saakm.model.scale_rows import ScaleRow
from saakm.model.schema import fit, parse_json, plain
from saakm.model.simulation import Simulation
from saakm.sim.machine import parse_machine
from saakm.sim.scenario import keep
from saakm.workload.program_text import to_text
from saakm.workload.registry import load

SMALL = Scale(policies=("fifo", "rr"), cpus=(4, 16), threads=(10,), on_cpus=16, rounds=2)
FAST = 'echo "events 1200 switches 30"'


@pytest.fixture(scope="module")
def rows():
    """Of machines so small that a simulated second, which all have here, takes milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conduct, "_LONGEST_S", 1)
        return conduct.rows(SMALL)


def simulated(policy, cpus, threads, seconds="0.05"):
    """What the simulator prints of it."""
    words = conduct.command(Point(policy, cpus, threads), seed=1)
    words = [f"for={round(float(seconds) * 1e9)}" if w.startswith("for=") else w for w in words]
    printed = process.run_alone(words).printed
    return fit(parse_json(printed.strip().rpartition("\n")[2]), Simulation)


def test_each_machine_has_a_row(rows):
    expected = [(4, 40), (4, 40), (16, 160), (16, 160), (16, 10), (16, 10)]
    assert [(row.cpus, row.threads) for row in rows] == expected
    assert [row.policy for row in rows] == ["fifo", "rr"] * 3
    for row in rows:
        assert row.simulated_s == 1 and row.rounds == 2
        assert row.events > row.switches > 0
        assert row.cpu_s > 0 and row.wall_s > 0
    assert fit(plain(rows), list[ScaleRow]) == rows


def test_a_full_cpu_switches_800_times_a_second(rows):
    """By the workload, whatever the policy; with two thirds of a thread a CPU it is less."""
    full = [row.switches_a_cpu for row in rows if row.threads_a_cpu]
    assert all(700 < rate < 1300 for rate in full), full
    assert all(row.switches_a_cpu < 200 for row in rows if not row.threads_a_cpu)


def test_costs_are_charged_and_nothing_is_checked():
    words = conduct.command(Point("fifo", 4, 40), seed=3)
    assert "set=check_transitions:0" in words and "seed=3" in words
    assert [word for word in words if word.startswith("costs=/")]
    assert simulated("fifo", 4, 40).cost_ns > 0


def test_small_machines_are_simulated_for_longer():
    seconds = [Point("fifo", cpus, 10 * cpus).seconds for cpus in (4, 16, 64, 256, 1024, 4096)]
    assert seconds == [64, 16, 4, 1, 1, 1]
    assert Point("fifo", 1024, 10).seconds == 64


@pytest.mark.parametrize("cpus", [4, 8, 16, 64, 128, 256, 1024, 4096])
def test_each_size_has_a_machine(cpus):
    assert parse_machine(conduct.machine_of(cpus)).cpus == cpus


@pytest.mark.parametrize(("threads", "forked"), [(1, 1), (2, 2), (7, 7), (1000, 1000)])
def test_churn_has_so_many_threads(threads, forked):
    program = load(f"churn:threads={threads}", 4)
    groups = {group.name: group for group in program.groups}
    made = sum(
        group.instances * op.operands[1]
        for group in groups.values()
        for op in group.ops
        if op.name == "fork" and op.operands[0] == "threads" and isinstance(op.operands[1], int)
    )
    assert made == forked, to_text(program)


def test_threads_that_are_forked_in_one_place_spread():
    """More than the class looks at: 4,000 that compute half of the time, on 1,024 CPUs."""
    text = to_text(load("churn:threads=4000,run=1ms,sleep=1ms", 1024))
    point = Point("prio", 1024, 4000)
    words = conduct.command(point, seed=1)
    words[-1] = str(keep(text, "program"))
    words = ["for=500000000" if word.startswith("for=") else word for word in words]
    printed = process.run_alone(words).printed
    found = fit(parse_json(printed.strip().rpartition("\n")[2]), Simulation)
    assert found.idle_ns < 0.4 * found.end_ns * found.cpus


def test_the_page_has_tables_curves_and_the_command(rows, tmp_path):
    image = tmp_path / "results-scale.svg"
    text = "\n".join(sections.section("scale", rows, image))
    assert "| policy | 4 | 16 |" in text and "| policy | 10 |" in text
    assert text.count("| fifo |") == text.count("| rr |") == 8
    assert "saakm lab scale" in text and f"]({image.name})" in text
    assert image.read_text().count("<svg") == 1


def test_a_report_shows_them(rows, tmp_path):
    kept = tmp_path / "scale.json"
    kept.write_text(json.dumps(plain(rows)))
    page = tmp_path / "page.md"
    done = saakm("report", str(kept), "--markdown", str(page))
    assert done.returncode == 0, done.stderr
    assert "## The simulator: how fast it is" in page.read_text()
    assert (tmp_path / "page-scale.svg").exists()


def test_the_experiment_is_one_of_the_lab():
    spec = experiment.read(experiment.DIRECTORY / "scale.toml").scale
    assert (min(spec.cpus), max(spec.cpus)) == (4, 4096)
    assert (min(spec.threads), max(spec.threads), spec.on_cpus) == (10, 100_000, 1024)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cpus": [5]}, "no power of two"),
        ({"cpus": [8192]}, "cpus"),
        ({"threads": [0]}, "threads"),
        ({"policies": []}, "policies"),
        ({"policies": ["rr", "rr"]}, "twice"),
    ],
)
def test_what_cannot_be_measured_is_refused(change, why):
    with pytest.raises(ValueError, match=why):
        fit({"policies": ["fifo"], "threads": [10], **change}, Scale)
    with pytest.raises(ValueError, match="`cpus` or `threads`"):
        Scale(policies=("fifo",))


def test_who_is_no_policy_is_refused():
    with pytest.raises(SaakmError, match="fif"):
        conduct.check(replace_policies("fif"))
    with pytest.raises(SaakmError, match="kernel's own scheduler"):
        conduct.check(replace_policies("none"))


def replace_policies(*names):
    return Scale(policies=names, threads=(10,), on_cpus=4)


def test_runs_that_differ_are_no_result(rows):
    point = Point("fifo", 4, 40, 10)
    one = process.run_alone(conduct.command(replace(point, threads=4), seed=1))
    other = process.run_alone(conduct.command(replace(point, threads=5), seed=1))
    with pytest.raises(SaakmError, match="differ"):
        conduct._row(point, [one, other], 1)


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_program_is_run_beside(tmp_path):
    """With the same machine and load, by turns."""
    log = tmp_path / "calls"
    program = script(tmp_path / "other", f'echo "$*" >>{log}\n{FAST}')
    found = rivals.compare([Point("fifo", 16, 20)], {"fifo": program}, rounds=2, seed=7)
    assert [(one.name, one.policy) for one in found] == [("saakm sim", "fifo"), ("other", "fifo")]
    assert (found[1].events, found[1].switches) == (1200, 30)
    calls = log.read_text().splitlines()
    assert len(calls) == 2 and calls[0] == calls[1]
    assert calls[0].startswith(
        "cpus=16 smt=2 llc=16 node=16 threads=20 ms=64000 seed=7 run=1250000"
    )


LARGE = """
import os, sys, time
there, seen = sys.argv[1:]
x = bytearray(200 << 20)
open(there, "w").close()
while not os.path.exists(seen):
    time.sleep(0.01)
"""


def test_memory_is_that_of_the_program(tmp_path, monkeypatch):
    """Not of Python, which starts it: getrusage() would count that. It stays until it has been looked at."""
    there, seen, looks = tmp_path / "there", tmp_path / "seen", []

    def between_looks(_):
        if looks:
            seen.touch()
        looks.extend([1] * there.exists())
        sleep(0.005)

    sleep = process.time.sleep
    monkeypatch.setattr(process.time, "sleep", between_looks)
    taken = process.run_alone([sys.executable, "-c", LARGE, str(there), str(seen)])
    assert taken.peak_kib > 200 << 10
    assert process.run_alone(["sleep", "0.1"]).peak_kib < 20 << 10


def test_a_program_that_fails_or_says_nothing_is_named(tmp_path):
    point = Point("fifo", 16, 20)
    for text, why in (("exit 3", "status is 3"), ("echo no", "printed: no")):
        program = script(tmp_path / "other", text)
        with pytest.raises(SaakmError, match="other") as caught:
            rivals.compare([point], {"fifo": program}, rounds=1, seed=1)
        assert why in str(caught.value)


def module(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "saakm.lab.scale", *arguments],
        capture_output=True,
        text=True,
        cwd=paths.REPO / "src",
        stdin=subprocess.DEVNULL,
    )


def test_as_a_command(tmp_path):
    program = script(tmp_path / "other", FAST)
    done = module(
        *("--cpus", "16", "--threads", "20", "--rounds", "1", "--json"),
        *("--prototype", f"rr={program}", "rr", "prio"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["name"] for one in found] == ["saakm sim", "other", "saakm sim"]
    assert all(one["events_a_second"] > 0 for one in found)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--cpus", "6"), "no power of two"),
        (("--prototype", "fifo=nowhere"), "no file"),
        (("--prototype", "prio=x", "fifo"), "not measured"),
        (("nosuch",), "no policy 'nosuch'"),
    ],
)
def test_bad_input(arguments, why):
    done = module(*arguments)
    assert done.returncode == 2 and why in done.stderr and "next:" in done.stderr


def test_the_table_of_rivals_fits_80_columns():
    found = [
        rivals.Measured(
            policy="vtime", name=name, events=345_962_100, switches=123_456_789, cpu_s=10.45,
            wall_s=124.56, peak_kib=12_345 * 1024,
        )
        for name in ("saakm sim", "prototype")
    ]  # fmt: skip
    out = io.StringIO()
    scale_main._show(found, "a title", Console(file=out, width=80))
    text = out.getvalue()
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    for word in ("events/s", "switch/s", "CPU s", "wall s", "MiB", "346 M", "12,345", "prototype"):
        assert word in text
