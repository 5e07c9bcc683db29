# SPDX-License-Identifier: GPL-2.0
"""saakm bench for real: one short workload under a scheduler of each kind."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest

from saakm.base import paths

from .support import find_kernel, run_ok
from .test_machine_options import qemus_of

pytestmark = pytest.mark.kernel("base")

WORKLOAD = "hackbench:process-pipes-1"
SCHEDULERS = "eevdf,scx_fifo,fifo"


def saakm_bench(*args):
    return subprocess.run(
        [sys.executable, "-m", "saakm", "bench", "--no-warm-up", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src"), "COLUMNS": "160"},
    )


def runs(directory):
    lines = [json.loads(line) for line in (directory / "runs.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "run"]


@pytest.mark.limit(300)
def test_applications_run_under_each_scheduler_and_resume(tmp_path):
    args = (
        "--workloads",
        WORKLOAD,
        "--schedulers",
        SCHEDULERS,
        "--out",
        str(tmp_path),
        "--resume",
        "--json",
    )
    drawn = [tmp_path / f"runs.{kind}" for kind in ("csv", "svg", "png")]
    first = saakm_bench(*args, "--rounds", "1", *(f"--{file.suffix[1:]}={file}" for file in drawn))
    assert first.returncode == 0, first.stderr
    assert "Amean" in first.stderr and "too few runs" in first.stderr
    assert [line.count(",") > 3 for line in drawn[0].read_text().splitlines()] == [True] * 4
    assert drawn[1].read_text().startswith("<?xml") and drawn[2].read_bytes()[1:4] == b"PNG"
    second = saakm_bench(*args, "--rounds", "2")
    assert second.returncode == 0, second.stderr
    rows = {row["scheduler"]: row for row in json.loads(second.stdout)}
    assert list(rows) == SCHEDULERS.split(",")
    assert all(row["n"] == 2 and row["mean"] > 0 for row in rows.values())
    # Three runs each time: the first three were not repeated.
    done = runs(tmp_path)
    assert len(done) == 6 and {run["round"] for run in done} == {1, 2}
    assert not any(run["error"] or run["splats"] for run in done)
    # 20 messages to 20 receivers from 20 senders.
    assert all(run["switches"] > 100 for run in done)


@pytest.mark.limit(300)
def test_latencies(tmp_path):
    done = saakm_bench(
        "--workloads",
        WORKLOAD,
        "--schedulers",
        "fifo",
        "--rounds",
        "1",
        "--latency",
        "--out",
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert "Wakeup-99.9th" in done.stdout and "Wait-50th" in done.stdout
    (run,) = runs(tmp_path)
    wakeup = run["latency"]["wakeup_us"]
    assert wakeup["n"] > 40 and 0 < wakeup["p50"] <= wakeup["p99"] <= wakeup["max"] < 60e6


@pytest.mark.long
@pytest.mark.limit(900)
def test_waits_of_a_server(tmp_path):
    """README's nginx, with fewer runs: what it needs is installed, and its threads' waits are seen."""
    args = ("--workloads", "nginx", "--latency", "--out", str(tmp_path))
    done = saakm_bench(*args, "--schedulers", "eevdf,fifo", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert {run["scheduler"] for run in runs(tmp_path)} == {"eevdf", "fifo"}
    for run in runs(tmp_path):
        assert run["workload"] == "nginx" and run["latency"]["wakeup_us"]["n"] > 100, run


@pytest.mark.long
@pytest.mark.limit(300)
def test_each_run_in_a_guest_of_its_own(tmp_path):
    """The first round, which does not count, is one, too."""
    child = subprocess.Popen(
        [sys.executable, "-m", "saakm", "bench", "--boot-each", "--warm-up", "--rounds", "1",
         "--workloads", WORKLOAD, "--schedulers", "fifo", "--on", "guest", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )  # fmt: skip
    guests = set()
    while child.poll() is None:
        guests.update(qemus_of(child))
        time.sleep(0.2)
    assert child.returncode == 0 and len(guests) == 2


@pytest.mark.limit(200)
def test_on_the_host(guest):
    """Which here is a guest: it has a SaaKM kernel, and a copy of the checkout.

    The checkout itself may lie below /tmp, where a guest has its own.
    """
    checkout = guest.exchange / "checkout"
    for name in ("src", "workloads", "policies", "peers"):
        shutil.copytree(
            paths.REPO / name,
            checkout / name,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    command = [
        sys.executable,
        "-m",
        "saakm",
        "bench",
        "--on",
        "host",
        "--no-warm-up",
        "--rounds",
        "1",
        "--workloads",
        WORKLOAD,
        "--schedulers",
        SCHEDULERS,
        "--out",
        "/tmp/results",
        "--json",
    ]
    modules = find_kernel("base").modules
    before = run_ok(guest, "ls /tmp").split()
    settings = f"PYTHONPATH={checkout}/src SAAKM_CACHE={paths.CACHE} SAAKM_POLICIES={modules}"
    # For tests/options.py, which cannot look into a guest.
    noted = guest.exchange / "noted"
    noted.mkdir()
    settings += f" SAAKM_RECORD_CLI=/run/saakm/{noted.name} "
    settings += shlex.join([f"PYTEST_CURRENT_TEST={os.environ['PYTEST_CURRENT_TEST']}"])
    rows = json.loads(run_ok(guest, f"env {settings} {shlex.join(command)}", timeout=180))
    for file in noted.iterdir():
        shutil.copy(file, os.environ["SAAKM_RECORD_CLI"])
    assert [row["scheduler"] for row in rows] == SCHEDULERS.split(",")
    assert all(row["mean"] > 0 for row in rows)
    # It has taken back what it had loaded, and left nothing.
    after = run_ok(guest, "cat /proc/modules; ls /tmp").split()
    assert sorted(after) == sorted([*before, "results"])
