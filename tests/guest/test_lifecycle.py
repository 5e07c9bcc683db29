# SPDX-License-Identifier: GPL-2.0
"""Policies come and go under load: programs/reload.c and crowd.c."""

import pytest

from saakm.builder.modules import module_file
from saakm.builder.parameters import split

from .support import CENTRAL, PARTS, POLICIES, SYSFS, load_in_mode, load_policy, policies, run_ok

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")


# A module is loaded once at a time.
TOGETHER = [policy for policy in POLICIES if policy not in (CENTRAL, PARTS)]


def _reload(guest, program, tally, cycles: int, *words: str) -> None:
    named = ((module_file(guest.kernel, name), *settings) for name, settings in map(split, words))
    files = " ".join(":".join(map(str, module)) for module in named)
    run_ok(guest, f"{program('reload')} {cycles} {files}", timeout=250)
    assert not policies(guest)
    tally("loads and unloads of policies under load", cycles * len(words))


@pytest.mark.threads
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr", CENTRAL])
def test_reload_under_load(guest, program, tally, policy):
    _reload(guest, program, tally, 10, policy)


@pytest.mark.threads
def test_reload_two_at_once(guest, program, tally):
    _reload(guest, program, tally, 8, "fifo", "vtime")


@pytest.mark.threads
@pytest.mark.long
@pytest.mark.limit(900)
@pytest.mark.parametrize("names", [["fifo"], ["rr"], [CENTRAL], TOGETHER], ids="-".join)
def test_reload_often(guest, program, tally, names):
    for _ in range(5):
        _reload(guest, program, tally, 20, *names)


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_unload_moves_threads_to_fair(guest, program, policy):
    name = load_in_mode(guest, policy)
    run_ok(
        guest,
        f"{program('crowd')} -p {name} -n 100 -l 100 -e other 'rmmod {name}'",
        timeout=110,
    )


def _unload_crowd(guest, program, threads: int, timeout: float) -> None:
    load_policy(guest, "rr")
    command = f"{program('crowd')} -p rr -n {threads} -l 100 -e other 'rmmod rr'"
    run_ok(guest, command, timeout=timeout)


def test_unload_with_hundreds_of_threads(guest, program):
    _unload_crowd(guest, program, 300, 110)


@pytest.mark.long
@pytest.mark.limit(600)
def test_unload_with_thousands_of_threads(guest, program):
    _unload_crowd(guest, program, 2000, 580)


def test_unload_one_of_two(guest, program):
    """Threads of the other policy notice nothing. All sleep (-k 1), since the first policy goes first."""
    load_policy(guest, "fifo")
    load_policy(guest, "rr")
    inner = f'{program("crowd")} -k 1 -p rr -l 50 -e other "rmmod rr"'
    run_ok(guest, f"{program('crowd')} -k 1 -p fifo -l 100 -e saakm '{inner}'", timeout=110)
    assert list(policies(guest)) == ["fifo"]


def test_load_beside_fair_hogs(guest, program):
    """Loading does not wait for CPUs that fair threads keep busy; then SaaKM threads get on."""
    file = module_file(guest.kernel, "rr")
    inner = f"insmod {file} && {program('crowd')} -p rr -n 8 -l 80 true && rmmod rr"
    run_ok(guest, f"{program('crowd')} -n 8 -k 3 -l 100 -e other '{inner}'", timeout=110)


def test_loader_is_killed(guest, program):
    """SIGKILL at any moment of insmod leaves a policy that is loaded, or none."""
    file = module_file(guest.kernel, "rr")
    run_ok(
        guest,
        f"""
        for i in 1 2 3 4 5 6 7 8; do
            insmod {file} & loader=$!
            busybox usleep $((i * 2000))
            kill -KILL $loader
            wait $loader 2>/dev/null
            rmmod rr 2>/dev/null
        done
        insmod {file} || exit 1
        """,
    )
    run_ok(guest, f"{program('crowd')} -p rr -n 8 -e saakm true", timeout=70)


def test_unload_has_a_held_back_fork_end(guest, program):
    """It waits for a thread in the midst of a fork, which the policy holds back on an idle CPU."""
    # Without its 5 percent, which _TIDY puts back.
    run_ok(guest, f"echo 0 >{SYSFS}/server_runtime_us")
    id_ = load_policy(guest, "hangs", "timeout_ms=0")
    hold = "/sys/module/hangs/parameters/holds"
    took_ms = int(run_ok(guest, f"{program('fork_held')} {id_} {hold} hangs"))
    # Grace periods take 0.1 s; until something else happens on the CPU, it is a second.
    assert took_ms < 500
