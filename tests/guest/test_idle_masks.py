# SPDX-License-Identifier: GPL-2.0
"""saakm_idle_cpu_in() and saakm_running_on(): what runs where, as modules/idlers is told."""

from collections import Counter

import pytest

from .support import load_policy, run_ok

# Behaviour: other threads of the guest's may keep a CPU for a moment, so some answers may differ.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/idlers/parameters"
TIMES = 20
MOSTLY = 15


def _use(guest, *parameters: str) -> int:
    """Loaded, and in use: it has had a thread."""
    id_ = load_policy(guest, "idlers", *parameters)
    run_ok(guest, "saakmctl exec idlers -- true")
    return id_


def _answers(guest, program, what: str, question: str, mask: str = "ff") -> Counter[int]:
    """Of so many times, to a thread on CPU 0 that may use those of the mask, too."""
    asks = f"{program('asks')} {PARAMETERS}/{what} {question} {mask} {TIMES}"
    return Counter(map(int, run_ok(guest, asks, timeout=60).split()))


def _hog(guest, *cpus: int) -> None:
    """Fair ones, until the test has ended. Each says that it loops: before, it waits for its files."""
    for cpu in cpus:
        loop = f"while [ -e /tmp/hog{cpu} ] || : >/tmp/hog{cpu}; do :; done"
        run_ok(guest, f"rm -f /tmp/hog{cpu}; taskset -c {cpu} sh -c '{loop}' >/dev/null 2>&1 &")
    for cpu in cpus:
        run_ok(guest, f"until [ -e /tmp/hog{cpu} ]; do busybox usleep 10000; done")


MASKS = pytest.mark.parametrize(
    "parameters",
    [["keeps_masks=1"], ["keeps_masks=0"], ["keeps_masks=0", "shares=1"]],
    ids=["masks", "no_masks", "shared_queue"],
)


@MASKS
def test_an_idle_one_is_found(guest, program, parameters):
    _use(guest, *parameters)
    for cpu in (1, 2, 3):
        assert _answers(guest, program, "ask", str(cpu))[cpu] >= MOSTLY


@MASKS
def test_a_busy_one_is_not(guest, program, parameters):
    _use(guest, *parameters)
    _hog(guest, 2)
    assert set(_answers(guest, program, "ask", "2")) == {-1}
    found = _answers(guest, program, "ask", "1-2")
    assert 2 not in found and found[1] >= MOSTLY, found


@MASKS
def test_one_that_was_busy_is(guest, program, parameters):
    _use(guest, *parameters)
    _hog(guest, 1, 2, 3)
    assert set(_answers(guest, program, "ask", "1-3")) == {-1}
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert _answers(guest, program, "ask", "3")[3] >= MOSTLY


@MASKS
def test_only_those_that_the_thread_may_use(guest, program, parameters):
    _use(guest, *parameters)
    found = _answers(guest, program, "ask", "1-3", "4")
    assert set(found) <= {2, -1} and found[2] >= MOSTLY, found
    assert set(_answers(guest, program, "ask", "3", "7")) == {-1}


@MASKS
def test_a_policy_that_comes_into_use_finds_the_masks_right(guest, program, parameters):
    """CPUs were busy, and others idle, before anybody asked for masks."""
    _hog(guest, 1, 3)
    _use(guest, *parameters)
    found = _answers(guest, program, "ask", "1-3")
    assert set(found) <= {2, -1} and found[2] >= MOSTLY, found


@MASKS
def test_hotplug(guest, program, parameters):
    """A CPU that is away is never named; one that has come back is, when it idles."""
    online = "/sys/devices/system/cpu/cpu3/online"
    _use(guest, *parameters)
    run_ok(guest, f"echo 0 >{online}")
    assert set(_answers(guest, program, "ask", "3")) == {-1}
    run_ok(guest, f"echo 1 >{online}")
    assert _answers(guest, program, "ask", "3")[3] >= MOSTLY
    _hog(guest, 3)
    assert set(_answers(guest, program, "ask", "3")) == {-1}


@pytest.mark.topology("1s3c2t")
@pytest.mark.parametrize(
    "parameters", [["keeps_masks=1"], ["keeps_masks=0", "shares=1"]], ids=["masks", "shared_queue"]
)
def test_whole_cores_go_first(guest, program, parameters):
    """Siblings are 0 and 1, 2 and 3, 4 and 5. Who asks is on CPU 0, a hog on CPU 2."""
    _use(guest, *parameters)
    _hog(guest, 2)
    found = _answers(guest, program, "ask", "1,3,4,5")
    assert found[4] + found[5] >= MOSTLY, found
    # No core is idle as a whole: a thread of one is better than nothing.
    _hog(guest, 4)
    found = _answers(guest, program, "ask", "3,5")
    assert set(found) <= {3, 5, -1} and found[3] + found[5] >= MOSTLY, found
    # A sibling that goes offline leaves the other one as a whole core.
    run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu3/online")
    assert 3 not in _answers(guest, program, "ask", "3,5")
    run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu3/online")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert _answers(guest, program, "ask", "3")[3] >= MOSTLY


def test_the_thread_that_runs_on_a_core(guest, program):
    """Of this policy; those of another one or of fair count as nobody."""
    id_ = _use(guest)
    other = load_policy(guest, "fifo")
    tids = []
    for policy, cpu in ((id_, 1), (other, 2)):
        hog = f"{program('hogs')} {policy} {cpu} pinned 0"
        run_ok(guest, f"rm -f /tmp/tid{cpu}; {hog} >/tmp/tid{cpu} &")
        run_ok(guest, f"until [ -s /tmp/tid{cpu} ]; do busybox usleep 10000; done")
        tids.append(int(run_ok(guest, f"cat /tmp/tid{cpu}; rm /tmp/tid{cpu}")))
    _hog(guest, 3)
    found = _answers(guest, program, "running", "1")
    assert set(found) <= {tids[0], 0} and found[tids[0]] >= MOSTLY, (found, tids)
    assert set(_answers(guest, program, "running", "2")) == {0}
    assert set(_answers(guest, program, "running", "3")) == {0}
