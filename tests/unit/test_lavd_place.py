# SPDX-License-Identifier: GPL-2.0
"""On which CPU lavd places who wakes: that of a waker which is about to sleep, and whole cores.

As in test_lavd.py, each `check_` fails for a version of the policy without the rule. One thread is
woken once, and what is asked is where it runs then.
"""

from pathlib import Path

import pytest
from lavd_runs import (
    HOG,
    LAVD,
    MS,
    G,
    Machine,
    Run,
    hogs,
    is_noticed,
    run,
    simulator,
    turns,
    with_fault,
)


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


WHEN = 500 * MS
SMT = Machine(4, smt=2)
DOMAINS = Machine(8, 4, 8)
# Who sends by a pipe is taken for about to sleep; he goes on for so long.
GOES_ON = 20_000
SENDS = f"sleep {WHEN}\nsend p 1 now\nrun {GOES_ON}\n"
POSTS = SENDS.replace("send p 1 now", "send s 1 now")
OBJECTS = "pipe p 1 1\nsemaphore s 1 0\n"


def woken(by: str, cpus: str = "all") -> str:
    """Bound to the CPU that it is to have run on, and no more."""
    return f"run 1000\nset_cpus {cpus}\n{by}\nrun 100000\n"


BY_PIPE, BY_SEMAPHORE, BY_TIMER = "receive p 1", "receive s 1", f"sleep {WHEN}"


def busy(*cpus: int) -> dict[str, G]:
    """They come when all others have begun."""
    return {f"hog{cpu}": G(HOG, cpus=str(cpu), start=MS) for cpu in cpus}


def wake_once(
    program: Path,
    directory: Path,
    prev_cpu: int,
    body: str,
    groups: dict[str, G],
    machine: Machine,
    *settings: str,
) -> Run:
    groups = {"woken": G(body, cpus=str(prev_cpu))} | groups
    own = ("power=performance", *settings)
    ns = WHEN + 100 * MS
    return run(program, directory, groups, ns, machine, *own, objects=OBJECTS, traced=True)


def place(*given) -> tuple[int, int]:
    """On which CPU it runs, and how long after the time at which it is woken."""
    trace = wake_once(*given).trace
    at, cpu = next((at, cpu) for at, who, cpu in turns(trace) if who == "woken" and at >= WHEN)
    return cpu, at - WHEN


# --- the CPU of a waker that is about to sleep ---

# The waker has CPU 0, and who is woken had CPU 2. Only CPU 3 idles, which is half a core.
WAKER = {"waker": G(SENDS, cpus="0")} | busy(1, 2)
# A queue of the domain is looked at by all that idle there.
QUEUES = "per_cpu_queues=1"


def check_a_waker_makes_way(program, directory):
    cpu, wait = place(program, directory, 2, woken(BY_PIPE), WAKER, SMT, QUEUES)
    assert cpu == 0 and GOES_ON <= wait < 2 * GOES_ON
    cpu, wait = place(program, directory, 2, woken(BY_PIPE), WAKER, SMT, QUEUES, "wake_sync=0")
    assert cpu == 3 and wait < GOES_ON


def check_one_that_idles_goes_before_a_waker_with_the_same_queue(program, directory):
    """It would take the thread from there at once: so that goes there by itself, as without."""
    given = (program, directory, 2, woken(BY_PIPE), WAKER, SMT)
    cpu, wait = place(*given)
    assert cpu == 3 and wait < GOES_ON
    done, without = wake_once(*given), wake_once(*given, "wake_sync=0")
    assert done.groups["woken"]["migrations"] == without.groups["woken"]["migrations"]
    assert done.dump.asked == without.dump.asked


def check_a_waker_that_goes_on_does_not(program, directory):
    """It posts a semaphore."""
    groups = WAKER | {"waker": G(POSTS, cpus="0")}
    cpu, wait = place(program, directory, 2, woken(BY_SEMAPHORE), groups, SMT, QUEUES)
    assert cpu == 3 and wait < GOES_ON


def check_a_waker_does_not_if_others_wait_there(program, directory):
    """Who may run nowhere else has come just before."""
    early = f"sleep {WHEN - 10_000}\nrun 10000\nsend p 1 now\nrun {GOES_ON}\n"
    groups = WAKER | {
        "waker": G(early, cpus="0"),
        "waits": G(f"sleep {WHEN - 5000}\nrun 10000\n", cpus="0"),
    }
    cpu, wait = place(program, directory, 2, woken(BY_PIPE), groups, SMT, QUEUES)
    assert cpu == 3 and wait < GOES_ON


def check_a_waker_does_not_where_it_may_not_run(program, directory):
    cpu, wait = place(program, directory, 2, woken(BY_PIPE, "1-3"), WAKER, SMT, QUEUES)
    assert cpu == 3 and wait < GOES_ON


def check_a_waker_does_not_while_none_idles(program, directory):
    """All are busy: it waits for its last CPU, though nobody else waits for the waker's."""
    groups = busy(1, 2, 3) | {"waker": G(f"sleep {WHEN}\nsend p 1 now\n{HOG}", cpus="0")}
    settings = (QUEUES, "preemption=0")
    cpu, _ = place(program, directory, 2, woken(BY_PIPE), groups, Machine(4), *settings)
    assert cpu == 2


def check_a_waker_in_another_domain_does_not(program, directory):
    """Each core is a domain, and that of the waker has more to do."""
    groups = WAKER | {"more": G(HOG, cpus="1", start=MS)}
    settings = ("virt_llc=1-1", QUEUES)
    cpu, wait = place(program, directory, 2, woken(BY_PIPE), groups, SMT, *settings)
    assert cpu == 3 and wait < GOES_ON


def check_who_is_woken_goes_to_a_waker_s_domain_with_less_load(program, directory):
    """But not to its CPU: others idle. Three of four CPUs are busy in one of the domains."""
    body = woken(BY_PIPE)
    waker = {"waker": G(SENDS, cpus="0")}
    cpu, wait = place(program, directory, 4, body, waker | busy(4, 5, 6), DOMAINS)
    assert cpu in (1, 2, 3) and wait < GOES_ON
    cpu, wait = place(program, directory, 4, body, waker | busy(1, 2, 4), DOMAINS)
    assert cpu in (5, 6, 7) and wait < GOES_ON
    groups = {"waker": G(POSTS, cpus="0")} | busy(4, 5, 6)
    cpu, wait = place(program, directory, 4, woken(BY_SEMAPHORE), groups, DOMAINS)
    assert cpu == 7 and wait < GOES_ON


# --- whole cores ---


def check_a_whole_core_goes_before_the_last_cpu(program, directory):
    """CPU 3 idles, but not its sibling; of the other core both do."""
    cpu, wait = place(program, directory, 3, woken(BY_TIMER), busy(2), SMT)
    assert cpu in (0, 1) and wait < GOES_ON
    cpu, wait = place(program, directory, 3, woken(BY_TIMER), busy(0, 2), SMT)
    assert cpu == 3 and wait < GOES_ON


def check_the_last_cpu_goes_before_other_whole_cores(program, directory):
    cpu, wait = place(program, directory, 3, woken(BY_TIMER), {}, SMT)
    assert cpu == 3 and wait < GOES_ON


def check_a_whole_core_goes_before_the_waker_s_cpu(program, directory):
    machine = Machine(6, smt=2)
    cpu, wait = place(program, directory, 2, woken(BY_PIPE), WAKER, machine, QUEUES)
    assert cpu in (4, 5) and wait < GOES_ON


def check_half_a_core_goes_before_waiting(program, directory):
    groups = busy(1, 2, 3)
    cpu, wait = place(program, directory, 2, woken(BY_TIMER), groups, SMT, QUEUES)
    assert cpu == 0 and wait < GOES_ON


def check_only_whole_cores_are_worth_another_domain(program, directory):
    """Eight are bound to four CPUs; in the other domain two are busy: of one core, or of two."""
    machine = Machine(8, 4, 8, 2)
    crowd = hogs(8, cpus="0-3", start=MS)
    cpu, wait = place(program, directory, 0, woken(BY_TIMER), crowd | busy(4, 5), machine)
    assert cpu in (6, 7) and wait < GOES_ON
    groups = crowd | busy(4, 6)
    settings = ("lb_low_util_pct=0", "preemption=0")
    _, wait = place(program, directory, 0, woken(BY_TIMER), groups, machine, *settings)
    assert wait > MS


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


# --- rules that are missing ---

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "a waker makes way while none idles": (
        "place.c", "idle < 0 && lavd_none_idles(s)", "0", check_a_waker_does_not_while_none_idles,
    ),
    "no waker makes way": (
        "place.c", "s->waker_cpu >= 0 && READ_ONCE(wake_sync) &&", "0 &&",
        check_a_waker_makes_way,
    ),
    "a waker goes before what would take the thread at once": (
        "place.c", "(idle < 0 || per_cpu_queues) && ", "",
        check_one_that_idles_goes_before_a_waker_with_the_same_queue,
    ),
    "wake_sync=0 counts for nothing": (
        "place.c", "READ_ONCE(wake_sync) &&", "", check_a_waker_makes_way,
    ),
    "wakers that go on make way": (
        "place.c", "event->flags & SAAKM_EV_SYNC && ", "", check_a_waker_that_goes_on_does_not,
    ),
    "a waker makes way though others wait": (
        "place.c", "\t       !lavd_waits_here(saakm_core_of(lavd_policy, s->waker_cpu));",
        "\t       lavd_policy;", check_a_waker_does_not_if_others_wait_there,
    ),
    "a waker in another domain makes way": (
        "place.c", "lavd_cpu(s->waker_cpu)->domain == lavd_cpu(s->prev_cpu)->domain &&", "",
        check_a_waker_in_another_domain_does_not,
    ),
    "a waker's domain counts for nothing": (
        "place.c", "READ_ONCE(s->domain->load) > READ_ONCE(waker->load)", "0",
        check_who_is_woken_goes_to_a_waker_s_domain_with_less_load,
    ),
    "a waker's domain counts whatever its load": (
        "place.c", "READ_ONCE(s->domain->load) > READ_ONCE(waker->load)", "1",
        check_who_is_woken_goes_to_a_waker_s_domain_with_less_load,
    ),
    "the last CPU goes before whole cores": (
        "place.c", "(!whole || lavd_whole_core_idles(s->sticky))", "1",
        check_a_whole_core_goes_before_the_last_cpu,
    ),
    "whole cores go before the last CPU": (
        "place.c", "(!whole || lavd_whole_core_idles(s->sticky))", "!whole",
        check_the_last_cpu_goes_before_other_whole_cores,
    ),
    "a waker goes before whole cores": (
        "place.c", "\tif (whole)\n\t\treturn idle;\n", "",
        check_a_whole_core_goes_before_the_waker_s_cpu,
    ),
    "each core is a whole one": (
        "place.c", "\t\tif (!saakm_cpu_idle(sibling))\n\t\t\treturn false;", "",
        check_a_waker_makes_way,
    ),
    "no core is a whole one": (
        "place.c", "\tfor_each_cpu(sibling, lavd_cpu(cpu)->siblings) {\n"
        "\t\tif (!saakm_cpu_idle(sibling))",
        "\tfor_each_cpu(sibling, lavd_cpu(cpu)->siblings) {\n\t\tif (1)",
        check_a_whole_core_goes_before_the_last_cpu,
    ),
    "half a core is not used": (
        "place.c", "return idle >= 0 ? idle : lavd_stay(s);", "return lavd_stay(s);",
        check_half_a_core_goes_before_waiting,
    ),
    "half a core is worth another domain": (
        "place.c", "cpu >= 0 && (!whole || lavd_whole_core_idles(cpu))", "cpu >= 0",
        check_only_whole_cores_are_worth_another_domain,
    ),
    "no whole core is worth another domain": (
        "place.c", "cpu >= 0 && (!whole || lavd_whole_core_idles(cpu))", "0",
        check_only_whole_cores_are_worth_another_domain,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_rule_it_does_not(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])


def test_the_class_refuses_the_cpu_of_a_waker_that_may_not_be_used(tmp_path):
    rule = "!cpumask_test_cpu(event->waker_cpu, s->task->cpus_ptr)"
    with pytest.raises(RuntimeError, match="refused-placement"):
        check_a_waker_does_not_where_it_may_not_run(
            with_fault(tmp_path, "place.c", rule, "0"), tmp_path
        )
