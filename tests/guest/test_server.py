# SPDX-License-Identifier: GPL-2.0
"""The deadline server: SaaKM threads are not starved, and its bandwidth is accounted for."""

import pytest

from saakm.builder.modules import module_file

from .support import LOSES_BANDWIDTH, SYSFS, last_error, load_policy, run_ok, spins, until
from .test_balance import Mover
from .test_hotplug import ROUND

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

SECONDS = 4
RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@pytest.fixture
def knobs(guest):
    """Puts back what tests change."""
    files = [f"{SYSFS}/server_runtime_us", f"{SYSFS}/server_period_us", RT_RUNTIME]
    values = [run_ok(guest, f"cat {file}").strip() for file in files]
    yield
    if guest.alive:
        for file, value in zip(files, values):
            guest.run(f"echo {value} >{file}")


def _shares(guest, program, hog: str, *command: str) -> list[int]:
    """In thousandths of the CPU."""
    quoted = " ".join(f"'{c}'" for c in command)
    return [
        int(n) for n in run_ok(guest, f"{program('share')} fifo {hog} {SECONDS} {quoted}").split()
    ]


def test_beside_a_fair_hog(guest, program, knobs):
    load_policy(guest, "fifo")
    assert 30 <= _shares(guest, program, "fair")[0] <= 150


def test_beside_a_real_time_hog(guest, program, knobs):
    run_ok(guest, f"echo -1 >{RT_RUNTIME}")
    load_policy(guest, "fifo")
    assert 30 <= _shares(guest, program, "rt")[0] <= 150


def test_off(guest, program, knobs):
    """Proves too that it is the server that gives the share."""
    load_policy(guest, "fifo")
    run_ok(guest, f"echo 0 >{SYSFS}/server_runtime_us")
    assert _shares(guest, program, "fair")[0] <= 5


def test_knobs_take_effect_at_once(guest, program, knobs):
    load_policy(guest, "fifo")
    before, after = _shares(guest, program, "fair", f"echo 300000 >{SYSFS}/server_runtime_us")
    assert before <= 150 and 200 <= after <= 450, (before, after)
    before, after = _shares(guest, program, "fair", f"echo 0 >{SYSFS}/server_runtime_us")
    assert 200 <= before <= 450 and after <= 5, (before, after)


@pytest.mark.parametrize("who", ["", "naps"])
def test_idle_time_counts_as_used(guest, program, who):
    """The CPU idles for more than the runtime: the server helps in the next period, not at the end of this.

    Also where a fair thread ends the idling, whose server takes the time of the idle thread for itself.
    """
    id_ = load_policy(guest, "fifo")
    ran_ms = [int(run_ok(guest, f"{program('after_idle')} {id_} {who}")) for _ in range(3)]
    assert min(ran_ms) >= 975 and max(ran_ms) <= 1075, ran_ms


def _used_ns(guest, tid: int) -> int:
    return int(run_ok(guest, f"cut -d' ' -f1 /proc/{tid}/schedstat"))


def test_who_was_held_back_gets_a_share(guest, program, knobs):
    """The server looked in vain for who is to run beside the real-time hog, and is needed again."""
    run_ok(guest, f"echo -1 >{RT_RUNTIME}")
    mover = Mover(guest, program)
    (tid,) = mover.hogs("pinned", 0)
    assert mover.write("hold", 1, 1) == 0
    try:
        hog = "chrt -f 50 taskset -c 1 sh -c 'while :; do :; done'"
        run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}; sleep 3")
        before = _used_ns(guest, tid)
        assert mover.write("hold", 1, 0) == 0
        run_ok(guest, "sleep 4")
        assert _used_ns(guest, tid) - before >= 3 * 30e6
    finally:
        guest.run("pkill -KILL -f 'while :'")


# --- admission ---


def _admitted(guest, program) -> int:
    return int(run_ok(guest, program("admission")))


def _is_admitted(guest, program, expected: int) -> None:
    """Reservations of threads that just ended are returned a period later."""
    last = []
    until(
        lambda: last.append(_admitted(guest, program)) or abs(last[-1] - expected) <= 2,
        15,
        lambda: f"{expected}/1000 CPUs admitted, but {last}",
    )


def test_bandwidth_of_servers(guest, program, knobs):
    """A CPU each gives 50 ms of a second while a policy is loaded."""
    before = _admitted(guest, program)
    load_policy(guest, "fifo")
    _is_admitted(guest, program, before - 4 * 50)
    load_policy(guest, "rr")
    _is_admitted(guest, program, before - 4 * 50)
    run_ok(guest, f"echo 100000 >{SYSFS}/server_runtime_us")
    _is_admitted(guest, program, before - 4 * 100)
    guest.unload("fifo")
    guest.unload("rr")
    _is_admitted(guest, program, before)


def test_bandwidth_after_many_loads(guest, program):
    before = _admitted(guest, program)
    file = module_file(guest.kernel, "fifo")
    run_ok(guest, f"for i in $(seq 20); do insmod {file} && rmmod fifo || exit 1; done")
    _is_admitted(guest, program, before)


def test_bandwidth_after_hotplug(guest, program):
    """What hotplug does to the account anyway, without SaaKM, is not ours."""
    run_ok(guest, ROUND)
    before = _admitted(guest, program)
    run_ok(guest, ROUND)
    _is_admitted(guest, program, before)
    load_policy(guest, "fifo")
    _is_admitted(guest, program, before - 4 * 50)
    run_ok(guest, ROUND + ROUND)
    _is_admitted(guest, program, before - 4 * 50)
    guest.unload("fifo")
    _is_admitted(guest, program, before)


def test_bandwidth_of_a_cpu_that_was_offline(guest, program):
    before = _admitted(guest, program)
    run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu2/online")
    load_policy(guest, "fifo")
    run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu2/online")
    _is_admitted(guest, program, before - 4 * 50)
    run_ok(guest, "echo 0 >/sys/devices/system/cpu/cpu2/online")
    guest.unload("fifo")
    run_ok(guest, "echo 1 >/sys/devices/system/cpu/cpu2/online")
    _is_admitted(guest, program, before)


def test_load_without_bandwidth_fails(guest, program):
    file = module_file(guest.kernel, "fifo")
    before = _admitted(guest, program)
    done = guest.run(f"{program('admission')} 'insmod {file}'")
    assert done.status and "busy" in done.stderr.lower(), done.stderr
    assert "no deadline bandwidth" in last_error(guest)
    _is_admitted(guest, program, before)
    load_policy(guest, "fifo")


@pytest.mark.append(LOSES_BANDWIDTH)
def test_deadline_threads_that_come_back_run(guest, program):
    """6.12.117 loses one that left while it was throttled: linux/patches/0002-deadline-return.patch.

    In counted time: a CPU that the host keeps for 0.4 s makes a debt of 20 s.
    """
    assert run_ok(guest, f"{program('deadline_return')} 12", timeout=250) == "0\n"
