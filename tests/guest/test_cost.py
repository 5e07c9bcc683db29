# SPDX-License-Identifier: GPL-2.0
"""saakm cost, as CI uses it: figures repeat, and none is a regression."""

import json

import pytest
from call import saakm

from saakm.base import paths
from saakm.lab.cost.baseline import NOISE, REBUILT_TOLERANCE

from .support import TURNS

pytestmark = pytest.mark.kernel("base")

FILE = paths.REPO / "benchmarks" / "cost-base.json"


def saakm_cost(*args):
    return saakm("cost", *args)


@pytest.mark.limit(600)
def test_there_is_no_regression():
    """Beside SCHED_FIFO at least; in counts, if they are of such a kernel as this."""
    done = saakm_cost("--baseline", str(FILE))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.limit(300)
def test_a_regression_is_an_error(tmp_path):
    """Taken from a file that was better, of this kernel and as if of another one."""
    file = tmp_path / "better.json"
    args = ("--op", "pipe", "--schedulers", "sched_fifo,fifo", "--scale", "20")
    assert saakm_cost(*args, "--write-baseline", str(file)).returncode == 0
    content = json.loads(file.read_text())
    fifo = next(row for row in content["rows"] if row["scheduler"] == "fifo")
    for more, identity in ((1.02, {}), (1.01 + REBUILT_TOLERANCE, {"compiler": "another"})):
        was = fifo["instructions"]
        fifo["instructions"] = was / more
        file.write_text(json.dumps({**content, **identity}))
        # SCHED_FIFO is measured besides where ratios want it.
        done = saakm_cost("--baseline", str(file), "--schedulers", "fifo")
        assert done.returncode == 1 and "fifo pipe" in done.stderr, done.stderr
        assert f"--write-baseline {file}" in done.stderr
        assert ("only ratios to sched_fifo's are compared" in done.stderr) is bool(identity)
        fifo["instructions"] = was


@pytest.mark.limit(300)
@pytest.mark.parallel(TURNS)
def test_runs_repeat_to_the_bit():
    """Also with two CPUs that wake each other."""
    args = ("--op", "pipe2,fork", "--schedulers", "vtime", "--scale", "20", "--json")
    first, second = (json.loads(saakm_cost(*args).stdout) for _ in range(2))
    assert first == second and len(first) == 2


@pytest.mark.limit(300)
def test_sched_ext_is_measured_beside():
    args = ("--op", "yield", "--schedulers", "scx_fifo,fifo", "--scale", "20", "--json")
    scx, fifo = json.loads(saakm_cost(*args).stdout)
    assert scx["loaded"] == [] and fifo["loaded"] == ["fifo"]
    assert 500 < fifo["instructions"] < 5000 and 500 < scx["instructions"] < 5000


@pytest.mark.limit(300)
@pytest.mark.rotates("case")
@pytest.mark.parametrize(
    "case",
    [
        ("vtime", " [vtime]"),
        ("user:fifo", " [fifo, user space]"),
        ("scx_fifo", "fifo_enqueue [bpf]"),
    ],
    ids=lambda case: case[0],
)
def test_where_adds_up_to_the_whole(case):
    """And names the functions of those who decide: a module, a program, a BPF program."""
    scheduler, decides = case
    args = ("--op", "pipe", "--schedulers", scheduler, "--cpus", "1", "--json")
    (whole,) = json.loads(saakm_cost(*args).stdout)
    parts = json.loads(saakm_cost(*args, "--where").stdout)
    assert sum(part["instructions"] for part in parts) == pytest.approx(
        whole["instructions"], rel=0.005
    )
    names = {part["function"] for part in parts}
    assert {"try_to_wake_up", "__schedule", "(user space)"} <= names
    assert any(name.endswith(decides) for name in names)


@pytest.mark.limit(300)
def test_a_policy_without_threads_is_passed_by():
    args = ("--axis", "policies", "--values", "1,8", "--op", "yield", "--schedulers", "fifo")
    alone, eighth = json.loads(saakm_cost(*args, "--scale", "20", "--json").stdout)
    assert (alone["bystanders"], eighth["bystanders"]) == (0, 7)
    assert abs(eighth["instructions"] - alone["instructions"]) / 7 < 1


# A tick of fair's takes 69 instructions more while another CPU is tickless: one CPU.
# Whom the crowd wakes is chaotic: a change of one instruction moves fair's mean by 1 %.
@pytest.mark.limit(300)
@pytest.mark.rotates("condition")
@pytest.mark.parametrize(
    "condition",
    [
        ("pipe,yield,sleep,newidle", 2, 0.003),
        ("fork", 2, NOISE["fork"]),
        ("tick", 1, 0.003),
        ("crowd", 2, NOISE["crowd"]),
    ],
    ids=lambda condition: condition[0],
)
def test_a_policy_that_is_not_used_costs_nothing(condition):
    """rr pulls threads when a CPU goes idle, balances, and keeps a watchdog: once it has had one."""
    operations, cpus, limit = condition
    args = ("--op", operations, "--cpus", str(cpus), "--schedulers", "fair", "--json")
    alone, beside = (json.loads(saakm_cost(*args, *more).stdout) for more in ((), ("--load", "rr")))
    for row, other in zip(alone, beside, strict=True):
        assert other["loaded"] == ["rr"] and row["operation"] == other["operation"]
        assert other["instructions"] == pytest.approx(row["instructions"], rel=limit), (row, other)


@pytest.mark.limit(300)
def test_a_policy_is_loaded_with_parameters():
    args = ("--op", "pipe", "--scale", "5", "--schedulers")
    (row,) = json.loads(saakm_cost(*args, "lavd:virt_llc=1-1:per_cpu_queues=1", "--json").stdout)
    assert row["scheduler"] == "lavd:virt_llc=1-1:per_cpu_queues=1" and row["loaded"] == ["lavd"]
    done = saakm_cost(*args, "lavd:virt_llc=2-1")
    assert done.returncode == 1 and "lavd:virt_llc=2-1 could not be measured" in done.stderr
    assert "saakm run lavd --param virt_llc=2-1 -- true" in done.stderr
    assert "load lavd: virt_llc" in done.stderr  # what the policy says


@pytest.mark.limit(300)
def test_a_long_fifo_costs_what_a_short_one_does(tmp_path):
    args = ("--axis", "runnable", "--values", "2,1000", "--op", "yield", "--schedulers", "fifo")
    drawn = tmp_path / "curves.svg"
    done = saakm_cost(*args, "--scale", "20", "--json", "--svg", str(drawn))
    short, long = json.loads(done.stdout)
    assert drawn.read_text().startswith("<?xml")
    assert long["runnable"] == 998
    assert long["instructions"] == pytest.approx(short["instructions"], rel=0.01)


@pytest.mark.limit(300)
def test_functions_add_up_and_know_their_callers():
    args = ("--op", "yield", "--schedulers", "vtime", "--cpus", "1", "--scale", "10", "--json")
    (row,) = json.loads(saakm_cost(*args).stdout)
    functions = {f["function"]: f for f in json.loads(saakm_cost("--where", *args).stdout)}
    total = sum(f["instructions"] for f in functions.values())
    assert total == pytest.approx(row["instructions"], rel=0.01)
    # Across the switch to the other thread and back, nothing is counted twice.
    schedule, entry = functions["__schedule"], functions["entry_SYSCALL_64_after_hwframe"]
    assert schedule["instructions"] < schedule["with_callees"] < entry["with_callees"] < total
    assert functions["vtime_key [vtime]"]["with_callees"] < schedule["with_callees"]
