# SPDX-License-Identifier: GPL-2.0
"""Policies with faults do not upset the class's accounts of the threads that sleep and stay queued."""

import pytest
from simulated import simulated


@pytest.fixture(scope="module")
def tortured(tmp_path_factory):
    return simulated(
        "misdelayer", "torture:modules=0", 4, 300000000, tmp_path_factory.mktemp("misdelayer")
    )


def test_flags_of_events_are_not_relied_on(tortured):
    """Who is ousted while it stays is counted on its next CPU, whatever its policy makes of the event."""
    done = tortured("how=forge")
    assert done.returncode == 0 and "WARN" not in done.stderr, done.stderr


def test_an_ejected_policy_is_asked_for_no_key(tortured):
    """It is ejected by the election after a thread has said that it stays."""
    done = tortured("how=nobody")
    assert done.returncode == 1 and "wrong-election" in done.stderr, done.stderr
    assert "WARN" not in done.stderr, done.stderr
