# SPDX-License-Identifier: GPL-2.0
"""The defects of scx_lavd that lavd mends are back with original=1, and gone without it.

Each `check_` is a scenario that shows one of them. FAULTS are the places where the policy asks for
`original`: without one of them its defect does not come back, and a check notices.
"""

from pathlib import Path

import pytest
from lavd_runs import (
    HOG,
    LAVD,
    MS,
    SLICE,
    TICK,
    G,
    Machine,
    Run,
    S,
    hogs,
    is_noticed,
    ran_on,
    run,
    simulator,
    touched,
    wakes,
)


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


def both(
    program: Path,
    directory: Path,
    groups: dict[str, G],
    ns: int,
    machine: Machine,
    *settings: str,
    **own,
) -> tuple[Run, Run]:
    """The policy as it is, and with the defects."""
    runs = []
    for name in ("mended", "original"):
        place = directory / name
        place.mkdir(exist_ok=True)
        with_or_without = f"original={int(name == 'original')}"
        runs.append(run(program, place, groups, ns, machine, *settings, with_or_without, **own))
    return runs[0], runs[1]


# --- fairness ---


def check_greedy_ones_do_not_preempt(program, directory):
    """It has a thirtieth of the CPU, and wakes 3.2 ms after a tick, nearly 500 times.

    scx_lavd lets it preempt until its turns together are as long as one is on average.
    """
    groups = {"hog": G(HOG), "often": G(wakes(100_000, 3_100_000))}
    mended, original = both(program, directory, groups, 2 * S, Machine())
    assert mended.dump.asked >= 490 and mended.groups["often"]["waits"]["p99_ns"] < MS
    assert 0 < original.dump.asked < 50 and original.groups["often"]["waits"]["p50_ns"] > TICK


def check_who_joins_is_greedy(program, directory):
    """Children are as their parent, which is critical, but are said to have had what hogs have.

    The parent has CPU 0, where each child comes, and two hogs take turns on CPU 1.
    """
    parent = f"loop 100\nrun 1000\nfork child 1\nsleep {5 * MS}\nend\n"
    groups = touched(2) | {
        "parent": G(parent, cpus="0-1", start=100 * MS),
        "child": G("run 1000\n", n=0, cpus="0-1"),
        "hog": G(HOG, n=2, cpus="1", start=MS),
    }
    mended, original = both(program, directory, groups, S, Machine(2), "preempt_shift=0")
    assert mended.dump.asked > 10 and original.dump.asked == 0


# --- the victim ---


def check_the_more_critical_makes_way(program, directory):
    """A hog on CPU 0, and on CPU 1 one that sleeps each 20 ms; who comes prefers where it was."""
    groups = {
        "often": G(wakes(1000, 2 * MS)),
        "hog": G(HOG, cpus="0"),
        "mid": G(wakes(20 * MS, MS), cpus="1"),
    }
    mended, original = both(program, directory, groups, S, Machine(2), "preempt_shift=0")
    assert mended.dump.asked > 200 and original.dump.asked > 200
    assert mended.groups["mid"]["preemptions"] <= 2
    assert original.groups["mid"]["preemptions"] > 80


# --- the clock ---


def check_the_clock_stands(program, directory):
    """Two that wake each other are always due before it; the hog had the CPU before they came."""
    there = "send there 1 now\nrun 5000\nreceive back 1\n"
    back = "receive there 1\nrun 5000\nsend back 1 now\n"
    groups = {
        "hog": G(HOG),
        "ping": G(f"loop forever\n{there}end\n"),
        "pong": G(f"loop forever\n{back}end\n"),
    }
    own = {"objects": "pipe there 1 1\npipe back 1 1\n"}
    mended, original = both(program, directory, groups, S, Machine(), **own)
    assert mended.ran("hog") > 0.3 * S
    assert original.ran("hog") == SLICE


# --- load ---


def check_who_never_sleeps_is_no_load(program, directory):
    """Eight on two CPUs. Only a domain with too much load is taken from here, and it has none."""
    body = f"sleep {20 * MS}\nset_cpus all\n{HOG}"
    groups = touched(8) | {"hog": G(body, n=8, cpus="0-1")}
    settings = ("mig_delta_pct=20", "power=performance")
    mended, original = both(program, directory, groups, 2 * S, Machine(8, 2, 4), *settings)
    assert mended.ran("hog") > 7.5 * 2 * S and mended.dump.crossings >= 6
    assert original.ran("hog") <= 2 * 2 * S and original.dump.crossings == 0


def check_the_average_of_few_that_wait_is_too_low(program, directory):
    """Of one it is 0. The slice follows from it."""
    for waiting, low, slice_us, low_us in ((1, 0, 5000, 5000), (3, 2, 3333, 5000),
                                           (23, 16, 500, 625)):  # fmt: skip
        groups = hogs(waiting + 1)
        mended, original = both(program, directory, groups, 4 * S - 5 * MS, Machine())
        assert (mended.dump.waiting, original.dump.waiting) == (waiting, low)
        assert abs(mended.dump.slice_us - slice_us) <= 1
        assert abs(original.dump.slice_us - low_us) <= 1


# --- longer slices ---


def check_longer_slices_do_not_end(program, directory):
    """Hogs that may use two of eight CPUs. The others idle, so slices become 500 ms."""
    for n, longest_ms in ((3, 250), (4, 450)):
        names = [f"h{i}" for i in range(n)]
        groups = touched(8) | hogs(n, cpus="0-1", start=20 * MS)
        mended, original = both(program, directory, groups, 4 * S, Machine(8))
        assert mended.longest_wait(*names) <= SLICE
        assert original.longest_wait(*names) > longest_ms * MS


# --- wakeups ---


def check_threads_that_are_bound_have_no_waker(program, directory):
    """A timer's interrupt wakes it: that makes it more critical, bound or not."""
    given = program, directory, {"w": G(wakes(100_000, 10 * MS), cpus="0")}, S, Machine(2)
    mended, original = both(*given)
    assert mended.dump.criticality > 1.1 * original.dump.criticality
    free = program, directory, {"w": G(wakes(100_000, 10 * MS))}, S, Machine(2)
    mended, original = both(*free)
    assert mended.dump.criticality == original.dump.criticality


# --- core compaction ---


def check_cpus_that_were_needed_are_dropped(program, directory):
    """CPU 0 is enough but for bursts, which bring the short one to another CPU.

    While that stays in use it goes on there: for 25 looks, on average, not for about one.
    """
    groups = touched(8) | {
        "short": G(wakes(100_000, 10 * MS), start=22 * MS),
        "burst": G(wakes(3 * MS, 200 * MS), n=3, start=23 * MS),
    }
    own = {"traced": True}
    runs = both(program, directory, groups, 20 * S, Machine(8), "power=powersave", **own)
    assert [one.dump.in_use for one in runs] == [1, 1]
    mended, original = (ran_on(one.trace, "short", 20 * S) for one in runs)
    assert mended[0] < 0.75 * sum(mended.values())
    assert original[0] > 0.95 * sum(original.values())


# --- queues ---


def check_a_queue_of_the_same_domain_is_left_alone(program, directory):
    """Four wait in the queue of CPU 0, and may go to three that idle."""
    body = f"sleep {20 * MS}\nset_cpus all\n{HOG}"
    groups = touched(4) | {"hog": G(body, n=4, cpus="0")}
    settings = ("per_cpu_queues=1",)
    mended, original = both(program, directory, groups, S, Machine(4), *settings)
    assert mended.ran("hog") > 3.8 * S
    assert original.ran("hog") < S


# 3 of 10 ms of CPU 0 are taken. Hogs wait in the queue that is for such CPUs: they may leave the
# domain then, and another one idles.
ABOVE = G(wakes(1_200_000, 2_800_000), cpus="0", policy="rt:10")
FREE_LATER = "loop {}\nrun 1000000\nend\nset_cpus all\n" + HOG


def on_the_other_domain(program, directory, groups: dict[str, G], ns: int) -> list[int]:
    """CPU time of hogs there, with the defects mended and not."""
    groups = touched(4) | {"above": ABOVE} | groups
    settings = ("power=performance",)
    runs = both(program, directory, groups, ns, Machine(4, 2), *settings, traced=True)
    ran = [ran_on(one.trace, "hog", ns) for one in runs]
    return [each.get(2, 0) + each.get(3, 0) for each in ran]


def check_queues_for_turbulent_cpus_are_left_to_them(program, directory):
    """After 7 s all have done what they do first, and are less critical than any has been."""
    groups = {"hog": G(FREE_LATER.format(3000), n=4, cpus="0-1", start=20 * MS)}
    mended, original = on_the_other_domain(program, directory, groups, 12 * S)
    assert mended > 2 * 4.5 * S and original == 0


def check_so_they_are_if_the_others_may_not_leave(program, directory):
    """More wait in the queue that is for steady CPUs, bound to the domain."""
    groups = {
        "hog": G(FREE_LATER.format(300), n=3, cpus="0-1", start=20 * MS),
        "bound": G(wakes(300_000, 300_000), n=3, cpus="0-1", start=20 * MS),
    }
    mended, original = on_the_other_domain(program, directory, groups, 3 * S)
    assert mended > 1.8 * S and original == 0


def check_who_may_use_turbulent_cpus_alone_starves(program, directory):
    """It is too critical for their queue, but bound to them."""
    above = wakes(1_200_000, 2_800_000)
    groups = touched(4) | {
        **{f"above{cpu}": G(above, cpus=str(cpu), policy="rt:10") for cpu in (0, 1)},
        **{f"busy{cpu}": G(HOG, n=2, cpus=str(cpu)) for cpu in (2, 3)},
        "hog": G(HOG, n=2, cpus="0-1"),
        "often": G(wakes(100_000, MS), cpus="0-1"),
    }
    settings = ("power=performance",)
    mended, original = both(program, directory, groups, 4 * S, Machine(4), *settings)
    assert mended.longest_wait("often") <= SLICE
    assert original.longest_wait("often") > 900 * MS


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


# --- defects that do not come back ---

SECOND = "queues[1] = original ? NULL : saakm_core_of(lavd_policy, cpu)->second;"
ITS_LOOP = "\t\tfor (i = 0; i < 2{}; i++)"

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "the average is that of a share": (
        "system.c", "\tif (original)\n\t\tmean =", "\tif (0)\n\t\tmean =",
        check_greedy_ones_do_not_preempt,
    ),
    "who is bound has a waker": (
        "thread.c", "if (original && (event->task->nr_cpus_allowed", "if (0 && (event->task->nr_cpus_allowed",
        check_threads_that_are_bound_have_no_waker,
    ),
    "who joins has what its parent has": (
        "thread.c", "\tif (original)\n\t\tt->service_ns =", "\tif (0)\n\t\tt->service_ns =",
        check_who_joins_is_greedy,
    ),
    "who joins has nothing": (
        "thread.c", "if (original && t->service_ns >", "if (0 && t->service_ns >",
        check_who_joins_is_greedy,
    ),
    "the less critical makes way": (
        "preempt.c", "\tif (original)\n", "\tif (0)\n", check_the_more_critical_makes_way,
    ),
    "the clock goes on": (
        "thread.c", "if (!original && missing > 0)", "if (missing > 0)", check_the_clock_stands,
    ),
    "who does not sleep is load": (
        "thread.c", "\tif (original)\n\t\treturn;", "", check_who_never_sleeps_is_no_load,
    ),
    "few that wait are counted": (
        "system.c", "original ? 0 : LAVD_SHIFT", "LAVD_SHIFT",
        check_the_average_of_few_that_wait_is_too_low,
    ),
    "longer slices end for all that wait": (
        "preempt.c", "original ? core->rq.nr_tasks : lavd_waits_here(core)",
        "lavd_waits_here(core)", check_longer_slices_do_not_end,
    ),
    "CPUs stay in use": (
        "power.c", "if (drops != original)", "if (drops)",
        check_cpus_that_were_needed_are_dropped,
    ),
    "cores of the domain are looked at": (
        "queues.c", "per_cpu_queues && !original &&", "per_cpu_queues &&",
        check_a_queue_of_the_same_domain_is_left_alone,
    ),
    "the longest may be one for turbulent CPUs": (
        "balance.c", f"{SECOND}\n{ITS_LOOP.format('')}",
        f"{SECOND.replace('original', '0')}\n{ITS_LOOP.format('')}",
        check_queues_for_turbulent_cpus_are_left_to_them,
    ),
    "the others may be for turbulent CPUs": (
        "balance.c", f"{SECOND}\n{ITS_LOOP.format(' && !task')}",
        f"{SECOND.replace('original', '0')}\n{ITS_LOOP.format(' && !task')}",
        check_so_they_are_if_the_others_may_not_leave,
    ),
    "who is bound to turbulent CPUs waits for them": (
        "queues.c", "if (!original && !cpumask_intersects(", "if (!cpumask_intersects(",
        check_who_may_use_turbulent_cpus_alone_starves,
    ),
    "turbulent CPUs serve the first queue now and then": (
        "queues.c", "(!original && !(own->turns & 7))", "!(own->turns & 7)",
        check_who_may_use_turbulent_cpus_alone_starves,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_its_place_a_defect_is_not_back(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])
