# SPDX-License-Identifier: GPL-2.0
"""What lavd does with a whole machine: whether CPUs idle in vain, how load is balanced, and so on.

As in test_lavd.py, each `check_` fails for a version of the policy without the rule.
"""

import random

import pytest
from lavd_runs import (
    HOG,
    LAVD,
    MS,
    G,
    Idleness,
    Machine,
    S,
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


# --- no CPU idles in vain ---

MACHINES = (
    Machine(4), Machine(4, 2), Machine(8, 4, 4), Machine(8, 2, 4, 2), Machine(8, smt=2),
    Machine(8), Machine(16, 8, 8, 2), Machine(12, 6),
)  # fmt: skip
# Without warm CPUs, for which threads are to wait, and with stealing by whoever idles.
PARAMETERS = (
    (), ("virt_llc=1-1",), ("virt_llc=2-2",), ("per_cpu_queues=1",), ("power=performance",),
    ("per_cpu_queues=1", "virt_llc=2-2"), ("power=performance", "virt_llc=2-2"),
    ("power=powersave",), ("power=powersave", "virt_llc=1-1"), ("overflow_extend=0",),
    ("power=balanced", "per_cpu_queues=1"), ("lb_low_util_pct=0", "virt_llc=1-1"),
)  # fmt: skip


def some_groups(draw: random.Random, cpus: int) -> dict[str, G]:
    groups = {}
    for i in range(draw.randint(1, 6)):
        first = draw.randrange(cpus)
        some = f"{first}-{draw.randrange(first, cpus)}" if first < cpus - 1 else f"{first}"
        allowed = draw.choice(("all", some.removesuffix(f"-{first}")))
        turn = draw.choice((20_000, 200_000, 2 * MS, 20 * MS))
        pause = draw.choice((0, 50_000, 500_000, 5 * MS, 30 * MS))
        rest = f"sleep exponential:{pause}\n" if pause else ""
        groups[f"g{i}"] = G(
            f"loop forever\nrun uniform:{turn // 2}:{turn}\n{rest}end\n",
            draw.randint(1, cpus), allowed, draw.choice((0, 0, 0, 5, -5, 19)),
            draw.choice((0, 0, MS, 50 * MS)),
        )  # fmt: skip
    return groups


def longest_idleness(program, directory, seed: int, *more: str) -> tuple[int, tuple]:
    draw = random.Random(seed)
    machine, settings = draw.choice(MACHINES), draw.choice(PARAMETERS)
    groups = some_groups(draw, machine.cpus)
    ns = 300 * MS
    own = (f"seed={seed}", *settings, *more)
    done = run(program, directory, groups, ns, machine, *own, traced=True)
    found = Idleness(groups, machine.cpus).read(done.trace, ns)
    return found.longest, (seed, machine, settings, found.where)


def check_no_cpu_idles_in_vain(program, directory):
    """All are looked at each 10 ms, at a tick; until then a CPU may not see it."""
    for seed in range(16):
        longest, where = longest_idleness(program, directory, seed)
        assert longest <= 12 * MS, where


SPREADS = ((), ("virt_llc=1-1",), ("per_cpu_queues=1",), ("power=performance",),
           ("lb_low_util_pct=100",))  # fmt: skip


def born_in_one_domain(n: int) -> dict[str, G]:
    """From 20 ms on they may go elsewhere."""
    body = f"sleep {20 * MS}\nset_cpus all\n{HOG}"
    return touched(8) | {f"a{i}": G(body, cpus="0-1") for i in range(n)}


def check_hogs_spread(program, directory):
    """By whoever idles, if by nobody else."""
    for settings in SPREADS:
        done = run(program, directory, born_in_one_domain(8), 2 * S, Machine(8, 2, 4), *settings)
        shares = done.shares(f"a{i}" for i in range(8))
        assert max(shares) - min(shares) < 0.02, (settings, shares)


def check_one_that_idles_takes_nothing_with_a_tolerance(program, directory):
    """mig_delta_pct > 0: only domains that are to take do so, and here nothing is planned."""
    busy = f"sleep {20 * MS}\nset_cpus all\n{wakes(8 * MS, MS)}"
    groups = touched(8) | {"a": G(busy, n=3, cpus="0-1")}
    settings = ("mig_delta_pct=100", "lb_low_util_pct=100", "power=performance")
    done = run(program, directory, groups, S, Machine(8, 2, 4), *settings)
    assert done.dump.crossings == 0


def check_little_load_stays_where_it_is(program, directory):
    """Bursts in one of four domains, which mostly has CPUs enough for them."""
    burst = wakes(2 * MS, 18 * MS)
    groups = touched(8) | {"a": G(f"sleep {20 * MS}\nset_cpus all\n{burst}", n=2, cpus="0-1")}
    machine = Machine(8, 2, 4)
    done = run(program, directory, groups, 3 * S, machine, "power=performance")
    assert done.dump.crossings == 0
    assert not any(domain.takes or domain.gives for domain in done.dump.domains)


def check_domains_give_and_take(program, directory):
    """Who has slept is known by its load. Then it is a hog, and goes nowhere by itself."""
    settings = ("power=performance", "mig_delta_pct=10", "lb_low_util_pct=0")
    body = f"{wakes(5 * MS, 5 * MS, '40')}set_cpus all\n{HOG}"
    groups = touched(8) | {"a": G(body, n=16, cpus="0-3")}
    done = run(program, directory, groups, 4 * S, Machine(8, 4, 4), *settings, traced=True)
    ran = ran_on(done.trace, "a", 4 * S, since=3 * S)
    assert all(ran[cpu] > 0.99 * S for cpu in range(8)), ran


def check_idle_cpus_are_called(program, directory):
    """Two wake beside hogs that have long slices; the other domain has idled since before."""
    groups = touched(4) | {
        "w": G(f"set_cpus all\nsleep {100 * MS}\nrun {3 * MS}\n", n=2, cpus="0"),
        "hog0": G(HOG, cpus="0", start=20 * MS),
        "hog1": G(HOG, cpus="1", start=20 * MS),
    }
    settings = ("power=performance", "preemption=0", "slice_max_us=100000")
    done = run(program, directory, groups, S, Machine(4, 2), *settings)
    assert done.longest_wait("w") <= 12 * MS and done.ran("w") >= 6 * MS


# --- how many CPUs are used ---


def check_few_cpus_are_used_for_little(program, directory):
    """A hog counts half as much again, and a quarter: each in use is to be busy for a half."""
    little = touched(16) | {"w": G(wakes(100_000, 10 * MS), start=20 * MS)}
    done = run(program, directory, little, 3 * S, Machine(16), traced=True)
    assert (done.dump.in_use, done.dump.mode) == (1, "powersave")
    late = ran_on(done.trace, "w", 3 * S, since=2 * S)
    assert [cpu for cpu, ns in late.items() if ns] == [0]
    done = run(program, directory, little, 3 * S, Machine(16), "power=performance")
    assert (done.dump.in_use, done.dump.mode) == (16, "performance")
    for n, cpus, smt, mode in (
        (1, 8, 1, "balanced"), (2, 8, 1, "balanced"), (6, 8, 1, "performance"),
        (2, 16, 2, "balanced"), (3, 16, 2, "performance"),
    ):  # fmt: skip
        groups = touched(cpus) | {"hog": G(HOG, n=n, start=20 * MS)}
        dump = run(program, directory, groups, 3 * S, Machine(cpus, smt=smt)).dump
        needed = -(-n * 15 // 4) if mode == "balanced" else cpus
        assert (dump.mode, dump.in_use) == (mode, needed), (n, cpus, smt)


def check_balanced_and_powersave_compact_any_load(program, directory):
    for mode in ("balanced", "powersave"):
        groups = touched(8) | {"hog": G(HOG, n=2, start=20 * MS)}
        done = run(program, directory, groups, 3 * S, Machine(8), f"power={mode}")
        assert done.dump.mode == mode and 7 <= done.dump.in_use <= 8


def check_cores_are_filled_in_order(program, directory):
    """powersave: both hardware threads of a core before the next core's; else one of each first."""
    for mode, used in (("powersave", [2, 2, 0, 0]), ("balanced", [1, 1, 1, 1])):
        groups = touched(8) | {"hog": G(HOG, start=20 * MS)}
        settings = ("virt_llc=1-1", f"power={mode}")
        dump = run(program, directory, groups, 3 * S, Machine(8, smt=2), *settings).dump
        assert [domain.in_use for domain in dump.domains] == used, mode


def check_who_may_use_no_other_cpu_runs_at_once(program, directory):
    """Of those that are not in use, though one is enough for all."""
    groups = touched(8) | {
        "w": G(wakes(100_000, 10 * MS), n=2, start=20 * MS),
        "far": G(wakes(100_000, 7 * MS), cpus="6-7", start=20 * MS),
    }
    extends = "overflow_extend=0"
    for settings in ((), (extends,), ("virt_llc=2-2",), ("virt_llc=2-2", extends)):
        done = run(program, directory, groups, 3 * S, Machine(8), "power=powersave", *settings)
        assert done.dump.in_use == 1
        assert done.longest_wait("far") <= 100_000


def check_another_cpu_is_used_in_whichever_virtual_cache(program, directory):
    """Four wake whenever they like, and one CPU is in use: so is another one while that is busy."""
    sleeps = f"uniform:{MS}:{2 * MS}"
    often = f"sleep {S}\nset_cpus all\nloop forever\nrun 100000\nsleep {sleeps}\nend\n"
    groups = touched(8) | {"w": G(often, n=4, cpus="0")}
    settings = ("virt_llc=1-1", "power=powersave")
    done = run(program, directory, groups, 3 * S, Machine(8), *settings)
    waits = done.groups["w"]["waits"]
    assert done.dump.in_use == 1 and waits["sum_ns"] / waits["count"] < 3_000


# --- turbulent CPUs ---


def check_critical_threads_avoid_turbulent_cpus(program, directory):
    """3 in 10 ms of CPU 0 are taken, and others now and then use those to which it goes instead."""
    now_and_then = "loop forever\nrun 300000\nsleep uniform:500000:2000000\nend\n"
    others = {f"p{cpu}": G(now_and_then, cpus=str(cpu)) for cpu in (1, 2, 3)}
    for policy in ("rt:10", "fair"):
        groups = touched(4) | others
        groups["above"] = G(wakes(1_200_000, 2_800_000), cpus="0", policy=policy)
        groups["often"] = G("loop forever\nrun 100000\nsleep uniform:500000:1500000\nend\n")
        done = run(program, directory, groups, 4 * S, Machine(4), "power=performance", traced=True)
        ran = ran_on(done.trace, "often", 4 * S, since=2 * S)
        assert ran.get(0, 0) < 0.15 * sum(ran.values()), (policy, ran)


def check_less_critical_threads_go_to_turbulent_cpus(program, directory):
    """All CPUs are busy: hogs wait in the queue of which CPU 0 takes first."""
    groups = touched(2) | {
        "above": G(wakes(1_200_000, 2_800_000), cpus="0", policy="rt:10"),
        "often": G(wakes(1_000_000, 1_300_000), n=3),
        "hog": G(HOG, n=1),
    }
    done = run(program, directory, groups, 6 * S, Machine(2), "power=performance", traced=True)
    hog, often = (ran_on(done.trace, who, 6 * S, since=3 * S) for who in ("hog", "often"))
    assert hog[0] / (hog[0] + hog[1]) > 1.5 * often[0] / (often[0] + often[1])


# --- warm CPUs ---


def check_warm_cpus_are_waited_for(program, directory):
    """Five use a half of four CPUs: each goes wherever is idle, or waits a little."""
    either = "uniform:500000:1500000"
    body = f"loop forever\nrun {either}\nsleep {either}\nend\n"
    groups = touched(4) | {"w": G(body, n=5), "crit": G(wakes(20_000, 200_000))}

    def migrations(warm_us: int):
        settings = ("power=performance", f"warm_cpu_us={warm_us}")
        done = run(program, directory, groups, 3 * S, Machine(4), *settings)
        return done, done.groups["w"]["migrations"]

    (cold, many), (_, fewer), (warm, few) = map(migrations, (0, 200, 1000))
    assert many > 2 * fewer > 2 * 2 * few
    assert (
        cold.groups["w"]["waits"]["p90_ns"] <= 2000 < 100_000 < warm.groups["w"]["waits"]["p90_ns"]
    )
    # Twice as long at the most, if the caches are hot. Whoever is critical goes elsewhere.
    assert warm.longest_wait("w") <= 2 * MS
    assert warm.groups["crit"]["migrations"] > 150


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


def test_no_cpu_idles_in_vain_from_the_very_beginning(lavd, tmp_path):
    longest, where = longest_idleness(lavd, tmp_path, 38)
    assert longest <= 12 * MS, where


# --- rules that are missing ---

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "idle CPUs are not called": (
        "balance.c", "\t\tlavd_call_idle(lavd_domains[i]);", "\t\t(void)lavd_call_idle;",
        check_idle_cpus_are_called,
    ),
    "idle CPUs take nothing": (
        "queues.c", "!READ_ONCE(mig_delta_pct) && lavd_steal_any(core)", "false", check_hogs_spread,
    ),
    "idle CPUs take nothing, and idle": (
        "queues.c", "!READ_ONCE(mig_delta_pct) && lavd_steal_any(core)", "false",
        check_no_cpu_idles_in_vain,
    ),
    "idle CPUs take something whatever the tolerance": (
        "queues.c", "!READ_ONCE(mig_delta_pct) && lavd_steal_any", "lavd_steal_any",
        check_one_that_idles_takes_nothing_with_a_tolerance,
    ),
    "domains take nothing": (
        "queues.c", "&& lavd_steal(core))", "&& 0)", check_domains_give_and_take,
    ),
    "who waits is no load": (
        "queues.c", "t->queued_load = t->utilisation;", "t->queued_load = 0;",
        check_domains_give_and_take,
    ),
    "no power is saved": (
        "power.c", "\t\treturn POWERSAVE;", "\t\treturn PERFORMANCE;",
        check_few_cpus_are_used_for_little,
    ),
    "hardware threads do not count": (
        "power.c", "lavd_has_smt ? all / 4 : all / 2", "all / 2",
        check_few_cpus_are_used_for_little,
    ),
    "no more than is needed now": (
        "power.c", "#define HEADROOM\t(LAVD_SCALE / 4)", "#define HEADROOM 0",
        check_few_cpus_are_used_for_little,
    ),
    "power= counts for nothing": (
        "power.c", "lavd_wanted == AUTO ? lavd_autopilot() : lavd_wanted", "lavd_autopilot()",
        check_balanced_and_powersave_compact_any_load,
    ),
    "cores are filled one by one": (
        "power.c", "READ_ONCE(lavd_power) == POWERSAVE ? lavd_order : lavd_spread_order", "lavd_order",
        check_cores_are_filled_in_order,
    ),
    "cores are filled side by side": (
        "power.c", "READ_ONCE(lavd_power) == POWERSAVE ? lavd_order : lavd_spread_order", "lavd_spread_order",
        check_cores_are_filled_in_order,
    ),
    "another CPU is used in the same virtual cache only": (
        "power.c", "domain->cache != domain->cache", "domain != domain",
        check_another_cpu_is_used_in_whichever_virtual_cache,
    ),
    "no CPU is turbulent": (
        "system.c", "lavd_load_read(&own->taken) > TURBULENT", "false",
        check_critical_threads_avoid_turbulent_cpus,
    ),
    "turbulent CPUs serve the first queue": (
        "queues.c", "\treturn !READ_ONCE(own->turbulent) ||", "\treturn 1 ||",
        check_less_critical_threads_go_to_turbulent_cpus,
    ),
    "no CPU is warm": (
        "place.c", "s->t->warm = lavd_wait_ns(cpu, now) <= most_ns;", "s->t->warm = false;",
        check_warm_cpus_are_waited_for,
    ),
    "critical threads wait for warm CPUs": (
        "place.c", "s->t->criticality >= READ_ONCE(lavd_system.threshold)", "0",
        check_warm_cpus_are_waited_for,
    ),
    "warm CPUs are waited for however long": (
        "place.c", "lavd_wait_ns(cpu, now) <= most_ns", "most_ns > 0",
        check_warm_cpus_are_waited_for,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_rule_it_does_not(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])
