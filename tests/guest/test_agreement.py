# SPDX-License-Identifier: GPL-2.0
"""The simulator does what the kernel does: scenarios of lab/agreement/scenarios, whole in both."""

import itertools

import pytest

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
