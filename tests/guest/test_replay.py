# SPDX-License-Identifier: GPL-2.0
"""The class answers in the simulator as it does in the kernel, call by call: a short recording."""

import json
import os
import subprocess
import sys

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.lab.replay.record import refuse_old_qemu

POLICIES = ["fifo", "rr", "prio", "vtime"]
CALLS = 10_000

# In counted time, with each block of code looked at.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(600)]


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_every_call_is_answered_as_in_the_kernel(policy, tmp_path):
    try:
        refuse_old_qemu()
    except SaakmError as error:
        pytest.skip(f"no QEMU that can record: {error.why}")
    command = [sys.executable, "-m", "saakm", "replay", policy, "--cpus", "2", "--json"]
    done = subprocess.run(
        [*command, "--calls", str(CALLS), "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (row,) = json.loads(done.stdout)
    assert not row["difference"]
    assert row["equal"] + row["raced"] + row["not_replayed"] == row["calls"] >= CALLS
    assert row["not_replayed"] < CALLS / 100 > row["raced"]
    for kind in ("enqueue_task_saakm", "dequeue_task_saakm", "saakm_pick_task"):
        assert row["kinds"][kind]["equal"] > CALLS / 100
    assert (tmp_path / f"{policy}-2.recording").stat().st_size > CALLS
