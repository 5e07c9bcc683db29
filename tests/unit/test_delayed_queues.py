# SPDX-License-Identifier: GPL-2.0
"""Threads that sleep stay in core->rq alone: a policy that has other queues is refused when it is loaded."""

import pytest
from simulated import simulated


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return simulated("undelayed", "hackbench", 2, 20000000, tmp_path_factory.mktemp("undelayed"))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("share", "its init returned -22"),
        ("none", "block_delay is of no use: queue is SAAKM_RQ_NONE"),
    ],
)
def test_other_queues_are_refused(loaded, how, why):
    done = loaded(f"how={how}")
    assert done.returncode and why in done.stderr, done.stderr


def test_its_own_is_taken(loaded):
    done = loaded("how=")
    assert done.returncode == 0, done.stderr
