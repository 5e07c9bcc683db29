# SPDX-License-Identifier: GPL-2.0
"""The schedulers that are compared decide alike: each in sched_ext C, and in ours."""

import shlex

import pytest

from saakm.base import paths
from saakm.builder import peers
from saakm.builder.modules import build_modules

from .support import run_ok

# sched_ext flips static keys as it comes and goes.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("1s4c")]

EXT, SAAKM = "7", "8"
PAIRS = {name: f"scx_{name}" for name in ("global", "fifo", "steal", "rr", "prio", "mlfq", "vtime")}
EXAMPLES = ("global", "steal", "mlfq")


def both(*names):
    return [f"{side}-{name}" for name in names for side in ("ours", "theirs")]


@pytest.fixture(params=both(*PAIRS))
def scheduler(request, guest):
    """What runs a command under it, its threads' class, and its name."""
    side, _, name = request.param.partition("-")
    if side == "theirs":
        return f"{peers.build(PAIRS[name])} -p", EXT, name
    source = paths.REPO / "docs/examples" / name if name in EXAMPLES else name
    if name in EXAMPLES:
        build_modules(guest.kernel, sources=[source])
    guest.load(source)
    return f"saakmctl exec {name} --", SAAKM, name


def used_us(guest, prefix, command):
    return [int(word) for word in run_ok(guest, f"{prefix} {command}").split()]


@pytest.mark.rotates("scheduler", 4)
def test_hackbench(guest, scheduler):
    prefix, number, name = scheduler
    which = {
        EXT: "cat /sys/kernel/sched_ext/root/ops",
        SAAKM: "awk '/^name/ { print $2 }' /proc/self/saakm",
    }
    script = f"{which[number]}; cut -d' ' -f41 /proc/$$/stat; hackbench -g 2 -l 50"
    said = run_ok(guest, f"{prefix} sh -c {shlex.quote(script)}", timeout=100).split()
    assert said[:2] == [PAIRS[name] if number == EXT else name, number]
    assert "Time:" in said


@pytest.mark.rotates("scheduler", 2)
@pytest.mark.parametrize("scheduler", both("rr", "mlfq", "vtime"), indirect=True)
def test_sharing_a_cpu(guest, program, scheduler):
    """Who takes turns halves it; nice 5 weighs 335 to 1024."""
    prefix, _, name = scheduler
    ratio = 1024 / 335 if name == "vtime" else 1.0
    first, second = used_us(guest, prefix, f"{program('inherits')} 2000 1 pinned 0 5")
    assert ratio * 0.75 < first / second < ratio * 1.33


@pytest.mark.parametrize("scheduler", both("vtime"), indirect=True)
def test_who_comes_late_owes_and_is_owed_nothing(guest, program, scheduler):
    """A hog has the CPU for 0.7 of 2 s, then the two share it: 1350 and 650 ms."""
    prefix, *_ = scheduler
    first, late = used_us(guest, prefix, f"{program('inherits')} 2000 1 pinned 0 0:l")
    assert 1.5 < first / late < 3


@pytest.mark.parametrize("scheduler", both("prio"), indirect=True)
@pytest.mark.parametrize("nices", [(0, 5), (5, 0)])
def test_the_lower_nice_value_has_it_all(guest, program, scheduler, nices):
    """Whoever came first."""
    prefix, *_ = scheduler
    words = " ".join(map(str, nices))
    used = used_us(guest, prefix, f"{program('inherits')} 2000 1 pinned {words}")
    assert used[nices.index(5)] < 0.02 * used[nices.index(0)]


@pytest.mark.rotates("scheduler", 2)
@pytest.mark.parametrize("scheduler", both("rr", "prio", "mlfq"), indirect=True)
def test_short_bursts_beside_hogs(guest, program, scheduler):
    """One wants a quarter of the CPU, 2 ms at a time. It waits for its turn, or goes first."""
    prefix, _, name = scheduler
    hogs = "5 5" if name == "prio" else "0 0"
    *_, bursts = used_us(guest, prefix, f"{program('inherits')} 2000 1 pinned {hogs} 0:s")
    if name == "rr":
        assert bursts < 0.7 * 500_000
    else:
        assert bursts > 0.8 * 500_000


@pytest.mark.rotates("scheduler", 4)
def test_dry_cpus(guest, program, scheduler):
    """Four that wait on one CPU and may go elsewhere: only those who steal fetch them.

    A CPU steals as it gets idle, which one that is idle does not.
    """
    prefix, _, name = scheduler
    used = used_us(guest, prefix, f"{program('inherits')} 2000 1 free 0 0 0 0")
    if name in ("global", "rr", "steal"):
        assert min(used) > 500_000
    else:
        assert sum(used) < 2_500_000


@pytest.mark.parametrize("scheduler", both("global"), indirect=True)
def test_the_order_of_arrival_is_that_of_all_cpus(guest, program, scheduler):
    """Those that came to three CPUs, all busy: one of which gets free, and runs them all."""
    prefix, *_ = scheduler
    order = used_us(guest, prefix, program("arrival"))
    # Hardly anyone is preempted. A CPU that emptied queue after queue would show in any five.
    assert order == sorted(order) and len(order) >= 5, order
