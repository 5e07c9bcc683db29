# SPDX-License-Identifier: GPL-2.0
"""--kernel: a kernel that is not ours, in each command that measures.

Linux 7.3 takes minutes to build: with --long only. Otherwise it is our own base kernel, in whose file
the name is changed by which the class is known. It boots as before, and nobody knows that it has it.
The debug kernel, too, has what the base kernel has not: features that can be set.
"""

import json
import os
from pathlib import Path

import call
import pytest
from documents import blocks, words

from saakm.base import paths
from saakm.builder import given, unpatched
from saakm.builder.about import about

from .support import find_kernel
from .test_machine_options import on_a_terminal, qemus_of, read_until, status_of

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]

PAGE = paths.REPO / "docs/how-to/measure-another-kernel.md"
WORKLOAD = "hackbench:process-pipes-1"


def saakm(*args, place=paths.REPO):
    return call.saakm(*args, cwd=place, COLUMNS="160")


def said(*args, place=paths.REPO):
    done = saakm(*args, place=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def unknown(tmp_path_factory):
    """A vmlinux that is not known to have SaaKM's class."""
    file = tmp_path_factory.mktemp("kernel") / "vmlinux"
    content = find_kernel("base").vmlinux.read_bytes()
    file.write_bytes(content.replace(b"saakm_add_policy\0", b"other_add_policy\0"))
    yield file
    file.unlink()


@pytest.fixture(scope="module")
def kernel():
    return about(find_kernel("base").vmlinux)


def test_commands_run_under_what_every_kernel_has(unknown, kernel):
    # The preemption model is one of those words that uname has.
    release, *version = said("run", "fair", "--kernel", unknown, "--", "uname", "-rv").split()
    assert release == kernel.release and kernel.preemption in version
    script = (
        "cut -d' ' -f41 /proc/$$/stat; cat /sys/kernel/sched_ext/root/ops; hackbench -g 1 -l 10"
    )
    ran = said("run", "scx_fifo", "--kernel", unknown, "--", "sh", "-c", script).split()
    assert ran[:2] == ["7", "scx_fifo"] and "Time:" in ran
    script = "cut -d' ' -f40,41 /proc/$$/stat; hackbench -g 1 -l 10"
    ran = said("run", "sched_fifo", "--kernel", unknown, "--", "sh", "-c", script).split()
    assert ran[:2] == ["1", "1"] and "Time:" in ran


def test_what_needs_the_class_is_refused_at_once(unknown, tmp_path):
    needs = {
        ("run", "fifo"): ["--", "true"],
        ("trace", "fifo"): ["--", "true"],
        ("cost", "--op", "pipe", "--schedulers", "fair,fifo"): [],
        ("cost", "--load", "rr", "--schedulers", "fair"): [],
        ("bench", "--workloads", WORKLOAD, "--schedulers", "fair,fifo", "--out", "out"): [],
    }  # fmt: skip
    for begin, end in needs.items():
        done = saakm(*begin, "--kernel", unknown, *end, place=tmp_path)
        assert done.returncode == 2 and "needs SaaKM's class" in done.stderr, (begin, done.stderr)
        assert "building" not in done.stderr and "booting" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_costs_say_whose_they_are(unknown, kernel):
    args = ("--op", "pipe,yield", "--schedulers", "fair,sched_fifo,scx_fifo", "--scale", "10")
    rows = json.loads(said("cost", "--kernel", unknown, *args, "--cpus", "1", "--json"))
    assert [row["scheduler"] for row in rows] == [name for name in args[3].split(",") for _ in "12"]
    for row in rows:
        assert (row["kernel"], row["preemption"]) == (kernel.release, kernel.preemption)
        assert not row["patched"] and row["loaded"] == [] and row["instructions"] > 500


def test_a_trace_says_whose_it_is(unknown, kernel, tmp_path):
    shown = said("trace", "scx_fifo", "--kernel", unknown, "-o", tmp_path, "--",
                 "hackbench", "-g", "1", "-l", "10")  # fmt: skip
    assert f"scx_fifo on {kernel}:" in shown
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["kernel"], summary["preemption"]) == (kernel.release, kernel.preemption)
    assert summary["threads"] >= 41 and summary["calls"] == {}


def test_a_shell_on_it(tmp_path):
    """With features, which the debug kernel has."""
    vmlinux = find_kernel("debug").vmlinux
    more = ["--memory", "2G", "--cpus", "2", "--features", "NO_RUN_TO_PARITY"]
    with on_a_terminal(["shell", "--kernel", str(vmlinux), *more], tmp_path) as (child, terminal):
        # Modules are built for it first.
        read_until(terminal, r"@guest:", 200)
        (words_,) = qemus_of(child).values()
        assert str(vmlinux) in words_
        os.write(terminal, b"tr ' ' '\\n' </sys/kernel/debug/sched/features | grep PARITY\n")
        read_until(terminal, r"\bNO_RUN_TO_PARITY")
        os.write(terminal, b"exit\n")
        assert status_of(child, terminal) == 0


def test_bench_has_columns_for_each_kernel(unknown, kernel, tmp_path):
    out = tmp_path / "beside"
    args = ("--workloads", WORKLOAD, "--out", out, "--rounds", "1", "--no-warm-up", "--json")
    said("bench", *args, "--schedulers", "fair,scx_fifo")
    rows = json.loads(
        said(
            "bench",
            *args,
            "--schedulers",
            "fair,sched_fifo,scx_fifo",
            "--resume",
            "--kernel",
            unknown,
        )
    )
    release = kernel.release
    assert {row["scheduler"] for row in rows} == {
        "fair", "scx_fifo", f"fair@{release}", f"sched_fifo@{release}", f"scx_fifo@{release}"
    }  # fmt: skip
    assert all(row["n"] == 1 for row in rows)
    assert {(row["kernel"], row["preemption"]) for row in rows} == {(release, kernel.preemption)}


def test_features_are_set_before_the_workload_begins(tmp_path):
    debug = ("--kernel", find_kernel("debug").vmlinux)
    args = ("run", "none", *debug, "--memory", "2G", "--features", "NEXT_BUDDY,NO_RUN_TO_PARITY")
    there = said(*args, "--", "cat", "/sys/kernel/debug/sched/features").split()
    assert {"NEXT_BUDDY", "NO_RUN_TO_PARITY"} <= set(there)
    exact = said(*args, "--exact", "--", "cat", "/sys/kernel/debug/sched/features").split()
    assert exact == there
    traced = ("trace", "none", *debug, "--features", "NEXT_BUDY", "--output", tmp_path / "trace")
    done = saakm(*traced, "--", "true")
    assert done.returncode == 2 and "no scheduler feature NEXT_BUDY" in done.stderr
    assert "NO_NEXT_BUDDY" in done.stderr


def test_features_of_a_kernel_that_is_measured(tmp_path):
    debug = ("--kernel", find_kernel("debug").vmlinux, "--features", "NEXT_BUDDY")
    args = ("--op", "yield", "--schedulers", "fair", "--scale", "5", "--cpus", "1", "--json")
    (row,) = json.loads(said("cost", *debug, *args))
    assert row["features"] == ["NEXT_BUDDY"]
    done = saakm("cost", *debug[:2], "--features", "NO_SUCH", *args)
    assert done.returncode == 2 and "no scheduler feature NO_SUCH" in done.stderr
    out = tmp_path / "out"
    # Hackbench takes longer than it may, with all checks of the kernel on a slow machine.
    short = "perf-sched:messaging"
    said("bench", *debug, "--workloads", short, "--schedulers", "fair", "--rounds", "1",
         "--no-warm-up", "--memory", "2G", "--out", out, "--resume")  # fmt: skip
    lines = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    (run,) = [line for line in lines if line["kind"] == "run"]
    assert run["machine"]["features"] == ["NEXT_BUDDY"] and run["error"] is None


def test_a_kernel_without_features_is_told_apart_in_the_guest(unknown):
    done = saakm("run", "none", "--kernel", unknown, "--features", "NEXT_BUDDY", "--", "true")
    assert done.returncode == 2 and "no scheduler features that could be set" in done.stderr


# --- Linux 7.3 ---


def commands():
    return [command for block in blocks(PAGE) for command in block.commands
            if "7.3" in command or "--out beside" in command]  # fmt: skip


@pytest.mark.long
@pytest.mark.limit(7200)
def test_the_page(tmp_path):
    """In its order: the first command builds Linux 7.3."""
    ran = {}
    for command in commands():
        if " shell " not in command:
            ran[command] = said(*words(command), place=tmp_path)
    first, *_ = ran
    vmlinux = Path(ran[first].split()[1])
    assert str(about(vmlinux)).startswith("Linux 7.3.") and not about(vmlinux).has_class
    features = [out for command, out in ran.items() if command.endswith("sched/features")]
    assert {"NEXT_BUDDY", "NO_RUN_TO_PARITY"} <= set(features[0].split())
    *_, last = ran.values()
    assert "fair:NEXT_BUDDY@7.3." in last and "scx_fifo@7.3." in last


@pytest.mark.long
@pytest.mark.limit(7200)
def test_a_shell_on_linux_7_3(tmp_path):
    (command,) = [command for command in commands() if " shell " in command]
    unpatched.build("7.3")
    with on_a_terminal(words(command), tmp_path) as (child, terminal):
        read_until(terminal, r"Kernel 7\.3\.[^$]*@guest:")
        os.write(terminal, b"exit\n")
        assert status_of(child, terminal) == 0


@pytest.mark.long
@pytest.mark.limit(7200)
@pytest.mark.parametrize("name", ["global", "fifo", "rr", "steal", "prio", "mlfq", "vtime"])
def test_our_sched_ext_schedulers_load_into_linux_7_3(name):
    assert not given.has_class("7.3")
    script = (
        "cut -d' ' -f41 /proc/$$/stat; cat /sys/kernel/sched_ext/root/ops; hackbench -g 1 -l 20"
    )
    ran = said("run", f"scx_{name}", "--kernel", "7.3", "--", "sh", "-c", script).split()
    assert ran[:2] == ["7", f"scx_{name}"] and "Time:" in ran
