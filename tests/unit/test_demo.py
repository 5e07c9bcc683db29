# SPDX-License-Identifier: GPL-2.0
"""What the demo takes as proof."""

from dataclasses import replace

import pytest

from saakm.commands.demo import Measured

GOOD = Measured("fifo", 1.0, tasks=161, forks=162, kernel_switches=5193, threads=161, switches=5185)


def test_witnesses_that_agree():
    assert GOOD.doubts == []


def test_fair_has_nothing_to_prove():
    assert replace(GOOD, threads=None, switches=None).doubts == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"threads": 160}, "the policy saw 160"),
        ({"threads": 162}, "the policy saw 162"),
        ({"forks": 160}, "the kernel forked 160"),
        ({"switches": 0}, "the policy 0"),
        ({"switches": 9000}, "the policy 9000"),
    ],
)
def test_threads_or_switches_outside_the_policy_are_noticed(change, said):
    assert said in " ".join(replace(GOOD, **change).doubts)
