# SPDX-License-Identifier: GPL-2.0
"""The table of costs: it is what the measurements yield, and what the program reads."""

import json

import pytest

from saakm.base.errors import SaakmError
from saakm.model.schema import fit
from saakm.model.sim_costs import CostFile
from saakm.sim import costs


def test_the_file_is_made_of_the_measurements():
    """After a new measurement: its `command`."""
    assert costs.MEASURED.read_text() == costs.written()


def test_what_is_derived_adds_up():
    """A round trip through a pipe is two wakeups and two switches more or less than fifo's."""
    file = fit(json.loads(costs.MEASURED.read_text()), CostFile)
    rows = json.loads((costs._RESULTS / "operations.json").read_text())
    pipe = {row["scheduler"]: row["instructions"] for row in rows if row["operation"] == "pipe"}
    fifo = file.of("fifo")
    assert set(file.policies) == {"fifo", "rr", "prio", "vtime"}
    for name, found in file.policies.items():
        more = 2 * (found.wakeup + found.switch - fifo.wakeup - fifo.switch)
        assert abs(more - (pipe[name] - pipe["fifo"])) <= 8


def test_what_the_program_reads():
    lines = costs.text_for(costs.MEASURED, "rr").splitlines()
    found = {name: int(value) for name, value in map(str.split, lines)}
    assert found["rate"] == 1000 and found["wakeup"] > 0 and found["migration_smt"] == 0
    assert set(found) == {
        "wakeup", "switch", "tick", "yield", "fork", "exit", "setattr", "rate",
        *(f"migration_{level}" for level in ("smt", "llc", "node", "far")),
    }  # fmt: skip
    assert costs.text_for(costs.MEASURED, "mine") == costs.text_for(costs.MEASURED, "fifo")
    assert costs.text_for(costs.MEASURED, "vtime") != costs.text_for(costs.MEASURED, "fifo")


def test_lines_are_taken_as_they_are(tmp_path):
    file = tmp_path / "costs.txt"
    file.write_text("wakeup 5\n")
    assert costs.text_for(file, "rr") == "wakeup 5\n"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"others": "cfs"}, "`others` is 'cfs'"),
        ({"rate": 0}, ">= 1"),
        ({"more": 1}, "unknown field"),
    ],
)
def test_a_table_that_makes_no_sense(tmp_path, change, why):
    file = tmp_path / "costs.json"
    file.write_text(json.dumps({**json.loads(costs.MEASURED.read_text()), **change}))
    with pytest.raises(SaakmError, match="is not a table of costs") as error:
        costs.text_for(file, "rr")
    assert why in error.value.why


def test_a_file_that_there_is_not(tmp_path):
    for name in ("no.json", "no.txt"):
        with pytest.raises(SaakmError, match="is not a table of costs"):
            costs.text_for(tmp_path / name, "rr")
