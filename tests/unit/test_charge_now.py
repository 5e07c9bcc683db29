# SPDX-License-Identifier: GPL-2.0
"""saakm_charge_now() is for wakeup_preempt alone: elsewhere the policy is ejected, and nothing is corrupted."""

import json

import pytest
from simulated import simulated

REASONS = {
    "prepare": "saakm_charge_now called in ",
    "place": "saakm_charge_now called in ",
    "tick": "saakm_charge_now called in tick",
    "newly_idle": "saakm_charge_now called in newly_idle",
    "used": "saakm_charge_now called in used",
    "nobody": "saakm_charge_now called for a thread that does not run on CPU",
    "woken": "saakm_charge_now called for a thread that does not run on CPU",
}


@pytest.fixture(scope="module")
def charged(tmp_path_factory):
    return simulated("charger", "hackbench", 4, 50000000, tmp_path_factory.mktemp("charger"))


@pytest.mark.parametrize("where", REASONS)
def test_who_calls_it_elsewhere_is_ejected(charged, where):
    done = charged(f"where={where}")
    assert done.returncode == 1 and REASONS[where] in done.stderr, done.stderr
    assert "(policy-error)" in done.stderr and "WARN" not in done.stderr, done.stderr


def test_where_it_belongs_it_is_obeyed(charged):
    done = charged("where=")
    assert done.returncode == 0 and not json.loads(done.stdout)["warnings"], done.stderr
