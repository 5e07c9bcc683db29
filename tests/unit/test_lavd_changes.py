# SPDX-License-Identifier: GPL-2.0
"""lavd while the machine and its threads change, what it refuses, and its faults."""

import json
import random
import subprocess

import pytest
from lavd_runs import (
    EXPECTED,
    HOG,
    LAVD,
    MS,
    SLICE,
    G,
    Machine,
    S,
    hogs,
    run,
    simulator,
    start,
    text,
    touched,
    wakes,
)

from saakm.workload import registry
from saakm.workload.program_text import to_text


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


# --- changes ---

TWO_DOMAINS = Machine(4, 2)
QUEUES = ((), ("virt_llc=1-1",), ("per_cpu_queues=1",), ("original=1",))
# The second domain, and then back.
OFF_AND_ON = tuple(
    f"at={ms * MS + cpu}:{what}:{cpu}" for ms, what in ((500, "offline"), (1000, "online"))
    for cpu in (2, 3)
)  # fmt: skip


@pytest.mark.parametrize("settings", QUEUES, ids=" ".join)
@pytest.mark.parametrize("power", ["auto", "performance", "powersave"])
def test_a_domain_goes_offline_and_comes_back(lavd, tmp_path, settings, power):
    groups = touched(4) | hogs(6, start=20 * MS)
    own = (f"power={power}", *settings, *OFF_AND_ON)
    done = run(lavd, tmp_path, groups, 2 * S, TWO_DOMAINS, *own)
    ran = sum(done.ran(f"h{i}") for i in range(6))
    assert ran > 0.99 * (4 * 1480 + 2 * 500) * MS
    # Six on two CPUs, and who had just had its turn.
    assert done.longest_wait(*(f"h{i}" for i in range(6))) <= 6 * SLICE
    assert done.dump.online == 4


OTHERS = {
    "killed": f"sleep {700 * MS}\nkill other\n",
    "to fair and back": (
        f"sleep {700 * MS}\nset_policy_of other fair\nsleep {100 * MS}\nset_policy_of other main\n"
        f"sleep {100 * MS}\nset_policy_of other fair\nsleep {50 * MS}\nkill other\n"
    ),
    "here and there": (
        f"loop 50\nsleep {7 * MS}\nset_cpus_of other 0-1\nsleep {7 * MS}\nset_cpus_of other 2\n"
        f"sleep {7 * MS}\nset_cpus_of other 2-3\nset_nice_of other 5\nend\nkill other\n"
    ),
    "ejected and loaded": (
        f"sleep {700 * MS}\nreload main\nsleep {100 * MS}\nset_policy_of other main\n"
        f"sleep {300 * MS}\nkill other\n"
    ),
}


@pytest.mark.parametrize("settings", QUEUES, ids=" ".join)
@pytest.mark.parametrize("what", OTHERS)
def test_no_load_is_left_of_those_who_are_gone(lavd, tmp_path, what, settings):
    """Six that waited in the second domain, some of them when it happened."""
    groups = touched(4) | {
        "other": G(wakes(5 * MS, 5 * MS), n=6, cpus="2-3"),
        "changes": G(OTHERS[what], policy="rt:20"),
        "looks": G(wakes(100_000, 5 * MS), cpus="0"),
    }
    own = ("power=performance", *settings)
    done = run(lavd, tmp_path, groups, 4 * S, TWO_DOMAINS, *own)
    loads = [domain.load for domain in done.dump.domains if "0" not in domain.cpus]
    assert loads and not any(loads)
    assert done.dump.waiting == 0 and not any(domain.waiting for domain in done.dump.domains)


def test_a_priority_inversion_leaves_no_load(lavd, tmp_path):
    """Who is boosted into the real-time class while it waits is in no queue."""
    lock = "loop 300\nlock m\nrun {}\nunlock m\nsleep {}\nend\n"
    groups = touched(4) | {
        "other": G(wakes(5 * MS, 5 * MS, "100"), n=6, cpus="2-3"),
        "low": G(lock.format(1_000_000, 100_000), n=3, cpus="2-3"),
        "high": G(lock.format(100_000, 1_000_000), policy="rt:30"),
        "looks": G(wakes(100_000, 5 * MS), cpus="0"),
    }
    own = ("power=performance",)
    objects = "pimutex m 1\n"
    done = run(lavd, tmp_path, groups, 6 * S, TWO_DOMAINS, *own, objects=objects)
    assert done.dump.domains[1].load == 0 and done.dump.waiting == 0


# --- what torture finds ---

MACHINES = (
    Machine(1), Machine(2, smt=2), Machine(3), Machine(4), Machine(4, 2), Machine(8, 4, 4),
    Machine(8, 2, 4, 2), Machine(8, smt=2), Machine(6, 3, 3), Machine(16, 4, 8, 2),
)  # fmt: skip
PARAMETERS = (
    "", "virt_llc=1-1", "virt_llc=2-8", "per_cpu_queues=1", "original=1", "warm_cpu_us=3000",
    "power=performance", "power=powersave", "power=balanced", "mig_delta_pct=10",
    "lb_low_util_pct=0", "preempt_shift=0", "preemption=0", "slice_boost=0",
    "futex_boost=0", "overflow_extend=0", "slice_min_us=100", "pinned_slice_us=0", "wake_sync=0",
    "pinned_slice_us=100", "lat_load_target_pct=0", "lat_load_target_pct=1000",
)  # fmt: skip
OPTIONS = ("", "hotplug=0", "modules=0", "threads=20", "hotplug=1ms,modules=5ms")


@pytest.mark.parametrize("seed", range(24))
def test_torture_finds_nothing_and_repeats(lavd, tmp_path, seed):
    draw = random.Random(seed)
    machine = draw.choice(MACHINES)
    file = tmp_path / "program"
    workload = registry.load(f"torture:{draw.choice(OPTIONS)}", machine.cpus)
    file.write_text(to_text(workload))
    settings = {f"lavd.{one}" for one in draw.sample(PARAMETERS, 4) if one}
    words = [*machine.words, f"seed={seed}", f"interleave={draw.choice((3, 20, 100))}"]
    command = [lavd, *words, "for=40000000", "check=1", *sorted(settings), file]
    first, again = (
        subprocess.run(command, capture_output=True, text=True, timeout=300) for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    said = json.loads(first.stdout)["warnings"]
    assert [one for one in said if not EXPECTED.search(one)] == [], (machine, settings)
    assert (first.stdout, first.stderr) == (again.stdout, again.stderr)


# --- what it refuses ---

REFUSED = {
    **{
        f"virt_llc={given}": f"virt_llc={given}: it is MIN-MAX, cores of a domain"
        for given in ("4", "4-", "-4", "0-4", "5-4", "2-4x", "2-4-8", "two-four")
    },
    "power=fast": "power=fast: it is auto, performance, balanced or powersave",
    "power=": "power=: it is auto,",
    "slice_min_us=5001": "slice_min_us=5001 is more than slice_max_us=5000",
    "slice_max_us=499": "slice_min_us=500 is more than slice_max_us=499",
    "slice_us=1000": "slice_us=1000: leave it 0, and set slice_max_us",
    "slice_min_us=99": "slice_min_us=99: it is 100 to 100000",
    "slice_max_us=100001": "slice_max_us=100001: it is 100 to 100000",
    "pinned_slice_us=x": "pinned_slice_us=x: it is 0 to 100000",
    "preempt_shift=11": "preempt_shift=11: it is 0 to 10",
    "preempt_shift=-1": "preempt_shift=-1: it is 0 to 10",
    "mig_delta_pct=101": "mig_delta_pct=101: it is 0 to 100",
    "lb_low_util_pct=101": "lb_low_util_pct=101: it is 0 to 100",
    "lat_load_target_pct=1001": "lat_load_target_pct=1001: it is 0 to 1000",
    "warm_cpu_us=100001": "warm_cpu_us=100001: it is 0 to 100000",
    "preemption=maybe": "preemption=maybe: the module does not take that",
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_cannot_be_is_refused_with_a_sentence(lavd, tmp_path, given):
    done = start(lavd, tmp_path, text({"a": G("run 1\n")}), 1000, Machine(4), given)
    assert done.returncode == 2
    assert REFUSED[given] in done.stderr


@pytest.mark.parametrize(
    "given",
    [
        ("virt_llc=1-1",), ("virt_llc=64-64",), ("virt_llc=",), ("slice_min_us=5000",),
        ("slice_min_us=100", "slice_max_us=100"), ("slice_min_us=100000", "slice_max_us=100000"),
        ("pinned_slice_us=0",), ("preempt_shift=10",), ("warm_cpu_us=100000",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_bounds_themselves_are_possible(lavd, tmp_path, given):
    assert run(lavd, tmp_path, {"a": G("run 1\n")}, MS, Machine(4), *given).dump.online == 4


# --- what it once did not do ---


RARE = wakes(200_000, 20 * MS)
# When it runs for the 26th time, and who is above it takes the CPU for good.
TAKEN = 505_100_000


@pytest.mark.parametrize("policy", ["rt:10", "fair"])
def test_who_is_preempted_by_a_class_above_goes_on_elsewhere(lavd, tmp_path, policy):
    groups = {"rare": G(RARE), "above": G(HOG, cpus="0", policy=policy, start=TAKEN)}
    done = run(lavd, tmp_path, groups, S, Machine(2))
    assert done.groups["rare"]["switches"] >= 49


@pytest.mark.parametrize("policy", ["rt:10", "fair"])
def test_a_warm_cpu_that_others_have_taken_is_not_waited_for(lavd, tmp_path, policy):
    groups = {"rare": G(RARE), "above": G(HOG, cpus="0", policy=policy, start=TAKEN - MS)}
    settings = ("warm_cpu_us=2000",)
    done = run(lavd, tmp_path, groups, S, Machine(2), *settings)
    assert done.groups["rare"]["switches"] >= 49


def test_who_is_woken_as_its_cpu_is_taken_runs_elsewhere(lavd, tmp_path):
    groups = {
        "hog": G(f"sleep {300 * MS - 1000}\n{HOG}"),
        "above": G(HOG, cpus="0", policy="rt:10", start=300 * MS),
    }
    done = run(lavd, tmp_path, groups, S, Machine(2), "virt_llc=1-1")
    # At the second look, with ticks each 4 ms.
    assert done.ran("hog") > 700 * MS - 2 * 12 * MS


@pytest.mark.parametrize("settings", [(), ("virt_llc=1-1",), ("per_cpu_queues=1",)], ids=" ".join)
@pytest.mark.parametrize("others, least", [(0, 800 * MS), (1, 500 * MS)], ids=["idle", "busy"])
def test_who_may_leave_a_cpu_that_others_have_taken_does(lavd, tmp_path, others, least, settings):
    """It waits where it was bound, in the CPU's own queue, in which no other CPU looks."""
    groups = {
        "other": G(HOG, cpus="1", start=0 if others else 2 * S),
        "bound": G(HOG, cpus="0"),
        "above": G(HOG, cpus="0", policy="rt:10", start=300 * MS),
        "widens": G(f"sleep {400 * MS}\nset_cpus_of bound all\n", policy="fair"),
    }
    done = run(lavd, tmp_path, groups, S, Machine(2), *settings)
    assert done.ran("bound") > least


@pytest.mark.parametrize("n", [3, 4])
def test_hogs_that_share_two_of_many_cpus_take_turns(lavd, tmp_path, n):
    """There is time left on the other six, which they may not use."""
    groups = touched(8) | hogs(n, cpus="0-1", start=20 * MS)
    done = run(lavd, tmp_path, groups, 10 * S, Machine(8))
    assert done.longest_wait(*(f"h{i}" for i in range(n))) <= 3 * SLICE


PIPES = "pipe there {n} 1\npipe back {n} 1\n"
PING = "loop forever\nsend there[self] 1 now\nrun 5000\nreceive back[self] 1\nend\n"
PONG = "loop forever\nreceive there[self] 1\nrun 5000\nsend back[self] 1 now\nend\n"


@pytest.mark.parametrize("pairs, cpus", [(1, 1), (4, 2)])
@pytest.mark.parametrize("settings", [(), ("per_cpu_queues=1",)], ids=" ".join)
def test_a_pair_that_wakes_each_other_leaves_a_hog_its_turns(lavd, tmp_path, pairs, cpus, settings):
    groups = {"hog": G(HOG), "ping": G(PING, n=pairs), "pong": G(PONG, n=pairs)}
    own = {"objects": PIPES.format(n=pairs)}
    done = run(lavd, tmp_path, groups, 3 * S, Machine(cpus), *settings, **own)
    assert done.ran("hog") > 0.1 * 3 * S
    assert done.longest_wait() < 100 * MS


def test_a_pair_that_wakes_each_other_leaves_one_that_sleeps_its_turns(lavd, tmp_path):
    groups = {"some": G(wakes(300_000, 1_000_000)), "ping": G(PING), "pong": G(PONG)}
    done = run(lavd, tmp_path, groups, 3 * S, objects=PIPES.format(n=1))
    assert done.ran("some") > 0.02 * 3 * S


def test_equals_that_want_more_than_their_cpu_have_alike(lavd, tmp_path):
    groups = {f"s{i}": G(wakes(300_000, 1_000_000), cpus="2") for i in range(8)}
    done = run(lavd, tmp_path, groups, 3 * S, Machine(4))
    shares = done.shares(groups)
    assert max(shares) < 2 * min(shares), shares


def test_who_may_use_turbulent_cpus_alone_has_its_turns(lavd, tmp_path):
    """A half of the CPUs are turbulent; it is too critical for their queue, but bound to them."""
    above = wakes(1_200_000, 2_800_000)
    groups = touched(4) | {
        **{f"above{cpu}": G(above, cpus=str(cpu), policy="rt:10") for cpu in (0, 1)},
        **{f"busy{cpu}": G(HOG, n=2, cpus=str(cpu)) for cpu in (2, 3)},
        "hog": G(HOG, n=2, cpus="0-1"),
        "often": G(wakes(100_000, 1_000_000), cpus="0-1"),
    }
    done = run(lavd, tmp_path, groups, 4 * S, Machine(4), "power=performance")
    assert done.longest_wait("often") <= 10 * SLICE


def test_hogs_spread_though_domains_may_differ(lavd, tmp_path):
    """Eight on two CPUs, and six idle for ever, where no one that idles takes by itself."""
    body = f"sleep {20 * MS}\nset_cpus all\n{HOG}"
    groups = touched(8) | {"hog": G(body, n=8, cpus="0-1")}
    settings = ("mig_delta_pct=20", "power=performance")
    done = run(lavd, tmp_path, groups, 4 * S, Machine(8, 2, 4), *settings)
    assert done.ran("hog") > 6 * 4 * S


def test_cpus_that_have_never_run_anything_idle(lavd, tmp_path):
    done = run(lavd, tmp_path, {"w": G(wakes(100_000, 10 * MS))}, 3 * S, Machine(8))
    assert done.dump.busy < 3


def test_a_domain_that_is_not_in_use_has_no_load(lavd, tmp_path):
    groups = touched(4) | {
        "other": G(wakes(5 * MS, 5 * MS, "100"), n=6, cpus="2-3"),
        "looks": G(wakes(100_000, 5 * MS), cpus="0"),
    }
    done = run(lavd, tmp_path, groups, 6 * S, TWO_DOMAINS)
    assert done.dump.in_use == 1 and done.dump.domains[1].load == 0


def test_a_number_of_cores_that_is_too_large_is_refused(lavd, tmp_path):
    given = "virt_llc=4294967297-4294967298"
    done = start(lavd, tmp_path, text({"a": G("run 1\n")}), 1000, Machine(4), given)
    assert done.returncode == 2


@pytest.mark.parametrize("n, cpus", [(5, 4), (24, 1)])
def test_those_who_wait_are_counted(lavd, tmp_path, n, cpus):
    done = run(lavd, tmp_path, hogs(n), 4 * S - 5 * MS, Machine(cpus))
    assert done.dump.waiting == n - cpus


def test_a_cpu_that_runs_dry_looks_beside_the_longest_queue(lavd, tmp_path):
    """Four wait for CPUs 0 and 3, and one that may go anywhere for CPU 1, as CPU 2 becomes free."""
    groups = touched(4) | {
        "bound": G(HOG, n=6, cpus="0,3", start=20 * MS),
        "hog": G(HOG, cpus="1", start=20 * MS),
        "until": G(f"run {102 * MS}\n", cpus="2"),
        "free": G(f"set_cpus all\nsleep {100 * MS}\nrun {MS}\n", cpus="1"),
    }
    settings = ("per_cpu_queues=1", "preemption=0", "power=performance")
    slices = ("slice_min_us=100000", "slice_max_us=100000")
    done = run(lavd, tmp_path, groups, S, Machine(4), *settings, *slices)
    assert done.longest_wait("free") <= 4 * MS


# --- who holds a lock ---

# It has waited for the mutex, so others may want it; and has had 20 ms of work with it.
HOLDS = f"sleep {501 * MS}\nlock m\nrun {20 * MS}\nunlock m\n"


@pytest.mark.parametrize("boost", [0, 1])
def test_who_holds_a_lock_is_not_preempted(lavd, tmp_path, boost):
    """Until its slice has been extended, once. The other is woken each 3.2 ms, and is critical."""
    groups = {
        "other": G(f"sleep {480 * MS}\nlock m\nrun {40 * MS}\nunlock m\n", cpus="1"),
        "hog": G(HOG, cpus="1"),
        "holds": G(HOLDS, cpus="0"),
        "often": G(wakes(100_000, 3_100_000), cpus="0"),
    }
    own = {"objects": "mutex m 1\n"}
    done = run(lavd, tmp_path, groups, S, Machine(2), f"futex_boost={boost}", **own)
    longest = done.longest_wait("often")
    assert longest > 8 * MS if boost else longest < 5 * MS, longest
