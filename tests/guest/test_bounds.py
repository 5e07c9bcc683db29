# SPDX-License-Identifier: GPL-2.0
"""saakm_rq_first_within() against a walk through the queue: modules/bounded."""

import pytest

from .support import load_policy, run_ok

COUNTS = ("asked", "wrong", "found", "none", "not_first", "unsorted", "renewed", "longest")


def _counts(guest) -> dict[str, int]:
    out = run_ok(guest, f"cd /sys/module/bounded/parameters && cat {' '.join(COUNTS)}")
    return dict(zip(COUNTS, map(int, out.split()), strict=True))


def _checked(guest, least: int) -> dict[str, int]:
    found = _counts(guest)
    assert not found["wrong"] and not found["unsorted"], found
    assert min(found["found"], found["none"], found["not_first"]) >= least, found
    return found


@pytest.mark.kernel("base")
@pytest.mark.parametrize("renews", ["N", "Y"])
def test_large_trees(guest, program, renews):
    """All on one CPU: threads come, go from any place, and are sorted in anew while they wait."""
    load_policy(guest, "bounded", f"renews={renews}")
    crowd = f"taskset -c 1 {program('crowd')} -p bounded -n 60 -l 400 -e saakm 'sleep 2'"
    run_ok(guest, crowd, timeout=110)
    found = _checked(guest, 100)
    assert found["longest"] >= 20, found
    assert (found["renewed"] >= 100) == (renews == "Y"), found


@pytest.mark.kernel("base")
def test_nice_values_change_both_keys(guest, program):
    id_ = load_policy(guest, "bounded")
    run_ok(guest, f"{program('renicers')} {id_}", timeout=60)
    _checked(guest, 20)


@pytest.mark.threads
@pytest.mark.kernel("base")
def test_trees_of_all_cpus(guest, program):
    id_ = load_policy(guest, "bounded")
    run_ok(
        guest, f"{program('trigger_life')} storm {id_} && {program('renicers')} {id_}", timeout=250
    )
    _checked(guest, 20)


@pytest.mark.kernel("base")
def test_no_answer_without_bounds(guest, program):
    id_ = load_policy(guest, "bounded", "unbound=1")
    run_ok(guest, f"{program('victims')} {id_}", timeout=60)
    found = _counts(guest)
    assert found["asked"] > 100 and not found["wrong"] and not found["found"], found
    assert found["none"], found
