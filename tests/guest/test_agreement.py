# SPDX-License-Identifier: GPL-2.0
"""The simulator does what the kernel does: scenarios of lab/agreement/scenarios, whole in both."""

import itertools
import json

import pytest
from typer.testing import CliRunner

from saakm.cli import app
from saakm.lab.agreement.conduct import Result, run_in_guest, run_simulated
from saakm.lab.agreement.in_guest import ARGUMENTS
from saakm.lab.agreement.scenario import read_all

pytestmark = [
    pytest.mark.kernel("base"),
    pytest.mark.fast,
    pytest.mark.append(*ARGUMENTS),
    pytest.mark.limit(300),
]

BATCH = 5


def _batches():
    """Some of one machine each. Those whose moments depend on RCU, or on a balancing phase, are long."""
    scenarios = sorted(read_all(), key=lambda one: (one.machine, bool(one.near_ns), one.name))
    for (machine, _), group in itertools.groupby(
        scenarios, key=lambda one: (one.machine, bool(one.near_ns))
    ):
        names = list(group)
        for i in range(0, len(names), BATCH):
            batch = names[i : i + BATCH]
            marks = [pytest.mark.topology(machine)]
            if any(one.near_ns for one in batch):
                marks.append(pytest.mark.long)
            yield pytest.param(batch, marks=marks, id="+".join(one.name for one in batch))


@pytest.mark.rotates("scenarios")
@pytest.mark.parametrize("scenarios", list(_batches()))
def test_same_events(guest, scenarios):
    for scenario in scenarios:
        result = Result(scenario)
        run_simulated(result)
        run_in_guest(guest, result)
        assert not result.faults, f"{scenario.name}: {result.faults}"
        assert result.comparison.steps > 5, f"{scenario.name}: nothing happened"
        assert not result.comparison.difference, f"{scenario.name}: {result.comparison.difference}"
        assert result.played.story.interruptions <= 20, f"{scenario.name}: much was left out"


def test_the_command(tmp_path):
    """As a user plays one: docs/explanation/simulator.md."""
    done = CliRunner().invoke(
        app, ["agree", "preemption-prio", "--json", "--keep", str(tmp_path / "kept")]
    )
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["agrees"] and row["steps"] > 5 and row["difference"] is None and not row["faults"]
    kept = {file.name for file in (tmp_path / "kept").iterdir()}
    sides = [f"preemption-prio.{side}" for side in ("kernel", "simulator")]
    assert kept == {f"{side}.{what}" for side in sides for what in ("trace", "story")}
