# SPDX-License-Identifier: GPL-2.0
"""Queues that cores share: whom they take from there, in which order, and that none idles."""

import random

import pytest

from saakm.base.errors import SaakmError

from .support import SYSFS, ejected, load_policy, policies, run_ok
from .test_server import RT_RUNTIME

# Behaviour and timing: the debug kernel is some four times slower under emulation.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/{}/parameters"
SORTED = ["list", "rbtree"]
ALL = ["fifo", *SORTED]
# What modules/sharer counts and must never find.
FAULTS = ("wrong_moves", "untold_moves", "misplaced", "wrong_takes", "reset_waits",
          "needless_refills", "wrong_currs")  # fmt: skip


@pytest.fixture
def gates(guest):
    """Nothing but real-time threads runs where one wants to: programs/gates.h."""
    files = [f"{SYSFS}/server_runtime_us", RT_RUNTIME]
    values = [run_ok(guest, f"cat {file}").strip() for file in files]
    run_ok(guest, f"echo 0 >{files[0]}; echo -1 >{files[1]}")
    yield
    if guest.alive:
        for file, value in zip(files, values):
            guest.run(f"echo {value} >{file}")


def read(guest, what: str, module: str = "sharer") -> list[int]:
    text = run_ok(guest, f"cat {PARAMETERS.format(module)}/{what}").strip()
    return [int(n) for n in text.split(",") if n]


def checked(guest, module: str = "sharer") -> None:
    """What the module has seen is as the header says, and it has not been ejected."""
    assert policies(guest)[module].state == "active", ejected(guest)
    faults = {what: read(guest, what, module)[0] for what in FAULTS}
    assert not any(faults.values()), faults


def queue_up(guest, program, id_: int, open_cpu: int, words: list[str], *options: str):
    """Indices of threads in the order of their election, and CPUs that they waited and ran on."""
    command = f"{program('shared_order')} {' '.join(options)} {id_} {open_cpu} {' '.join(words)}"
    lines = run_ok(guest, command, timeout=60).splitlines()
    tids, queued_on, ran_on = (list(map(int, line.split())) for line in lines)
    elected = read(guest, "order")
    return [tids.index(tid) for tid in elected if tid in tids], queued_on, ran_on


# --- order ---


def _arrivals(params: list[int]) -> list[str]:
    """One after the other on CPUs 0 to 3."""
    return [f"{param}@{i % 4}" for i, param in enumerate(params)]


@pytest.mark.parametrize("open_cpu", [0, 2])
@pytest.mark.rotates("refill")
@pytest.mark.parametrize("refill", ["class", "own"])
def test_fifo_runs_in_order_of_arrival(guest, program, gates, refill, open_cpu):
    """Whatever CPUs they were queued on. All run where there is room, and are moved there."""
    id_ = load_policy(guest, "sharer", f"refill={refill}")
    order, queued_on, ran_on = queue_up(guest, program, id_, open_cpu, _arrivals([0] * 20))
    assert queued_on == [i % 4 for i in range(20)]
    assert ran_on == [open_cpu] * 20
    assert order == list(range(20))
    assert read(guest, "moves")[0] >= 15
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
@pytest.mark.parametrize("base", [0, -5])
def test_sorted_runs_in_order_of_keys(guest, program, gates, type_, base):
    """Equal ones in order of arrival; with a base of -5, keys wrap around."""
    id_ = load_policy(guest, "sharer", f"type={type_}", f"base={base}")
    params = random.Random(type_).choices(range(1, 12), k=24)
    order, queued_on, ran_on = queue_up(guest, program, id_, 1, _arrivals(params))
    assert len(set(queued_on)) == 4 and ran_on == [1] * 24
    assert order == sorted(range(24), key=lambda i: params[i])
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_new_key_sorts_anew(guest, program, gates, type_):
    """While they wait in the shared queue, the last becomes the first and the first the last."""
    id_ = load_policy(guest, "sharer", f"type={type_}")
    set_param = program("set_param")
    change = f"set -- $TIDS; {set_param} $4 {id_} 1 && {set_param} $1 {id_} 99"
    words = _arrivals([10, 20, 30, 40])
    order, _, _ = queue_up(guest, program, id_, 1, words, "-e", f"'{change}'")
    assert order == [3, 1, 2, 0]
    checked(guest)


@pytest.mark.parametrize("masks", ["0-3", "none"])
def test_who_is_owed_the_cpu_goes_first(guest, program, gates, masks):
    """saakm_to_head(), of a shared queue and of core->rq: the last one that was put there."""
    id_ = load_policy(guest, "sharer", f"masks={masks}", "to_head=1")
    words = [f"{param}@1" for param in (0, 0, 1, 0, 1, 2)]
    order, _, _ = queue_up(guest, program, id_, 1, words)
    assert order == [4, 2, 0, 1, 3, 5]
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
@pytest.mark.parametrize("masks", ["0-3", "none"])
def test_a_sorted_queue_has_no_head_to_go_to(guest, program, gates, watch, masks, type_):
    id_ = load_policy(guest, "sharer", f"masks={masks}", f"type={type_}", "to_head=1")
    watch.expect_violations(1, 1)
    order, _, _ = queue_up(guest, program, id_, 1, [f"{param}@1" for param in (0, 2, 1)])
    assert order == [0, 2, 1]


# --- affinity ---


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_who_is_there_runs_behind_many_that_may_not(guest, program, gates, type_):
    """The class looks at 32 threads; the 41st is on the CPU already."""
    id_ = load_policy(guest, "sharer", f"type={type_}")
    words = [*["1@0/1"] * 40, "2@1/2"]
    _, queued_on, ran_on = queue_up(guest, program, id_, 1, words)
    assert queued_on == [*[0] * 40, 1]
    assert ran_on == [*[-1] * 40, 1]
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_who_is_elsewhere_is_found_behind_some_that_may_not(guest, program, gates, type_):
    id_ = load_policy(guest, "sharer", f"type={type_}")
    words = [*["1@0/1"] * 20, "2@2/6", "3@3/8", "4@3/a"]
    _, queued_on, ran_on = queue_up(guest, program, id_, 1, words)
    assert queued_on == [*[0] * 20, 2, 3, 3]
    assert ran_on == [*[-1] * 20, 1, -1, 1]
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_a_cpu_that_idles_finds_who_is_elsewhere_behind_many(guest, program, gates, type_):
    """A busy CPU would give up before: half of them may use no other CPU than theirs."""
    id_ = load_policy(guest, "sharer", f"type={type_}")
    words = [*["1@0/1", "1@3/9"] * 24, "2@2/6"]
    _, queued_on, ran_on = queue_up(guest, program, id_, 1, words)
    assert queued_on == [*[0, 3] * 24, 2]
    assert ran_on == [*[-1] * 48, 1]
    checked(guest)


def test_affinity_changes_while_they_wait(guest, program, gates):
    """Two may use the open CPU only now, one does not any more."""
    id_ = load_policy(guest, "sharer")
    change = "set -- $TIDS; (taskset -p 2 $2 && taskset -p a $3 && taskset -p 8 $4) >/dev/null"
    words = ["0@0/1", "0@0/1", "0@3/8", "0@3/a"]
    _, _, ran_on = queue_up(guest, program, id_, 1, words, "-e", f"'{change}'")
    assert ran_on == [-1, 1, 1, -1]
    checked(guest)


# --- waits go on ---


def test_wait_goes_on_where_it_is_taken_to(guest, program, gates):
    id_ = load_policy(guest, "sharer", "refill=own")
    queue_up(guest, program, id_, 1, _arrivals([0] * 8), "-w 600")
    checked(guest)
    assert read(guest, "takes")[0] >= 8
    assert read(guest, "longest_wait_ms")[0] >= 600


# --- work conservation ---


def _ends(guest, program, id_: int, lengths_ms: list[int], cpu: int = 0, mask: str = "f"):
    """After how many ms each ended, in this order, and the CPUs that they ended on.

    That may be one CPU less than were used: who is preempted at the end may end elsewhere.
    """
    words = " ".join(map(str, lengths_ms))
    out = run_ok(guest, f"{program('makespan')} {id_} {cpu} {mask} {words}", timeout=100)
    cpus, *ends_us = out.split()
    ends_ms = sorted(int(us) / 1000 for us in ends_us)
    return ends_ms, {cpu for cpu in range(16) if int(cpus, 16) >> cpu & 1}


def _makespan(guest, program, id_: int, lengths_ms: list[int], cpu: int = 0):
    """ms, and the CPUs that they ended on."""
    ends_ms, cpus = _ends(guest, program, id_, lengths_ms, cpu)
    return ends_ms[-1], cpus


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
@pytest.mark.rotates("refill")
@pytest.mark.parametrize("refill", ["class", "own"])
def test_no_core_idles_while_threads_wait(guest, program, type_, refill):
    """Eight on four CPUs, which all wake on one of them.

    The last four are one on each CPU: had no CPU ever idled, their ends would add up to the work
    of all. When the last one ends says less: whom a thread of the kernel preempts goes behind others.
    """
    id_ = load_policy(guest, "sharer", f"type={type_}", f"refill={refill}")
    ends_ms, _ = _ends(guest, program, id_, [100] * 8)
    assert sum(ends_ms[-4:]) < 1.06 * 800, ends_ms
    checked(guest)


@pytest.mark.parametrize("slice_us", [0, 1000, 20000])
def test_list_scheduling_keeps_its_bound(guest, program, slice_us):
    """R. L. Graham, 1966: whoever keeps no CPU idle ends within W/m + (1 - 1/m) of the longest."""
    id_ = load_policy(guest, "sharer", f"slice_us={slice_us}")
    for seed in range(4):
        lengths = random.Random(seed).choices(range(5, 120), k=21)
        span_ms, _ = _makespan(guest, program, id_, lengths, seed)
        bound_ms = sum(lengths) / 4 + 0.75 * max(lengths)
        assert span_ms < 1.1 * bound_ms + 8, (lengths, span_ms, bound_ms)
    checked(guest)


def test_who_comes_calls_one_cpu(guest, program, gates):
    """Though two idle: the other one sleeps on. Threads of the kernel may wake it at times."""
    id_ = load_policy(guest, "sharer", "refill=own")
    first, second, ran = map(int, run_ok(guest, f"{program('calls')} {id_} 40").split())
    assert ran == 40 and first >= 30 and second <= 10, (first, second, ran)
    checked(guest)


@pytest.mark.threads
def test_no_wakeup_is_lost(guest, program):
    """Two threads wake each other in turns, which may use a CPU each or all: nobody would help."""
    load_policy(guest, "sharer")
    run_ok(guest, f"{program('pingpong')} sharer 150", timeout=250)
    run_ok(guest, "saakmctl exec sharer -- hackbench -g 2 -l 100", timeout=250)
    checked(guest)


# --- some cores each ---


@pytest.mark.parametrize("half, mask", [(0, {0, 1}), (2, {2, 3})])
def test_halves_keep_their_threads(guest, program, half, mask):
    """Which may use all CPUs: the other half idles."""
    id_ = load_policy(guest, "sharer", "masks=0-1/2-3")
    span_ms, cpus = _makespan(guest, program, id_, [80] * 8, half)
    assert 0.95 <= span_ms / (4 * 80) < 1.5, span_ms
    assert cpus <= mask
    assert read(guest, "strays") == [0]
    checked(guest)


def test_a_refill_takes_from_the_other_half(guest, program):
    """saakm_take() from a queue that the core is not among.

    Nobody calls that core: it takes when it elects, as when somebody goes to sleep there.
    """
    id_ = load_policy(guest, "sharer", "masks=0-1/2-3", "refill=borrow", "slice_us=4000")
    run_ok(
        guest,
        f"{program('moments')} 2 10 1 100000 &"
        ' until [ "$(cut -d" " -f1 /proc/$!/schedstat)" -gt 50000000 ]; do busybox usleep 10000; done',
    )
    _makespan(guest, program, id_, [80] * 8)
    # All were placed in the queue of CPUs 0 and 1, and some have run on 2 or 3.
    assert read(guest, "strays")[0] > 0 and any(read(guest, "runs")[2:4])
    checked(guest)


def test_a_core_outside_of_all_masks_has_its_own_queue(guest, program):
    """Its threads are not taken, and it takes none."""
    id_ = load_policy(guest, "sharer", "masks=0-1")
    span_ms, cpus = _makespan(guest, program, id_, [60] * 4, 3)
    assert cpus == {3} and span_ms >= 0.95 * 4 * 60
    span_ms, cpus = _makespan(guest, program, id_, [60] * 4, 0)
    assert cpus <= {0, 1} and 0.95 <= span_ms / (2 * 60) < 1.5, span_ms
    assert read(guest, "strays") == [0]
    checked(guest)


# --- the CPU changes hands ---


def _behind(guest, program, id_: int, mode: str, params: tuple[int, int], rounds: int,
            limit_ms: int) -> list[float]:  # fmt: skip
    """ms until the other thread got the CPU, a number a round; negative: not within the limit."""
    first, other = params
    command = f"{program('behind')} {mode} {id_} {first} {other} {rounds} {limit_ms}"
    return [int(us) / 1000 for us in run_ok(guest, command, timeout=100).split()]


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
@pytest.mark.parametrize("slice_us, limit_ms", [(1000, 20), (50000, 150)])
def test_slices_end_for_who_waits_elsewhere(guest, program, gates, type_, slice_us, limit_ms):
    """On the runqueue of a CPU that a real-time thread keeps."""
    id_ = load_policy(guest, "sharer", f"type={type_}", f"slice_us={slice_us}", "preempt=never")
    waited_ms = _behind(guest, program, id_, "runs", (5, 5), 8, 1000)
    assert all(0 <= ms <= limit_ms for ms in waited_ms), waited_ms
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_slices_do_not_end_for_who_goes_later(guest, program, gates, type_):
    id_ = load_policy(guest, "sharer", f"type={type_}", "slice_us=1000", "preempt=never")
    assert _behind(guest, program, id_, "runs", (5, 6), 2, 200) == [-0.001, -0.001]


def test_who_yields_makes_way_for_the_first(guest, program, gates):
    id_ = load_policy(guest, "sharer", "preempt=never")
    waited_ms = _behind(guest, program, id_, "yields", (0, 0), 10, 1000)
    assert all(0 <= ms < 20 for ms in waited_ms), waited_ms
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
@pytest.mark.parametrize("to_any", ["N", "Y"])
def test_who_yields_in_a_sorted_queue(guest, program, gates, type_, to_any):
    """Makes way for equals, and for those who go later only if the policy says so."""
    id_ = load_policy(guest, "sharer", f"type={type_}", "preempt=never", f"yield_to_any={to_any}")
    equal_ms = _behind(guest, program, id_, "yields", (5, 5), 6, 1000)
    assert all(0 <= ms < 20 for ms in equal_ms), equal_ms
    later_ms = _behind(guest, program, id_, "yields", (5, 9), 3, 100)
    assert all((0 <= ms < 20) if to_any == "Y" else ms < 0 for ms in later_ms), later_ms
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
@pytest.mark.parametrize("preempt, limit_ms", [("tick", 9)])
def test_the_first_takes_the_cpu_at_a_tick(guest, program, gates, type_, preempt, limit_ms):
    """The default of tick, though the first is on another CPU's runqueue."""
    id_ = load_policy(guest, "sharer", f"type={type_}", f"preempt={preempt}")
    waited_ms = _behind(guest, program, id_, "runs", (5, 4), 8, 1000)
    assert all(0 <= ms <= limit_ms for ms in waited_ms), waited_ms
    assert all(ms < 0 for ms in _behind(guest, program, id_, "runs", (5, 6), 2, 100))
    checked(guest)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", SORTED)
def test_who_wakes_preempts_by_order(guest, program, type_):
    """saakm_preempt_by_order: on its own CPU, where somebody runs who goes later."""
    id_ = load_policy(guest, "sharer", f"type={type_}", "preempt=wakeup", "masks=1")
    earlier = run_ok(guest, f"{program('wakes_beside')} {id_} 5 4 10 100").split()
    assert all(0 <= int(us) < 20000 for us in earlier), earlier
    later = run_ok(guest, f"{program('wakes_beside')} {id_} 5 6 2 100").split()
    assert later == ["-1", "-1"]
    checked(guest)


# --- what a refill is told ---


def test_a_refill_is_told_who_runs(guest, program):
    """Threads that go on, block, yield and are preempted: core->curr is right in all calls."""
    id_ = load_policy(guest, "sharer", "refill=own", "slice_us=2000")
    run_ok(
        guest, f"{program('trigger_life')} storm {id_} && {program('victims')} {id_}", timeout=60
    )
    checked(guest)
    assert read(guest, "currs")[0] > 20 and read(guest, "no_currs")[0] > 20


def test_no_refill_behind_a_policy_that_goes_first(guest, program, gates):
    """Though the core elects again and again while a thread of ours waits for it."""
    run_ok(guest, f"echo 0 >{SYSFS}/floor_runtime_us")
    try:
        first = load_policy(guest, "fifo")
        id_ = load_policy(guest, "sharer", "refill=own")
        out = run_ok(guest, f"{program('refill_behind')} {first} {id_}", timeout=60)
        before, after, behind = map(int, out.split())
        assert after == before, "calls while the other policy had CPU 1"
        assert behind > after, "and once it had ended"
    finally:
        guest.run(f"echo 50000 >{SYSFS}/floor_runtime_us")
    checked(guest)


def test_nobody_is_taken_to_wait_behind_orphans(guest, program, gates, watch):
    """They go before all policies, while others could take who stays in the shared queue."""
    id_ = load_policy(guest, "sharer")
    unplaced = load_policy(guest, "misuser", "mode=place_never")
    watch.expect_violations()
    out = run_ok(guest, f"{program('behind_orphans')} {unplaced} {id_}", timeout=60)
    assert list(map(int, out.split())) == [2, 2, 1]
    assert read(guest, "moves") == [1]
    checked(guest)


# --- starvation ---


@pytest.mark.rotates("refill")
@pytest.mark.parametrize("refill", ["class", "own"])
@pytest.mark.parametrize("hog", ["fair", "rt"])
def test_the_deadline_server_finds_them(guest, program, hog, refill):
    """A thread that waits in a shared queue, bound to a CPU that others keep, has its 5 percent."""
    runtime = run_ok(guest, f"cat {RT_RUNTIME}").strip()
    run_ok(guest, f"echo -1 >{RT_RUNTIME}")
    try:
        load_policy(guest, "sharer", f"refill={refill}")
        share = int(run_ok(guest, f"{program('share')} sharer {hog} 4"))
        assert 30 <= share <= 150
        checked(guest)
    finally:
        guest.run(f"echo {runtime} >{RT_RUNTIME}")


@pytest.mark.rotates("refill")
@pytest.mark.parametrize("refill", ["class", "own"])
def test_the_later_of_two_policies_gets_its_floor(guest, program, refill):
    """Both share queues."""
    first = load_policy(guest, "sharer", f"refill={refill}")
    second = _load_second(guest, f"refill={refill}")
    out = run_ok(guest, f"{program('shares_of')} 6 {first} {second}")
    hog, floored = map(int, out.split())
    assert 25 <= floored <= 90 and hog >= 850, (hog, floored)
    checked(guest)
    checked(guest, "sharer2")


# --- ends ---


def test_a_cpu_that_died_is_notified_when_it_is_back(guest, program):
    """It began to idle while threads waited: work for its own interrupts would have stayed for ever."""
    load_policy(guest, "sharer")
    cpu1 = "/sys/devices/system/cpu/cpu1/online"
    there_and_back = f"for i in 1 2 3; do echo 0 >{cpu1} && echo 1 >{cpu1} || exit 1; done"
    run_ok(guest, f"{program('crowd')} -p sharer -n 24 -e saakm '{there_and_back}'")
    id_ = load_policy(guest, "services")
    run_ok(guest, f"{program('notified')} {id_} 40", timeout=20)


def _second(guest) -> str:
    return str(guest.kernel.modules / "sharer" / "sharer2.ko")


def _load_second(guest, *parameters: str) -> int:
    run_ok(guest, f"insmod {_second(guest)} name=sharer2 {' '.join(parameters)}")
    return policies(guest)["sharer2"].id


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_ejection_while_threads_wait(guest, program, gates, type_):
    """All land in fair, and end."""
    id_ = load_policy(guest, "sharer", f"type={type_}")
    words = _arrivals(list(range(1, 33)))
    eject = f"'echo sharer >{SYSFS}/eject'"
    _, _, ran_on = queue_up(guest, program, id_, 2, words, "-e", eject, "-f", "-l 20000")
    assert all(cpu >= 0 for cpu in ran_on), ran_on
    found = policies(guest)["sharer"]
    assert (found.state, found.threads) == ("ejected", 0)


@pytest.mark.rotates("type_")
@pytest.mark.parametrize("type_", ALL)
def test_replacement_while_threads_wait(guest, program, gates, type_):
    """They go from one shared queue to the other's."""
    id_ = load_policy(guest, "sharer", f"type={type_}")
    words = _arrivals(list(range(1, 33)))
    replace = f"'insmod {_second(guest)} name=sharer2 replaces=sharer type={type_}'"
    _, _, ran_on = queue_up(guest, program, id_, 2, words, "-e", replace)
    assert ran_on == [2] * 32
    assert policies(guest)["sharer2"].new == 32
    checked(guest, "sharer2")


# --- refusals ---


def test_queues_are_shared_at_load_only(guest, program):
    """What saakm_share_queue() must refuse the module asks for itself, and would not load."""
    for masks in ("none", "0", "0-1/2-3", "all"):
        load_policy(guest, "sharer", f"masks={masks}")
        guest.unload("sharer")
    for masks in ("0-1/1-3", "0-3/2"):
        with pytest.raises(SaakmError):
            guest.load("sharer", f"masks={masks}")
    assert "sharer" not in policies(guest)


def test_threads_are_taken_in_refill_only(guest, program, watch):
    id_ = load_policy(guest, "sharer", "takes_anywhere=1")
    watch.expect_violations()
    ends_ms, _ = _ends(guest, program, id_, [20] * 8)
    assert sum(ends_ms[-4:]) < 1.5 * 160, ends_ms
    assert "only refill may call it" in run_ok(guest, "dmesg | tail -n 60")
