# SPDX-License-Identifier: GPL-2.0
"""eevdf decides as the kernel's fair class does, call by call: short recordings."""

import json
import os
import subprocess
import sys
import time

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.policies import find_policy
from saakm.lab.replay.build import build_fair
from saakm.lab.replay.fair_conduct import replay_fair
from saakm.lab.replay.fair_record import FairRecorded, record_fair
from saakm.lab.replay.record import refuse_old_qemu
from saakm.lab.replay.scenarios import SCENARIOS
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Recipe

PICKS = 2_000

# In counted time, with each block of code looked at.
pytestmark = [pytest.mark.limit(600)]


@pytest.fixture(autouse=True)
def new_qemu():
    try:
        refuse_old_qemu()
    except SaakmError as error:
        pytest.skip(f"no QEMU that can record: {error.why}")


def agree(wanted, recording, params=()):
    record_fair(wanted, recording)
    return replayed(wanted, recording, params)


def replayed(wanted, recording, params=()):
    module = read_module(find_policy("eevdf"))
    begun = time.monotonic()
    return replay_fair(build_fair(module, Recipe()), module, recording, wanted, params, begun)


def check(found, picks=PICKS):
    assert not found.difference, found.difference
    assert found.picks - found.picks_of_boot >= picks
    assert found.choices > picks / 2 and found.preemptions > picks / 10 and found.states > picks


@pytest.mark.kernel("base")
def test_the_command(tmp_path):
    """As a user compares: docs/explanation/equal-to-fair.md."""
    command = [sys.executable, "-m", "saakm", "replay", "eevdf", "--of", "fair", "--states"]
    more = ["--scenario", "mixed", "--picks", str(PICKS), "--cpus", "2", "--keep", str(tmp_path)]
    done = subprocess.run(
        [*command, *more, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (row,) = json.loads(done.stdout)
    assert row["picks"] - row["picks_of_boot"] >= PICKS and not row["difference"]
    assert row["states"] > PICKS and row["kernel"] == "base"
    assert (tmp_path / "fair-mixed-2.recording").stat().st_size > PICKS


def _scenarios():
    for name, one in SCENARIOS.items():
        config = FairRecorded(one, 1, 1).config
        yield pytest.param(name, marks=pytest.mark.kernel(config), id=name)


@pytest.mark.rotates("name", 5)
@pytest.mark.parametrize("name", list(_scenarios()))
def test_every_decision_is_fairs(name, tmp_path):
    wanted = FairRecorded(SCENARIOS[name], 1, PICKS, states=True)
    found = agree(wanted, tmp_path / "recording")
    assert found.states
    assert not found.difference, found.difference
    assert found.picks - found.picks_of_boot >= PICKS


@pytest.mark.kernel("base")
def test_what_is_decided_otherwise_is_found(tmp_path):
    """The same recording, and a policy with other features than the kernel's."""
    wanted = FairRecorded(SCENARIOS["mixed"], 1, PICKS, states=True)
    check(agree(wanted, tmp_path / "recording"))
    for feature in ("run_to_parity", "delay_dequeue", "preempt_short", "place_rel_deadline"):
        found = replayed(wanted, tmp_path / "recording", [f"{feature}=0"])
        assert not found.holds and found.picks > 0
        assert "current is thread" in found.difference and "policy eevdf" in found.difference
