# SPDX-License-Identifier: GPL-2.0
"""What lavd does, in counted time: who shares a queue, who makes way for whom, slices, shares.

Each `check_` is a scenario. It holds for the policy as it is, and not for one of FAULTS, in which
the rule that it is about is missing.
"""

import random

import pytest
from lavd_runs import (
    HOG,
    LAVD,
    MS,
    SLICE,
    TICK,
    G,
    Machine,
    S,
    hogs,
    is_noticed,
    run,
    simulator,
    touched,
    turns,
    wakes,
)


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


# --- who shares a queue: virtual last-level caches ---


def ranges(cpus) -> str:
    """As the kernel prints a set of CPUs."""
    parts, cpus = [], sorted(cpus)
    while cpus:
        n = 1
        while n < len(cpus) and cpus[n] == cpus[0] + n:
            n += 1
        parts.append(f"{cpus[0]}-{cpus[n - 1]}" if n > 1 else f"{cpus[0]}")
        cpus = cpus[n:]
    return ",".join(parts)


def parts_of(cores: int, least: int, most: int) -> list[int]:
    """How many cores each part of a cache has."""
    if cores <= least:
        return [cores]
    sizes = range(least, most + 1)
    exact = [size for size in sizes if cores % size == 0]
    size = exact[0] if exact else min(sizes, key=lambda size: (cores % size, size))
    sizes_of_all = [size] * (cores // size)
    sizes_of_all[-1] += cores % size
    return sizes_of_all


def domains_of(smt: int, cores: int, caches: int, nodes: int, bounds: str) -> list[str]:
    least, most = map(int, bounds.split("-")) if bounds else (cores, cores)
    found, first = [], 0
    for _ in range(caches * nodes):
        for part in parts_of(cores, least, most):
            found.append(ranges(range(first, first + part * smt)))
            first += part * smt
    return found


def machine_of(smt: int, cores: int, caches: int, nodes: int) -> Machine:
    cache = smt * cores
    return Machine(cache * caches * nodes, cache, cache * caches, smt)


def topologies() -> list[tuple[int, int, int, int, str]]:
    """The least that differ, and some of all."""
    least = [
        (1, 1, 1, 1, ""), (2, 1, 1, 1, "1-1"), (1, 4, 1, 1, ""), (1, 8, 1, 1, "2-8"),
        (1, 7, 1, 1, "2-3"), (1, 11, 1, 1, "4-5"), (1, 5, 2, 1, "2-2"), (2, 6, 1, 2, "4-8"),
        (1, 9, 1, 1, "4-4"), (2, 8, 2, 2, "8-8"), (1, 3, 2, 2, "4-8"), (1, 13, 1, 1, "5-6"),
    ]  # fmt: skip
    draw = random.Random(13)
    while len(least) < 60:
        smt, cores, caches = draw.choice((1, 2)), draw.randint(1, 16), draw.randint(1, 3)
        nodes, first = draw.randint(1, 2), draw.randint(1, 9)
        if smt * cores * caches * nodes <= 64:
            bounds = f"{first}-{draw.randint(first, 12)}"
            least.append((smt, cores, caches, nodes, draw.choice((bounds, bounds, ""))))
    return least


def check_domains(program, directory):
    for smt, cores, caches, nodes, bounds in topologies():
        settings = [f"virt_llc={bounds}"] if bounds else []
        machine = machine_of(smt, cores, caches, nodes)
        dump = run(program, directory, {"a": G("run 1\n")}, 1000, machine, *settings).dump
        expected = domains_of(smt, cores, caches, nodes, bounds)
        found = [domain.cpus for domain in dump.domains]
        assert found == expected, (smt, cores, caches, nodes, bounds)


def nearest(me: int, domains: int, per_cache: int, per_node: int) -> list[int]:
    """Of each distance: to both sides by number, the smaller number first."""

    def distance(other: int) -> int:
        if other // per_node != me // per_node:
            return 2
        return int(other // per_cache != me // per_cache)

    found: list[int] = []
    for far in range(3):
        ring = [one for one in range(domains) if one == me or distance(one) == far]
        at = ring.index(me)
        for step in range(1, len(ring) // 2 + 1):
            sides = {ring[(at + step) % len(ring)], ring[(at - step) % len(ring)]}
            found += [one for one in sorted(sides) if one != me and one not in found]
    return found


@pytest.mark.parametrize(
    "per_cache, caches, nodes", [(4, 1, 1), (7, 1, 1), (3, 2, 1), (2, 2, 2), (4, 1, 2), (3, 1, 3)]
)
def test_a_cpu_that_runs_dry_takes_from_the_nearest(lavd, tmp_path, per_cache, caches, nodes):
    """One waits in each domain, for its one CPU or for the last, which is free after 2 ms."""
    check_neighbours(lavd, tmp_path, per_cache, caches, nodes)


def check_neighbours(program, directory, per_cache=2, caches=2, nodes=2):
    n = per_cache * caches * nodes
    last = n - 1
    body = "set_cpus {i},{last}\nsleep 1000000\nrun 100000\n"
    groups = {"until": G("run 2000000\n", cpus=str(last))}
    groups |= {f"w{i}": G(body.format(i=i, last=last), cpus=str(i)) for i in range(last)}
    groups |= {f"hog{i}": G(HOG, cpus=str(i), start=500_000) for i in range(last)}
    machine = Machine(n, per_cache, per_cache * caches)
    settings = ("virt_llc=1-1",)
    done = run(program, directory, groups, 3_900_000, machine, *settings, traced=True)
    on_last = [who for at, who, cpu in turns(done.trace) if cpu == last and at > 2 * MS]
    assert [int(who[1:]) for who in on_last if who[0] == "w"] == nearest(
        last, n, per_cache, per_cache * caches
    )


# --- who takes a CPU from whom ---

OFTEN = wakes(100_000, 3_100_000)


def check_critical_ones_preempt(program, directory):
    """It wakes 3.2 ms after a tick, and runs at the next; without, at the one after that."""
    groups = {"hog": G(HOG), "often": G(OFTEN)}
    done = run(program, directory, groups, 2 * S)
    waits = done.groups["often"]["waits"]
    assert waits["p99_ns"] <= 810_000 and waits["max_ns"] < 4_900_000
    assert done.ran("often") >= 490 * 100_000
    without = run(program, directory, groups, 2 * S, Machine(), "preemption=0")
    assert without.groups["often"]["waits"]["p50_ns"] > TICK
    assert without.ran("often") <= 2 * S // SLICE * 100_000
    assert without.dump.asked == 0


def check_hogs_do_not_preempt(program, directory):
    """Who is not more critical than others asks nobody."""
    done = run(program, directory, hogs(5), 2 * S, Machine(2))
    assert done.dump.asked == 0


def check_greedy_ones_do_not_preempt(program, directory):
    """Who wants all of the CPU and wakes each 2 ms has its share, of four, and no more."""
    groups = {"hog": G(HOG, n=3), "greedy": G(wakes(2_000_000, 10_000))}
    done = run(program, directory, groups, 4 * S)
    assert 0.24 * 4 * S < done.ran("greedy") < 0.26 * 4 * S


def check_the_less_critical_makes_way(program, directory):
    """Of two: one never sleeps, the other does each 12.5 ms."""
    groups = {
        "hog": G(HOG, cpus="0"),
        "mid": G(wakes(12_000_000, 500_000), cpus="1"),
        "often": G(wakes(50_000, 200_000)),
    }
    done = run(program, directory, groups, 4 * S, Machine(2))
    assert done.groups["hog"]["preemptions"] > 4 * done.groups["mid"]["preemptions"]


# --- slices ---


def elections(done) -> list[int]:
    lines = done.trace.read_text(errors="replace").splitlines()
    return [int(one.split()[3][:-1]) for one in lines if "handler=refill" in one]


def check_a_lone_hog_is_let_alone(program, directory):
    """Its slice grows to 500 ms, which need no election; else there is one in each 8 ms."""
    groups = touched(4) | {"hog": G(HOG, start=10 * MS)}
    done = run(program, directory, groups, 6 * S, Machine(4), traced=True)
    late = [at for at in elections(done) if at > 3 * S]
    assert [b - a for a, b in zip(late, late[1:])] == 5 * [500 * MS]
    settings = ("slice_boost=0",)
    done = run(program, directory, groups, 6 * S, Machine(4), *settings, traced=True)
    late = [at for at in elections(done) if at > 3 * S]
    assert {b - a for a, b in zip(late, late[1:])} == {SLICE}


def check_slices_shrink_with_load(program, directory):
    """10 ms divided by those who wait for each CPU in use, between bounds."""
    for n, cpus, slice_us in ((2, 1, 5000), (5, 1, 2500), (9, 1, 1250), (25, 1, 500), (24, 8, 5000),
                              (40, 8, 2500), (72, 8, 1250)):  # fmt: skip
        done = run(program, directory, hogs(n), 4 * S, Machine(cpus))
        assert abs(done.dump.slice_us - slice_us) <= 1, (n, cpus)
    done = run(program, directory, hogs(25), 4 * S, Machine(), "slice_min_us=1000")
    assert abs(done.dump.slice_us - 1000) <= 1
    # Two wait: 5 ms.
    settings = ("slice_max_us=20000",)
    done = run(program, directory, hogs(3), 2 * S, Machine(), *settings)
    assert abs(done.dump.slice_us - 5000) <= 1


def check_a_boosted_slice_ends_for_a_pinned_thread(program, directory):
    """A hog has 500 ms. Somebody comes who may run nowhere else."""
    groups = touched(4) | {
        "hog": G(HOG, cpus="0-1", start=10 * MS),
        "other": G(HOG, cpus="1", start=10 * MS),
        "pinned": G(f"sleep {3 * S}\n{HOG}", cpus="0"),
    }
    for settings in ((), ("preemption=0",)):
        done = run(program, directory, groups, 4 * S, Machine(4), *settings)
        assert done.groups["pinned"]["waits"]["max_ns"] <= SLICE


def check_pinned_threads_have_slices_of_their_own(program, directory):
    groups = {"a": G(HOG, cpus="0"), "b": G(HOG, cpus="0")}
    for settings, slice_ns in (((), SLICE), (("pinned_slice_us=1000",), TICK),
                               (("pinned_slice_us=0",), SLICE)):  # fmt: skip
        done = run(program, directory, groups, 4 * S, Machine(2), *settings)
        for name in groups:
            assert done.groups[name]["preemptions"] == pytest.approx(2 * S / slice_ns, abs=2)


# --- shares ---


def check_hogs_have_equal_shares(program, directory):
    for n, cpus in ((3, 2), (5, 4), (7, 4), (10, 8), (17, 8)):
        done = run(program, directory, hogs(n), 5 * S, Machine(cpus))
        shares = done.shares(f"h{i}" for i in range(n))
        assert max(shares) - min(shares) < 0.01, (n, cpus, shares)
        assert sum(done.ran(f"h{i}") for i in range(n)) > 0.999 * cpus * 5 * S


def check_domains_differ_by_one_thread(program, directory):
    """Where queues are several, threads are divided among them as well as it goes, and stay."""
    for settings in (("virt_llc=2-2",), ("per_cpu_queues=1",)):
        for n in (7, 10, 13):
            done = run(program, directory, hogs(n), 5 * S, Machine(8), *settings)
            ran = [done.ran(f"h{i}") for i in range(n)]
            assert sum(ran) > 0.999 * min(n, 8) * 5 * S
            assert min(ran) > 0.49 * 5 * S, (settings, n, ran)


def check_affinity_masks_get_what_is_left(program, directory):
    """Two may use CPU 0 alone, four all: a half for each of the two, three CPUs for the four."""
    groups = {f"p{i}": G(HOG, cpus="0") for i in range(2)} | hogs(4)
    done = run(program, directory, groups, 5 * S, Machine(4))
    assert done.ran("p0") > 0.4 * 5 * S and done.ran("p1") > 0.4 * 5 * S
    free = done.shares(f"h{i}" for i in range(4))
    assert max(free) - min(free) < 0.02
    assert sum(done.ran(name) for name in groups) > 0.999 * 4 * 5 * S


def check_who_is_heavier_is_due_earlier(program, directory):
    """Of two on a CPU each follows the other, whatever they weigh; of three it shows."""
    groups = {f"n{nice}": G(HOG, nice=nice) for nice in (0, 5, 10)}
    done = run(program, directory, groups, 10 * S)
    assert done.ran("n0") > 1.2 * done.ran("n5") > 1.2 * 1.2 * done.ran("n10")
    assert done.ran("n10") > 0.1 * 10 * S


PIPES = "pipe there {n} 1\npipe back {n} 1\n"
PING = "loop forever\nsend there[self] 1 now\nrun 5000\nreceive back[self] 1\nend\n"
PONG = "loop forever\nreceive there[self] 1\nrun 5000\nsend back[self] 1 now\nend\n"


def beside_pairs(program, directory, pairs: int, n: int, ns: int, *settings: str):
    """Hogs, and pairs of which one always waits for the other."""
    groups = {
        "hog": G(HOG, n=n, cpus="0"),
        "ping": G(PING, pairs, "0"),
        "pong": G(PONG, pairs, "0"),
    }
    objects = PIPES.format(n=pairs)
    return run(program, directory, groups, ns, Machine(), *settings, objects=objects)


def check_nobody_starves_where_more_wait_than_cpus(program, directory):
    """Nobody waits for longer than a turn of each hog, and one more."""
    for pairs, n in ((4, 1), (1, 3), (4, 4), (20, 2)):
        done = beside_pairs(program, directory, pairs, n, 3 * S)
        assert done.longest_wait() <= (n + 2) * SLICE, (pairs, n)
        assert done.ran("hog") > 0.3 * 3 * S and done.ran("ping") > 0.01 * 3 * S


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


# --- rules that are missing ---

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "left-over cores form a part": (
        "formulas.h", "min(nth / size, cores / size - 1)", "nth / size", check_domains,
    ),
    "the last size of those that leave as little over": (
        "formulas.h", "cores % size < cores % best", "cores % size <= cores % best", check_domains,
    ),
    "caches are cut as one": (
        "domains.c", "ret = ret ?: lavd_cut_cache(cut);",
        "cpumask_setall(&cut->cpus);\n\t\tret = ret ?: lavd_cut_cache(cut);", check_domains,
    ),
    "neighbours by number": (
        "domains.c", "domain->neighbours[nr++] = group[min(up, down)]",
        "domain->neighbours[nr++] = group[max(up, down)]", check_neighbours,
    ),
    "nodes are as near as caches": (
        "domains.c", "\t\treturn 2;", "\t\treturn 1;", check_neighbours,
    ),
    "nobody is taken from": (
        "queues.c", "!READ_ONCE(mig_delta_pct) && lavd_steal_any(core)", "false", check_neighbours,
    ),
    "nobody is asked to make way": (
        "preempt.c", "\tif (!READ_ONCE(preemption) ||", "\tif (1 ||", check_critical_ones_preempt,
    ),
    "preemption=0 counts for nothing": (
        "preempt.c", "!READ_ONCE(preemption) || ", "", check_critical_ones_preempt,
    ),
    "who was asked does not make way": (
        "preempt.c", "\tif (lavd_asked(own))\n\t\treturn true;\n", "",
        check_critical_ones_preempt,
    ),
    "greedy ones preempt": (
        "preempt.c", "t->greedy ||", "", check_greedy_ones_do_not_preempt,
    ),
    "hogs preempt": (
        "preempt.c", "a->criticality > b->criticality && ", "", check_hogs_do_not_preempt,
    ),
    "the more critical makes way": (
        "preempt.c", "ranks[0].criticality > ranks[1].criticality",
        "ranks[0].criticality <= ranks[1].criticality",
        check_the_less_critical_makes_way,
    ),
    "no longer slices": (
        "thread.c", "READ_ONCE(slice_boost)", "false", check_a_lone_hog_is_let_alone,
    ),
    "slice_boost=0 counts for nothing": (
        "thread.c", "READ_ONCE(slice_boost)", "true", check_a_lone_hog_is_let_alone,
    ),
    "slices do not shrink": (
        "formulas.h", "if (!nr_queued)\n\t\treturn max_ns;", "return max_ns;",
        check_slices_shrink_with_load,
    ),
    "pinned_slice_us counts for nothing": (
        "lavd.h", "READ_ONCE(pinned_slice_us) * NSEC_PER_USEC", "0",
        check_pinned_threads_have_slices_of_their_own,
    ),
    "what has been had counts for nothing": (
        "thread.c", "t->service_ns += service_ns;", "", check_greedy_ones_do_not_preempt,
    ),
    "deadlines do not depend on what has been had": (
        "formulas.h", "(lag_max - lag) << LAVD_SHIFT, lag_max) >> 1)", "lag_max * 0, 1))",
        check_who_is_heavier_is_due_earlier,
    ),
    "all are due at once": (
        "thread.c", "\treturn ((struct lavd_task *)saakm_task_data(task))->deadline;",
        "\treturn 0;", check_nobody_starves_where_more_wait_than_cpus,
    ),
    "the clock stands": (
        "thread.c", "while (step && !atomic64", "while (0 && !atomic64",
        check_nobody_starves_where_more_wait_than_cpus,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_rule_it_does_not(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])
