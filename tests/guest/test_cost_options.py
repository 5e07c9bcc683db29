# SPDX-License-Identifier: GPL-2.0
"""What the options of saakm cost change, in as few boots as will do."""

import json

import pytest

from saakm.lab.cost import baseline
from saakm.model.schema import plain

from .support import find_kernel
from .test_cost import saakm_cost

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]


def test_conditions_and_files(tmp_path):
    """What was asked for stands in the figures; and in the pictures, the page and the baseline."""
    drawn = [tmp_path / name for name in ("cost.svg", "cost.png", "cost.md")]
    kept = tmp_path / "base.json"
    done = saakm_cost(
        "--op", "yield", "--schedulers", "fifo", "--scale", "10", "--cpus", "1",
        "--seed", "3", "--seeds", "2", "--runnable", "5", "--switches", "--load", "rr", "--json",
        "--kernel", str(find_kernel("base").vmlinux), "--write-baseline", str(kept),
        "--svg", str(drawn[0]), "--png", str(drawn[1]), "--markdown", str(drawn[2]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # For a kernel of our own that is named; others would meet a directory in the middle of it.
    assert "building modules" not in done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["cpus"], row["seeds"], row["runnable"]) == (1, [3, 4], 5)
    assert (set(row["loaded"]), row["switches"], row["scale"]) == ({"rr", "fifo"}, True, 10)
    assert drawn[0].read_text().startswith("<?xml") and drawn[1].read_bytes()[1:4] == b"PNG"
    assert f"{row['instructions']:,.0f}" in drawn[2].read_text()
    assert plain(baseline.read(kept).rows) == [row]


@pytest.mark.long
@pytest.mark.limit(1500)
def test_flame_graph_and_the_first_functions(tmp_path):
    """The program that draws is built first: minutes."""
    drawn = tmp_path / "pipe.svg"
    args = ("--op", "pipe", "--schedulers", "fifo,rr", "--scale", "10", "--where")
    done = saakm_cost(*args, "--flame", str(drawn), "--top", "1")
    assert done.returncode == 0, done.stderr
    text = drawn.read_text()
    assert "<svg" in text and "try_to_wake_up" in text
    # Of some hundred functions only the dearest is shown.
    functions = ("__schedule", "try_to_wake_up", "enqueue_task_saakm", "saakm_pick_task")
    assert sum(done.stdout.count(f" {name} ") for name in functions) <= 2


def test_a_slice_s_end_is_not_for_those_without_slices_fails():
    done = saakm_cost("--op", "slice", "--schedulers", "fifo")
    assert done.returncode == 1 and "no time slice ends" in done.stderr
    assert "Success" not in done.stderr and "leave it, or the operation, out" in done.stderr
