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
PAIRS = {"fifo": "scx_fifo", "rr": "scx_rr", "steal": "scx_steal", "vtime": "scx_vtime"}


def both(*names):
    return [f"{side}-{name}" for name in names for side in ("ours", "theirs")]


@pytest.fixture(params=both(*PAIRS))
def scheduler(request, guest):
    """What runs a command under it, its threads' class, and its name."""
    side, _, name = request.param.partition("-")
    if side == "theirs":
        return f"{peers.build(PAIRS[name])} -p", EXT, name
    source = paths.REPO / "docs/examples/steal" if name == "steal" else name
    if name == "steal":
        build_modules(guest.kernel, sources=[source])
    guest.load(source)
    return f"saakmctl exec {name} --", SAAKM, name


def used_us(guest, prefix, command):
    return [int(word) for word in run_ok(guest, f"{prefix} {command}").split()]


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


@pytest.mark.parametrize("scheduler", both("rr", "vtime"), indirect=True)
def test_sharing_a_cpu(guest, program, scheduler):
    """Round robin halves it; nice 5 weighs 335 to 1024. The others promise nothing."""
    prefix, _, name = scheduler
    ratio = {"rr": 1.0, "vtime": 1024 / 335}[name]
    first, second = used_us(guest, prefix, f"{program('inherits')} 2000 1 pinned 0 5")
    assert ratio * 0.75 < first / second < ratio * 1.33


def test_dry_cpus(guest, program, scheduler):
    """Four that wait on one CPU and may go elsewhere: only those who steal fetch them."""
    prefix, _, name = scheduler
    used = used_us(guest, prefix, f"{program('inherits')} 2000 1 free 0 0 0 0")
    if name in ("rr", "steal"):
        assert min(used) > 500_000
    else:
        assert sum(used) < 2_500_000
