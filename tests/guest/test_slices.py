# SPDX-License-Identifier: GPL-2.0
"""Time slices end when they shall, by a tick or by a timer, and none is lost."""

import pytest

from .support import joined, load_policy, run_ok

pytestmark = pytest.mark.kernel("base")

# Interrupts and other CPUs, which take turns, delay the end. One that was lost waits for a tick,
# which comes every 4 ms.
LOST_NS = 1_500_000
FIGURES = ("ended", "late", "shortest_ns", "longest_ns", "longest_other_ns")


def _figures(guest) -> dict[str, int]:
    out = run_ok(guest, f"cd /sys/module/slicer/parameters && cat {' '.join(FIGURES)}")
    return dict(zip(FIGURES, map(int, out.split())))


@pytest.mark.fast
@pytest.mark.parametrize("how", ["slice_us", "own_us"])
def test_slices_of_5_us_end_in_time(guest, program, how):
    """10,000 in a row end 5 to 6 us after they began, but for those that another interrupt delays."""
    id = load_policy(guest, "slicer", f"{how}=5")
    run_ok(guest, f"{program('shares')} 1 110 {id}:0 {id}:0", timeout=100)
    found = _figures(guest)
    assert found["ended"] >= 10_000, found
    assert found["shortest_ns"] >= 5000, found
    assert found["late"] <= found["ended"] / 100, found
    assert max(found["longest_ns"], found["longest_other_ns"]) < LOST_NS, found


@pytest.mark.fast
@pytest.mark.parametrize("how", ["slice_us", "own_us"])
def test_who_comes_later_gets_its_turn(guest, program, how):
    """A thread that runs alone is not timed, until another one wakes beside it."""
    id = load_policy(guest, "slicer", f"{how}=100")
    run_ok(guest, f"{program('shares')} 1 60 {id}:0 {id}:0:s {id}:0:s", timeout=100)
    found = _figures(guest)
    assert found["ended"] >= 100, found
    assert max(found["longest_ns"], found["longest_other_ns"]) < LOST_NS, found


def test_slice_is_changed_while_threads_run(guest, program):
    id = load_policy(guest, "slicer")
    run_ok(guest, f"{program('shares')} 1 600 {id}:0 {id}:0 > /tmp/shares & {joined('slicer', 2)};"
           "echo 50 > /sys/module/slicer/parameters/slice_us && wait $!", timeout=100)  # fmt: skip
    assert _figures(guest)["ended"] > 100


def test_slice_ends_at_the_tick(guest, program):
    """From a tick on: two hogs take turns of 4 to 8 ms."""
    id = load_policy(guest, "slicer", "slice_us=4000")
    run_ok(guest, f"{program('shares')} 1 400 {id}:0 {id}:0", timeout=100)
    found = _figures(guest)
    assert found["ended"] > 20, found
    assert found["shortest_ns"] >= 4_000_000, found
    assert found["longest_ns"] < 12_100_000, found


@pytest.mark.fast
def test_slice_goes_on_when_parameters_change(guest, program):
    """A thread that is taken out and put back while it runs keeps its end, and its timer."""
    id = load_policy(guest, "slicer", "slice_us=100")
    run_ok(
        guest,
        f"""
        {program("hogs")} {id} 1 pinned 0 0 >/tmp/hogs & hogs=$!
        until [ -s /tmp/hogs ]; do busybox usleep 10000; done
        # Counted, not timed: each reads files of the host's.
        for n in $(seq 20); do renice -n $((n % 2)) -p $(cat /tmp/hogs) || exit 1; done >/dev/null
        until [ $(cat /sys/module/slicer/parameters/ended) -gt 500 ]; do busybox usleep 10000; done
        kill -KILL $hogs; wait $hogs; rm /tmp/hogs
        """,
        timeout=100,
    )
    found = _figures(guest)
    assert found["ended"] > 500, found
    assert max(found["longest_ns"], found["longest_other_ns"]) < LOST_NS, found


def test_shorter_slice_reaches_the_turn_under_way(guest, program):
    id = load_policy(guest, "slicer", "slice_us=60000000")
    run_ok(guest, f"{program('shares')} 1 600 {id}:0 {id}:0 > /tmp/shares & {joined('slicer', 2)};"
           "echo 1000 > /sys/module/slicer/parameters/slice_us && wait $!", timeout=100)  # fmt: skip
    assert _figures(guest)["ended"] > 20


def test_slice_of_the_turn_that_begins(guest, program):
    """saakm_set_slice() in `running` is about this turn: none is cut short.

    But by a thread of the kernel, which may end any of them: those do not count.
    """
    id = load_policy(guest, "slicer", "own_us=50000", "in_running=1")
    run_ok(guest, f"{program('shares')} 1 500 {id}:0 {id}:0", timeout=100)
    found = _figures(guest)
    assert found["ended"] > 0, found
    assert found["shortest_ns"] >= 50_000_000, found
