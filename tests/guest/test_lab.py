# SPDX-License-Identifier: GPL-2.0
"""saakm lab for real: what two small experiments yield, and what is left of an interrupted one."""

import json
import os
import signal
import subprocess
import sys

import pytest

from saakm.base import paths

from .support import until
from .test_bench import WORKLOAD, runs

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]

COST = """
what = "What a yield costs"
[cost]
op = ["yield"]
schedulers = ["fifo"]
cpus = 1
seed = 3
scale = 10
"""
BENCH = f"""
what = "What groups of processes cost that send messages"
[bench]
workloads = ["{WORKLOAD}"]
schedulers = ["fifo"]
rounds = 3
warm_up = false
deterministic = true
topology = "1s2c"
"""


def start(*args):
    return subprocess.Popen(
        [sys.executable, "-m", "saakm", "lab", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src"), "COLUMNS": "120"},
    )


def lab(*args):
    child = start(*args)
    out, err = child.communicate()
    assert child.returncode == 0, err
    return out, err


def test_it_yields_what_it_says_and_goes_on(tmp_path):
    for name, text in (("yields", COST), ("messages", BENCH)):
        (tmp_path / f"{name}.toml").write_text(text)
    files, out = [tmp_path / "yields.toml", tmp_path / "messages.toml"], tmp_path / "out"
    figures, messages = out / "yields.json", out / "messages"
    child = start(*files, "--out", out)
    until(lambda: runs(messages) or child.poll() is not None, 250, "the first run of the second")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate()
    if len(runs(messages)) < 3:
        assert "messages was interrupted: runs that ended are kept" in err
    # Whether it has ended meanwhile does not matter: what is there is good, and stays.
    kept = (messages / "runs.jsonl").read_text()
    assert runs(messages), "no run is kept"
    (row,) = json.loads(figures.read_text())
    assert (row["operation"], row["scheduler"], row["cpus"]) == ("yield", "fifo", 1)
    assert (row["seeds"], row["scale"]) == ([3], 10) and 500 < row["instructions"] < 5000
    figures.write_text("[]")  # if it were measured again, this would not stay

    said, _ = lab(*files, "--out", out, "--json")
    assert json.loads(said) == [str(figures), str(messages)]
    assert figures.read_text() == "[]"
    assert (messages / "runs.jsonl").read_text().startswith(kept[: kept.rfind("\n") + 1])
    assert sorted(run["round"] for run in runs(messages)) == [1, 2, 3]
    for run in runs(messages):
        assert run["error"] is None and run["meaning"] == "cost" and run["executed"] > 1
        assert run["machine"]["topology"] == "1s2c" and run["scheduler"] == "fifo"

    before = (messages / "runs.jsonl").read_text()
    said, _ = lab(*files, "--out", out)
    assert said.splitlines() == [str(figures), str(messages)]
    assert (messages / "runs.jsonl").read_text() == before
