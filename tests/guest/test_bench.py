# SPDX-License-Identifier: GPL-2.0
"""saakm bench for real: one short workload under a scheduler of each kind."""

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from saakm import paths

from .support import find_kernel, run_ok

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
    first = saakm_bench(*args, "--rounds", "1")
    assert first.returncode == 0, first.stderr
    assert "Amean" in first.stderr and "too few runs" in first.stderr
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
    settings = f"PYTHONPATH={checkout}/src SAAKM_CACHE={paths.CACHE} SAAKM_POLICIES={modules}"
    rows = json.loads(run_ok(guest, f"{settings} {shlex.join(command)}", timeout=180))
    assert [row["scheduler"] for row in rows] == SCHEDULERS.split(",")
    assert all(row["mean"] > 0 for row in rows)
    # It has taken back what it had loaded, and left nothing.
    assert run_ok(guest, "cat /proc/modules; ls /tmp").split() == ["results"]
