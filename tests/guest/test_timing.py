# SPDX-License-Identifier: GPL-2.0
"""The simulator's times are the kernel's: a file of rt-app, played by rt-app itself, and simulated."""

import json

import pytest
from typer.testing import CliRunner

from saakm.cli import app
from saakm.lab.bench.packages import ensure
from saakm.lab.timing.case import find
from saakm.lab.timing.compare import apart
from saakm.lab.timing.conduct import compared, ran
from saakm.lab.timing.in_guest import ARGUMENTS, PACKAGES

pytestmark = [
    pytest.mark.kernel("base"),
    pytest.mark.fast,
    pytest.mark.topology("1s1c"),
    pytest.mark.append(*ARGUMENTS),
    pytest.mark.limit(300),
]

# Under rr it hangs on microseconds whether a slice of one tick ends at the next or the one after.
NEAR = 0.0075


@pytest.mark.parametrize("name, policy", [("short", "fifo"), ("mix", "prio")])
def test_switches_and_waits(guest, name, policy):
    ensure(PACKAGES)
    case = find(name)
    row = compared(ran(guest, case, policy), case, policy)
    assert not row.misses, row
    # Told when threads of the kernel's own came between, it knows nearly all.
    for figure in ("switches", "wait_us_p50", "wait_us_p99"):
        assert abs(apart(row.guest, row.told, figure)) < NEAR, (figure, row)


def test_the_command(tmp_path):
    """As docs/explanation/simulator.md has it: guests' events are kept, and compared again."""
    kept = tmp_path / "kept"
    short = ["timing", "short", "--policies", "fifo", "--json"]
    ran_now = CliRunner().invoke(app, [*short, "--keep", str(kept)])
    assert ran_now.exit_code == 0, ran_now.output
    assert [file.name for file in kept.glob("*.trace")] == ["short.1s1c.fifo.trace"]
    again = CliRunner().invoke(app, [*short, "--kept", str(kept)])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout) == json.loads(ran_now.stdout)
    (row,) = json.loads(again.stdout)
    assert not row["misses"] and row["guest"]["switches"] > 1000, row
