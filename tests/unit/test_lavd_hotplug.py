# SPDX-License-Identifier: GPL-2.0
"""What lavd does as CPUs go offline and come back: masks, domains, load, and where threads wait.

As in test_lavd.py, each `check_` fails for a version of the policy without the rule.
"""

import pytest
from lavd_runs import (
    HOG,
    LAVD,
    MS,
    SLICE,
    G,
    Machine,
    S,
    hogs,
    is_noticed,
    run,
    simulator,
    touched,
    wakes,
)


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


def at(ms: int, what: str, *cpus: int) -> tuple[str, ...]:
    return tuple(f"at={ms * MS + cpu}:{what}:{cpu}" for cpu in cpus)


def check_cpus_that_are_offline_do_not_count(program, directory):
    """Six hogs on eight CPUs, of which a domain goes: each has one."""
    gone = at(300, "offline", 6, 7)
    dump = run(program, directory, hogs(6), S - 5 * MS, Machine(8, 2), *gone).dump
    assert (dump.online, dump.in_use, dump.waiting) == (6, 6, 0)
    assert [domain.in_use for domain in dump.domains] == [2, 2, 2, 0]
    assert [domain.load > 2000 for domain in dump.domains] == [True, True, True, False]
    assert dump.domains[3].load == 0


def check_others_are_used_instead(program, directory):
    """One CPU is enough: the first, or the next one while that is offline."""
    groups = {"w": G(wakes(100_000, 10 * MS))}
    settings = ("virt_llc=1-1", "power=powersave", *at(300, "offline", 0))
    for more, used in (((), [0, 1, 0, 0]), (at(600, "online", 0), [1, 0, 0, 0])):
        dump = run(program, directory, groups, S, Machine(4), *settings, *more).dump
        assert [domain.in_use for domain in dump.domains] == used


def check_who_has_slept_there_wakes_on_an_idle_one(program, directory):
    """In the other domain, where CPU 0 is busy, and would be looked at by nobody for a while."""
    groups = {
        "sleeps": G(f"run 1000\nset_cpus all\nsleep {500 * MS}\nrun {MS}\n", cpus="3"),
        "hog": G(HOG, cpus="0", start=MS),
    }
    settings = ("per_cpu_queues=1", "power=performance", *at(300, "offline", 2, 3))
    done = run(program, directory, groups, S, Machine(4, 2), *settings)
    assert done.ran("sleeps") == 1000 + MS and done.longest_wait("sleeps") < MS


def check_domains_of_cpus_that_were_offline(program, directory):
    """Caches of those are not known: all of a node share one. Of them none is in use.

    The dump is read before the policy has looked at the system.
    """
    away = "".join(f"cpu_offline {cpu}\n" for cpu in range(4, 12))
    body = f"sleep 1000\n{away}reload main\nsleep {MS}\n"
    groups = {"changes": G(body, cpus="0", policy="rt:20")}
    dump = run(program, directory, groups, 100 * MS, Machine(12, 2, 4)).dump
    found = [(domain.cpus, domain.in_use) for domain in dump.domains]
    assert found == [("0-1", 2), ("2-3", 2), ("4-7", 0), ("8-11", 0)]
    assert (dump.online, dump.in_use) == (4, 4)


def check_who_has_only_a_turbulent_cpu_left(program, directory):
    """It might use CPU 1 as well, which is offline, and is too critical for the other's queue."""
    above = wakes(1_200_000, 2_800_000)
    groups = touched(4) | {
        "above": G(above, cpus="0", policy="rt:10"),
        **{f"busy{cpu}": G(HOG, n=2, cpus=str(cpu)) for cpu in (2, 3)},
        "hog": G(HOG, n=2, cpus="0-1"),
        "often": G(wakes(100_000, MS), cpus="0-1"),
    }
    settings = ("power=performance", *at(500, "offline", 1))
    done = run(program, directory, groups, 4 * S, Machine(4), *settings)
    assert done.longest_wait("often") <= SLICE


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


# --- rules that are missing ---

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "CPUs that are offline count": (
        "system.c", "for_each_cpu_and(cpu, &domain->cpus, cpu_online_mask)",
        "for_each_cpu(cpu, &domain->cpus)", check_cpus_that_are_offline_do_not_count,
    ),
    "CPUs that are offline are used": (
        "power.c", "if (!cpu_online(order[i]))", "if (0)", check_others_are_used_instead,
    ),
    "the last CPU may be offline": (
        "place.c", "\ts->prev_cpu = saakm_usable_cpu(s->task, s->prev_cpu);\n", "",
        check_who_has_slept_there_wakes_on_an_idle_one,
    ),
    "each CPU that was offline has a cache": (
        "domains.c", "if (!cpu_online(cpu) && !cpu_online(other) &&", "if (0 &&",
        check_domains_of_cpus_that_were_offline,
    ),
    "nodes share a cache": (
        "domains.c", "lavd_node_of(other) == lavd_node_of(cpu)", "1",
        check_domains_of_cpus_that_were_offline,
    ),
    "CPUs are used that were offline": (
        "power.c", "cpumask_and(&lavd_domains[i]->active, &lavd_domains[i]->cpus, cpu_online_mask)",
        "cpumask_copy(&lavd_domains[i]->active, &lavd_domains[i]->cpus)",
        check_domains_of_cpus_that_were_offline,
    ),
    "CPUs that are offline are steady": (
        "system.c", "\tcpumask_and(&domain->steady, &domain->steady, cpu_online_mask);\n", "",
        check_who_has_only_a_turbulent_cpu_left,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_rule_it_does_not(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])
