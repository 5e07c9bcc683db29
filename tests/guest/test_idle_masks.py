# SPDX-License-Identifier: GPL-2.0
"""saakm_idle_cpu_in() and saakm_running_on(): what runs where, as modules/idlers is told."""

import pytest

from .support import load_policy, run_ok

# Behaviour: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/idlers/parameters"
TIMES = 20
ALL_BITS = (1 << 64) - 1


def _use(guest, *parameters: str) -> int:
    """Loaded, and in use: it has had a thread."""
    id_ = load_policy(guest, "idlers", *parameters)
    run_ok(guest, "saakmctl exec idlers -- true")
    return id_


def _ask(
    guest, program, what: str, question: str, mask: int, care: int, wanted: int
) -> list[tuple[int, int]]:
    """Answers, each with what was true at that moment: programs/asks.c."""
    words = f"{mask:x} {care:x} {wanted:x} {TIMES}"
    asks = f"{program('asks')} {PARAMETERS}/{what} {question} {words}"
    rows = run_ok(guest, asks, timeout=60).splitlines()
    return [(int(said), int(truth, 16)) for said, truth in map(str.split, rows)]


def _bits(cpus: set[int]) -> int:
    return sum(1 << cpu for cpu in cpus)


def _is_right(guest, program, asked: set[int], idle: set[int], may: int = 0xFF, **best) -> None:
    """A thread on CPU 0, which may use those of a mask as well, asks for an idle one of some.

    It goes on until so many times exactly these of them idle. Other threads of the guest's may have
    a CPU at any moment: what each answer should be is told by who idled then.
    """
    question = ",".join(map(str, sorted(asked)))
    found = _ask(guest, program, "ask", question, may, _bits(asked), _bits(idle))
    for said, truth in found:
        assert said in _right(asked, may, truth, **best), f"{said}, while {truth:#x} idle: {found}"


def _right(asked: set[int], may: int, truth: int, cores: bool = False) -> set[int]:
    """What may be answered. `cores`: CPU 2n and 2n + 1 are siblings, and whole cores go first."""
    usable = {cpu for cpu in asked if (may & truth) >> cpu & 1}
    whole = {cpu for cpu in usable if cores and truth >> (cpu ^ 1) & 1}
    return whole or usable or {-1}


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
        _is_right(guest, program, {cpu}, idle={cpu})


@MASKS
def test_a_busy_one_is_not(guest, program, parameters):
    _use(guest, *parameters)
    _hog(guest, 2)
    _is_right(guest, program, {2}, idle=set())
    _is_right(guest, program, {1, 2}, idle={1})


@MASKS
def test_one_that_was_busy_is(guest, program, parameters):
    _use(guest, *parameters)
    _hog(guest, 1, 2, 3)
    _is_right(guest, program, {1, 2, 3}, idle=set())
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    _is_right(guest, program, {3}, idle={3})


@MASKS
def test_only_those_that_the_thread_may_use(guest, program, parameters):
    _use(guest, *parameters)
    _is_right(guest, program, {1, 2, 3}, idle={1, 2, 3}, may=0b0100)
    _is_right(guest, program, {3}, idle={3}, may=0b0111)


@MASKS
def test_a_policy_that_comes_into_use_finds_the_masks_right(guest, program, parameters):
    """CPUs were busy, and others idle, before anybody asked for masks."""
    _hog(guest, 1, 3)
    _use(guest, *parameters)
    _is_right(guest, program, {1, 2, 3}, idle={2})


@MASKS
def test_hotplug(guest, program, parameters):
    """A CPU that is away is never named; one that has come back is, when it idles."""
    online = "/sys/devices/system/cpu/cpu3/online"
    _use(guest, *parameters)
    run_ok(guest, f"echo 0 >{online}")
    _is_right(guest, program, {3}, idle=set())
    run_ok(guest, f"echo 1 >{online}")
    _is_right(guest, program, {3}, idle={3})
    _hog(guest, 3)
    _is_right(guest, program, {3}, idle=set())


@pytest.mark.topology("1s3c2t")
@pytest.mark.parametrize(
    "parameters", [["keeps_masks=1"], ["keeps_masks=0", "shares=1"]], ids=["masks", "shared_queue"]
)
def test_whole_cores_go_first(guest, program, parameters):
    """Siblings are 0 and 1, 2 and 3, 4 and 5. Who asks is on CPU 0, a hog on CPU 2."""
    _use(guest, *parameters)
    _hog(guest, 2)
    _is_right(guest, program, {1, 3, 4, 5}, idle={1, 3, 4, 5}, cores=True)
    # No core is idle as a whole: a thread of one is better than nothing.
    _hog(guest, 4)
    _is_right(guest, program, {3, 5}, idle={3, 5}, cores=True)
    # A sibling that goes offline leaves the other one as a whole core.
    run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu3/online")
    _is_right(guest, program, {3, 5}, idle={5}, cores=True)
    run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu3/online")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    _is_right(guest, program, {3}, idle={3}, cores=True)


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
    tids.append(int(run_ok(guest, "pgrep -f '^sh -c while'")))
    for cpu, there in zip((1, 2, 3), tids, strict=True):
        found = _ask(guest, program, "running", str(cpu), 0xFF, ALL_BITS, there)
        # Others come by now and then.
        expected = [tids[0] if truth == tids[0] else 0 for _, truth in found]
        assert [said for said, _ in found] == expected, (found, tids)
