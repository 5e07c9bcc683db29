# SPDX-License-Identifier: GPL-2.0
"""saakm bench for real: one short workload under a scheduler of each kind."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from call import saakm

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.lab.bench import schedulers
from saakm.lab.bench.in_guest import InGuest
from saakm.vm import features
from saakm.vm.options import VmOptions

from .support import find_kernel, run_ok
from .test_machine_options import qemus_of

pytestmark = pytest.mark.kernel("base")

WORKLOAD = "hackbench:process-pipes-1"
SCHEDULERS = "fair,scx_fifo,fifo"


def saakm_bench(*args):
    return saakm("bench", "--no-warm-up", *args, COLUMNS="160")


def runs(directory):
    """Those whose lines are complete: the last one may be in the middle of being written."""
    if not (directory / "runs.jsonl").exists():
        return []
    text = (directory / "runs.jsonl").read_text()
    lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
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


@pytest.mark.kernel("debug")  # which has features that can be set
@pytest.mark.limit(300)
def test_schedulers_with_settings():
    vm = VmOptions(config="debug", cpus=1)
    place = InGuest(vm, {"rr": None, "fifo": None}, patches_code=False)
    words = ["fair:NEXT_BUDDY:NO_RUN_TO_PARITY", "rr:slice_us=700:on_violation=warn", "rr", "fifo"]
    found = [schedulers.find(one) for one in schedulers.chosen(words)]
    fair, short, usual, other = found
    with pytest.raises(SaakmError, match="rr cannot be loaded with nosuch=1") as error:
        place.check_settings([replace(short, parameters=("nosuch=1",))])
    assert "slice_us" in error.value.why and not place.running
    try:
        with pytest.raises(SaakmError, match="no scheduler feature NO_SUCH") as error:
            place.check_settings([replace(fair, features=("NO_SUCH",))])
        assert "RUN_TO_PARITY" in error.value.why
        says = "cat /sys/module/rr/parameters/slice_us"
        was = [place.run(says, 30).stdout]
        for one in (short, short, other, usual):
            place.use(one)
            was.append(place.run(says, 30).stdout)
        assert was[1:4] == ["700\n"] * 3 and was[4] == was[0] != "700\n"
        before = features.there(place)
        assert {"NO_NEXT_BUDDY", "RUN_TO_PARITY"} <= set(before)
        to_restore = features.set_in(place, fair.features)
        assert {"NEXT_BUDDY", "NO_RUN_TO_PARITY"} <= set(features.there(place))
        features.write(place, to_restore)
        assert features.there(place) == before
    finally:
        place.close()


@pytest.mark.limit(200)
def test_settings_that_there_are_not_are_refused_before_anything_runs(tmp_path):
    for word, why in (
        ("rr:nosuch=1", "it has no parameter 'nosuch'"),
        ("fair:NO_SUCH", "no scheduler feature"),  # or none at all that could be set
    ):
        done = saakm_bench("--workloads", WORKLOAD, "--schedulers", word, "--out", str(tmp_path))
        assert done.returncode and why in done.stderr, done.stderr
        assert not runs(tmp_path)


@pytest.mark.long
@pytest.mark.limit(2000)
def test_what_the_features_kernel_is_for(tmp_path):
    """Its switches and its XFS, beside a policy; it is built first."""
    schedulers = ["fair", "fair:NEXT_BUDDY", "eevdf:next_buddy=new"]
    done = saakm_bench(
        "--config", "features", "--workloads", "dbench:loadfile-xfs", "--points", "2",
        "--schedulers", ",".join(schedulers), "--rounds", "1", "--out", str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(run["scheduler"] for run in runs(tmp_path)) == sorted(schedulers)
    assert all(len(run["rows"]) == 2 for run in runs(tmp_path))


@pytest.mark.long
@pytest.mark.limit(900)
def test_waits_of_a_server(tmp_path):
    """README's nginx, with fewer runs: what it needs is installed, and its threads' waits are seen."""
    args = ("--workloads", "nginx", "--latency", "--out", str(tmp_path))
    done = saakm_bench(*args, "--schedulers", "fair,fifo", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert {run["scheduler"] for run in runs(tmp_path)} == {"fair", "fifo"}
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


def _has_percentiles(schbench):
    rows = {row["label"]: row["value"] for row in schbench["rows"]}
    for name, percents in (
        ("Wakeup", ("50th", "90th", "99th", "99.9th")),
        ("Request", ("50th", "90th", "99th", "99.9th")),
        ("RPS", ("20th", "50th", "90th", "max")),
    ):
        values = [rows[f"{name}-{percent}-2"] for percent in percents]
        assert values == sorted(values) and values[-1] > 0


@pytest.mark.limit(400)
def test_workloads_with_several_figures(tmp_path):
    """Our own programs, with points that the user names; and a file system, if the kernel has it."""
    done = saakm_bench(
        "--workloads", "schbench,dbench:loadfile-tmpfs,dbench:loadfile-xfs", "--points", "2",
        "--schedulers", "fifo", "--rounds", "1", "--out", str(tmp_path),
    )  # fmt: skip
    schbench, tmpfs, xfs = runs(tmp_path)
    # On a host so busy that no request ends in one of the seconds, the rate is nothing: an error.
    refused = re.search("got nothing done: RPS-20th-2: 0 requests/s", schbench["error"] or "")
    if not refused:
        _has_percentiles(schbench)
        assert "Amean  Wakeup-99.9th-2" in done.stdout and "Hmean  RPS-max-2" in done.stdout
    assert [(row["label"], row["unit"]) for row in tmpfs["rows"]] == [("2", "ms")] * 2
    assert all(row["value"] > 0 and row["stddev"] >= 0 for row in tmpfs["rows"])
    config = (find_kernel("base").build / ".config").read_text()
    if missing := [name for name in ("XFS_FS", "VIRTIO_BLK") if f"CONFIG_{name}=y" not in config]:
        assert done.returncode == 1 and f"built without CONFIG_{missing[0]}=y" in xfs["error"]
    else:
        assert done.returncode == bool(refused) and len(xfs["rows"]) == 2


@pytest.mark.long
@pytest.mark.limit(1500)
def test_what_the_experiment_of_schedulers_in_user_space_is_for(tmp_path):
    """Agents with options of their own, a build beside frames, and a library's threads."""
    schedulers = ["fair", "user:rustland --no-burst --no-fast-path", "user:rustland"]
    done = saakm_bench(
        "--deterministic", "--workloads", "frames,matrix", "--points", "2", "--topology", "2s2c",
        "--schedulers", ",".join(schedulers), "--rounds", "1", "--out", str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for scheduler in schedulers:
        (frames,) = (
            {(row["table"], row["label"]): row["value"] for row in run["rows"]}
            for run in runs(tmp_path)
            if run["scheduler"] == scheduler and run["workload"] == "frames"
        )
        assert 0 <= frames["late frames", "2"] <= 100 and frames["time of a frame", "50th-2"] > 0
        assert frames["files compiled meanwhile", "2"] > 10
    products = [run["value"] for run in runs(tmp_path) if run["workload"] == "matrix"]
    assert len(products) == len(schedulers) and min(products) > 1
