# SPDX-License-Identifier: GPL-2.0
"""Each QEMU that a user may have: this machine's own, and the one that is fetched beside it."""

import json
import os
import subprocess
import sys

import pytest

from saakm import paths
from saakm.qemu_program import find_qemu

from .support import load_policy, policies, run_ok

pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("1s2c")]


@pytest.fixture(params=["", "system"], ids=["chosen", "own"])
def qemu(request, monkeypatch):
    monkeypatch.setenv("SAAKM_QEMU", request.param)
    found = find_qemu()
    if request.param:
        monkeypatch.setenv("SAAKM_QEMU", "")
        if found in (None, find_qemu()) or found.program == find_qemu().program:
            pytest.skip("this machine has one QEMU only")
        monkeypatch.setenv("SAAKM_QEMU", request.param)
    return found


def test_a_storm(qemu, boot, program):
    guest = boot()
    load_policy(guest, "rr")
    run_ok(guest, f"{program('storm')} rr affinity 300", timeout=110)
    after = policies(guest)["rr"]
    assert after.new == after.terminated > 0


@pytest.mark.limit(300)
def test_counting_and_the_plugin_agree(qemu):
    """Deterministic runs; the plugin speaks the version of the interface that this QEMU has."""

    def cost(*more):
        command = [sys.executable, "-m", "saakm", "cost", "--op", "yield", "--schedulers", "fifo"]
        done = subprocess.run(
            [*command, "--cpus", "1", "--scale", "10", "--json", *more],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (whole,), parts = cost(), cost("--where")
    assert sum(part["instructions"] for part in parts) == pytest.approx(
        whole["instructions"], rel=0.01
    )
    assert {"do_sched_yield", "fifo_schedule [fifo]"} <= {part["function"] for part in parts}
