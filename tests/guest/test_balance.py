# SPDX-License-Identifier: GPL-2.0
"""Threads move between cores: by the policy rr, and by hand through modules/mover."""

import re

import pytest

from .support import load_policy, run_ok, until

# Each way of moving a thread has one test with the debug kernel, which takes four times as long.
base = pytest.mark.kernel("base")

EAGAIN, EPERM, EINVAL, ENOMSG = 11, 1, 22, 42
FILES = "/sys/kernel/debug/mover"
PARAMS = (1, 7, 1, 7, 1, 7, 1)


def test_rr_spreads_hogs_over_all_cpus(guest, program):
    """Eight on CPU 0, let go: two on each of four."""
    id = load_policy(guest, "rr")
    run_ok(guest, f"{program('spread')} {id} 8")


@base
def test_rr_fills_idle_cpus(guest, program):
    id = load_policy(guest, "rr")
    run_ok(guest, f"{program('spread')} {id} 4")


@base
@pytest.mark.topology("2s2c")
def test_rr_spreads_over_sockets(guest, program):
    id = load_policy(guest, "rr")
    run_ok(guest, f"{program('spread')} {id} 8")


class Mover:
    """Hogs on CPU 1 under modules/mover, and its files."""

    def __init__(self, guest, program):
        self._guest, self._program = guest, program
        self.id = load_policy(guest, "mover")

    def hogs(self, affinity: str, *params: int) -> list[int]:
        words = " ".join(map(str, params))
        command = f"{self._program('hogs')} {self.id} 1 {affinity} {words}"
        run_ok(self._guest, f"rm -f /tmp/hogs; {command} >/tmp/hogs 2>&1 &")

        def started() -> str:
            text = self._guest.run("cat /tmp/hogs").stdout
            return text if text.endswith("\n") else ""

        tids = list(map(int, until(started, 30, "the hogs run").split()))
        assert len(tids) == len(params)
        return tids

    def write(self, file: str, *numbers: int) -> int:
        """The errno of the class's answer."""
        words = " ".join(map(str, numbers))
        return int(run_ok(self._guest, f"{self._program('poke')} {FILES}/{file} '{words}'"))

    def where(self, tids: list[int]) -> dict[int, tuple[int, str]]:
        """CPU and state of each."""
        files = " ".join(f"/proc/{tid}/saakm" for tid in tids)
        lines = [line.split() for line in run_ok(self._guest, f"cat {files}").splitlines()]
        cpus = [int(value) for key, value in lines if key == "cpu"]
        states = [value for key, value in lines if key == "state"]
        return dict(zip(tids, zip(cpus, states)))

    def stolen(self) -> int:
        return int(run_ok(self._guest, "cat /sys/module/mover/parameters/stolen"))

    def waiting(self, tids: list[int]) -> list[int]:
        return [
            tid for tid, (cpu, state) in self.where(tids).items() if (cpu, state) == (1, "READY")
        ]


@pytest.fixture
def mover(guest, program):
    return Mover(guest, program)


def _moved(mover, tids, cpu):
    """Moves one that waits; who waits may change between looking and moving."""

    def move() -> int:
        for tid in mover.waiting(tids):
            if mover.write("move", tid, cpu) == 0:
                return tid
        return 0

    return until(move, 20, "a waiting thread that can be moved")


def test_move_of_a_waiting_thread(mover):
    tids = mover.hogs("free", 0, 0, 0)
    tid = _moved(mover, tids, 2)
    assert mover.where([tid])[tid][0] == 2
    until(lambda: mover.where([tid])[tid][1] == "RUNNING", 20, "it runs on its new CPU")


@base
def test_move_to_where_it_is_fails(mover):
    tids = mover.hogs("free", 0, 0)
    assert [mover.write("move", tid, 1) for tid in tids] == [EAGAIN, EAGAIN]


@base
def test_move_of_a_running_thread_fails(mover):
    (tid,) = mover.hogs("free", 0)
    # Alone, but for the moment when a thread of a higher class has the CPU.
    answers = [mover.write("move", tid, 2) for _ in range(3)]
    assert EAGAIN in answers, answers


@base
def test_move_against_affinity_fails(mover):
    tids = mover.hogs("pinned", 0, 0, 0)

    def refused() -> bool:
        answers = {mover.write("move", tid, 2) for tid in mover.waiting(tids)}
        assert answers <= {EPERM, EAGAIN}, answers
        return EPERM in answers

    until(refused, 20, "EPERM")
    assert {cpu for cpu, _ in mover.where(tids).values()} == {1}


@base
def test_move_to_another_cpus_queue_fails(mover, watch):
    watch.expect_violations()
    tids = mover.hogs("free", 0, 0)
    assert mover.write("move", tids[0], 2, 3) == EINVAL


@base
def test_move_of_a_thread_of_no_policy_fails(mover):
    assert mover.write("move", 1, 2) == EAGAIN
    assert mover.write("move", 99999999, 2) == ENOMSG


@base
def test_steal_takes_no_more_than_asked(mover):
    tids = mover.hogs("free", *[0] * 6)
    assert mover.write("steal", 1, 2, 3, 0) == 0
    assert mover.stolen() == 3
    assert sum(cpu == 2 for cpu, _ in mover.where(tids).values()) == 3


@base
def test_steal_takes_only_what_is_wanted(mover):
    tids = mover.hogs("free", *PARAMS)
    wanted = {tid for tid, param in zip(tids, PARAMS) if param == 7}
    assert mover.write("steal", 1, 2, 9, 7) == 0
    moved = {tid for tid, (cpu, _) in mover.where(tids).items() if cpu == 2}
    # One may have had the CPU: whom a thread of the kernel preempts goes to the end.
    assert moved <= wanted and len(wanted - moved) <= 1
    assert mover.stolen() == len(moved)


@base
def test_steal_passes_over_pinned_threads(mover):
    tids = mover.hogs("pinned", 0, 0, 0)
    assert mover.write("steal", 1, 2, 9, 0) == 0
    assert mover.stolen() == 0
    assert {cpu for cpu, _ in mover.where(tids).values()} == {1}


@base
def test_steal_from_an_empty_queue_is_nothing(mover):
    assert mover.write("steal", 3, 2, 9, 0) == 0
    assert mover.stolen() == 0


@base
def test_steal_from_oneself_fails(mover, watch):
    watch.expect_violations()
    assert mover.write("steal", 2, 2, 1, 0) == EINVAL


@base
def test_steal_looks_at_a_bounded_number(mover):
    """All wait behind 59 others of one CPU, two runqueues are locked: the last is not reached."""
    mover.hogs("free", *[1] * 59, 7)
    assert mover.write("steal", 1, 2, 9, 7) == 0
    assert mover.stolen() == 0
    assert mover.write("steal", 1, 2, 9, 1) == 0
    assert mover.stolen() == 9


@base
def test_interrupts_while_balancing_do_not_hide_who_calls(guest, program):
    """Each wakeup is an event of its own, in the middle of a handler of the same CPU."""
    load_policy(guest, "puller")
    # Long enough for what the ticks of CPU 1 bring: the other CPUs balance when fair wakes them.
    run_ok(
        guest, f"taskset -c 1 {program('crowd')} -p puller -l 400 -e saakm 'sleep 0.5'", timeout=110
    )
    assert int(run_ok(guest, "cat /sys/module/puller/parameters/pulled")) > 100_000


@base
def test_who_is_wrong_in_an_interrupt_is_to_blame(guest, program, watch):
    """Timers wake its threads in the middle of another policy's balancing."""
    watch.expect_violations(least=20)
    load_policy(guest, "puller")
    load_policy(guest, "misuser", "mode=prepare_9999")
    crowd = program("crowd")
    inner = f'taskset -c 0,1 {crowd} -p misuser -k 1 -n 8 -l 400 "sleep 1"'
    run_ok(guest, f"taskset -c 0,1 {crowd} -p puller -n 8 -l 400 '{inner}'", timeout=110)
    said = guest.console()[watch.since :]
    assert set(re.findall(r"policy (\w+) is at fault", said)) == {"misuser"}


@base
def test_kick_reaches_an_idle_cpu(mover):
    """Nothing is runnable there: the policy is asked all the same."""
    mover.hogs("pinned", 0)
    assert mover.write("kick", 3, 200) == 0
    kicked = int(run_ok(mover._guest, "cat /sys/module/mover/parameters/idled"))
    # Without the flag none would; some come while a thread of the kernel runs there.
    assert kicked >= 20, f"{kicked} of 200 kicks came through"


@base
def test_kick_of_a_busy_cpu_asks_at_once(mover):
    """Each of 40, which are fewer than ticks would do for, and more than there are ticks."""
    mover.hogs("pinned", 0)
    assert mover.write("kick", 1, 40) == 0
    asked = int(run_ok(mover._guest, "cat /sys/module/mover/parameters/asked"))
    assert asked >= 36, f"schedule was called {asked} times"


@base
@pytest.mark.parametrize("how, cpu, counter", [("late", 3, "idled"), ("held", 1, "asked")])
def test_kick_reaches_a_cpu_that_is_about_to_idle(mover, how, cpu, counter):
    """At once, not with a tick, which comes in every fourth round; also where a policy holds its
    thread back."""
    mover.hogs("pinned", 0)
    poke = f"{mover._program('poke')} {FILES}/{how} 40"
    assert run_ok(mover._guest, f"taskset -c {cpu} {poke}") == "0\n"
    again = int(run_ok(mover._guest, f"cat /sys/module/mover/parameters/{counter}"))
    # CPUs take turns: this one may have none before its round is over.
    assert again >= 30, f"in {again} of 40 rounds"


@base
def test_kick_of_no_cpu_is_nothing(mover):
    mover.hogs("pinned", 0)
    run_ok(mover._guest, "echo 0 >/sys/devices/system/cpu/cpu3/online")
    for cpu in 3, -1, 4, 9999:
        assert mover.write("kick", cpu, 2) == 0
    run_ok(mover._guest, "echo 1 >/sys/devices/system/cpu/cpu3/online")
