# SPDX-License-Identifier: GPL-2.0
"""Core scheduling, prctl(PR_SCHED_CORE): programs/cookies.c."""

import re

import pytest

from .support import (
    CENTRAL,
    POLICIES,
    ejected,
    load_in_mode,
    load_policy,
    policies,
    run_ok,
    sleeps,
    spins,
    until,
)
from .test_hotplug import ROUND
from .test_watchdog import TIMEOUT_MS, no_shares  # noqa: F401

pytestmark = pytest.mark.topology("1s2c2t")


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_groups_get_on(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(guest, f"{program('cookies')} {name} progress true", timeout=250)


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_cookies_change_under_load(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(guest, f"{program('cookies')} {name} switch true", timeout=250)


# With fair threads alone, too, lockdep complains of a CPU that comes up: 6.12 counts it as a
# sibling before it shares the core's lock. Without lockdep nobody notices.
@pytest.mark.kernel("base")
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr", CENTRAL])
def test_hotplug(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(guest, f"{program('cookies')} {name} progress '{ROUND}'", timeout=250)


def test_unload(guest, program):
    load_policy(guest, "rr")
    run_ok(guest, f"{program('cookies')} rr progress 'rmmod rr'", timeout=250)


def _overlaps(guest, program, mode: str, times: int) -> tuple[int, int]:
    """How often siblings ran the same group, and different ones."""
    words = run_ok(guest, f"{program('cookies')} rr {mode} {times}", timeout=250).split()
    return int(words[0]), int(words[1])


# No patches_code: who runs beside whom can only be seen where CPUs run at the same time.
def test_siblings_run_one_group(guest, program):
    """A sibling hears of a new cookie with a delay: seldom is not never."""
    load_policy(guest, "rr")
    # Strangers can be seen.
    assert _overlaps(guest, program, "control", 100)[1] >= 100
    # Five times, in 3,200 to 3,500, none was seen.
    same, different = _overlaps(guest, program, "overlap", 1500)
    assert different < same / 25, f"beside strangers {different} times, beside their own {same}"


def test_siblings_of_different_groups_take_turns(guest, program):
    """A hog on each sibling, with a cookie each: one of the two CPUs idles at any time.

    A fifo ends no turn: at each tick the core chooses anew, and who waits goes first. By the time
    alone they might take turns as well, for some hundred ms.
    """
    id_ = load_policy(guest, "fifo")
    words = run_ok(guest, f"{program('cookie_turns')} {id_} 2000").split()
    whole_ms, *said = map(int, words)
    used_ms, longest_ms = said[::2], said[1::2]
    assert sum(used_ms) <= 1.1 * whole_ms, f"{used_ms} of {whole_ms} ms"
    assert max(longest_ms) <= 20, f"{longest_ms} ms between two turns"


@pytest.mark.kernel("base")
@pytest.mark.parametrize("before", ["runs", "sleeps"])
def test_who_waits_for_a_siblings_sake_does_not_stall(guest, program, no_shares, before):  # noqa: F811
    """A CPU idles for a hog of a higher class on its sibling: three times the limit."""
    id_ = load_policy(guest, "fifo", f"timeout_ms={TIMEOUT_MS}")
    command = f"{program('cookie_waits')} {id_} {3 * TIMEOUT_MS} {before}"
    used_ms = int(run_ok(guest, command, timeout=100))
    assert policies(guest)["fifo"].state == "active", ejected(guest)
    assert used_ms < 200


@pytest.mark.kernel("base")
def test_lavd_relieves_a_cpu_that_idles_for_its_sibling(guest, program):
    """Another core idles, and nobody else would look for who waits there."""
    id_ = load_policy(guest, "lavd")
    used_ms = int(run_ok(guest, f"{program('cookie_waits')} {id_} 2000 may-leave", timeout=100))
    assert used_ms > 500


@pytest.mark.kernel("base")
def test_a_cookie_on_the_sibling_excuses_no_stall(guest, program, watch, no_shares):  # noqa: F811
    """A policy elects nobody beside a hog: its CPU idles, but for nobody's sake.

    Had its thread been preempted in the kernel, the class would elect it in its policy's stead, and then it is the hog
    that keeps it waiting.
    """
    watch.expect_violations()
    load_policy(guest, "misuser", "mode=schedule_null", f"timeout_ms={TIMEOUT_MS}")
    hog = f"taskset -c 3 {program('with_cookie')} sh -c 'while :; do :; done'"
    run_ok(
        guest,
        f"""{hog} & {spins()}; {sleeps(2)}
            saakmctl set misuser $sleeper; kill $sleeper
            # Others come to that CPU now and then, too.
            {program("moments")} 2 100 5 6000 & true""",
    )
    sentence = r"READY on CPU 2 for (\d+) ms .* in (\d+) ms"
    said = until(lambda: re.search(sentence, guest.console()[watch.since :]), 20, "the sentence")
    assert ejected(guest)["misuser"].kind == "stall"
    waited_ms, excused_ms = map(int, said.groups())
    assert excused_ms < waited_ms / 4, said[0]
