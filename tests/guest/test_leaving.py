# SPDX-License-Identifier: GPL-2.0
"""Threads join, ask and leave while policies come and go under them."""

import pytest

from .support import SYSFS, last_error, load_policy, policies, run_ok


@pytest.mark.threads
def test_getattr_beside_leaving(guest, program):
    """The policy's getparam_attr reads data of a thread that is just leaving."""
    id_ = load_policy(guest, "recorder", "groups=0")
    run_ok(guest, f"{program('getattr_race')} {id_} 20000", timeout=250)


@pytest.mark.limit(300)
def test_late_joiners_find_no_removed_policy(guest, program):
    """Callers are preempted in sched_setattr() while the policy they ask for is unloaded."""
    fifo = guest.kernel.modules / "fifo" / "fifo.ko"
    told = run_ok(
        guest,
        f"""
{program("late_joiners")} 20 >/tmp/joiners & joiners=$!
for round in $(seq 40); do
	kill -0 $joiners 2>/dev/null || break
	insmod {fifo} || exit 1
	echo fifo >{SYSFS}/eject
	busybox usleep 100000
	rmmod fifo || exit 1
done
wait $joiners && cat /tmp/joiners
""",
        timeout=280,
    )
    calls, _, refused, _ = told.split()
    assert int(calls) >= int(refused) > 1000, told


def test_who_joins_where_it_was_preempted_goes_on(guest, program):
    """It may hold locks of the kernel: it gets a turn, though its policy elects nobody.

    One that has left since, and slept, holds none.
    """
    id_ = load_policy(guest, "misuser", "mode=schedule_null")
    preempted, slept = map(int, run_ok(guest, f"{program('joins_waiting')} {id_}").split())
    assert preempted > 0
    assert slept == 0


def test_who_was_held_back_runs_where_another_policy_has_it(guest, program):
    """Its CPU idles, and nothing but this change gives it a reason to elect."""
    holder = load_policy(guest, "misuser", "mode=schedule_null", "timeout_ms=0")
    other = load_policy(guest, "fifo")
    # Without its 5 percent, which _TIDY puts back.
    run_ok(guest, f"echo 0 >{SYSFS}/server_runtime_us")
    assert int(run_ok(guest, f"{program('leaves_held')} {holder} {other}")) < 100


def _asks_while(guest, command: str) -> tuple[int, str]:
    """Somebody asks heir to join it; in the meantime `command`. How the asking ended, and its words."""
    load_policy(guest, "heir", "hold=1")
    told = run_ok(
        guest,
        f"""
saakmctl exec heir -- cat /proc/saakm/policies >/tmp/joiner 2>&1 & joiner=$!
until [ $(cat /sys/module/heir/parameters/asking) = 1 ]; do busybox usleep 10000; done
{command} || exit 1
wait $joiner; echo $?; cat /tmp/joiner
""",
    )
    status, _, words = told.partition("\n")
    return int(status), words


def test_who_asked_a_policy_that_goes_is_refused(guest):
    """It was there when it was asked, and is being removed when it says yes."""
    status, words = _asks_while(guest, "rmmod heir")
    # It is still listed, or not any more.
    assert status and ("being removed" in words or "no policy" in words), (status, words)
    assert not policies(guest)


def test_who_asked_a_policy_that_is_replaced_joins_the_next(guest):
    heir2 = guest.kernel.modules / "heir" / "heir2.ko"
    status, words = _asks_while(guest, f"insmod {heir2} replaces=heir name=heir2")
    rows = {row.split()[1]: row.split()[5] for row in words.splitlines()}
    assert not status and (rows["heir"], rows["heir2"]) == ("0", "1"), words


@pytest.mark.kernel("base")
def test_a_running_thread_that_leaves_lets_others_go_first(guest, program):
    """Its policy's threads come before the policy that it goes to: at once, not at some later tick."""
    first, later = load_policy(guest, "fifo"), load_policy(guest, "rr")
    overtaken = [run_ok(guest, f"{program('leave_running')} {first} {later}") for _ in range(3)]
    assert set(map(int, overtaken)) == {0}, "it went on before somebody of the first policy"


def test_a_member_of_an_ejected_policy_may_keep_it(guest, program):
    """sched_setparam() names no policy: it must not fail because somebody else ejects one."""
    id_ = load_policy(guest, "fifo")
    run_ok(
        guest,
        f"""
saakmctl exec {id_} -- {program("keeper")} 300 >/tmp/keeper 2>&1 & keeper=$!
until [ "$(awk '$2 == "fifo" {{ print $6 }}' /proc/saakm/policies)" = 1 ]; do busybox usleep 10000; done
echo fifo >{SYSFS}/eject
wait $keeper || {{ cat /tmp/keeper; exit 1; }}
""",
    )


def test_a_failed_load_says_why_and_keeps_nothing(guest):
    """Names that mean something else, or that nobody can print."""
    module = guest.kernel.modules / "named" / "named.ko"
    for name, why in {
        "13": "is no number",
        "0x1f": "is no number",
        "08": "is no number",
        "none": "is not none",
        "fair": "is not none",
        "-x": "does not begin with -",
        ".": "does not begin with",
        "a\x1b[2J": "cannot be printed",
        "a/b": "slashes",
        "x" * 32: "1 to 31 characters",
    }.items():
        guest.run(f"echo nobody >{SYSFS}/eject")  # another last_error than before
        done = guest.run(f"insmod {module} 'called=\"{name}\"'")
        assert done.status, f"{name!r} was loaded"
        assert why in last_error(guest), (name, last_error(guest))
    for memory, why in {
        "stack": "on the stack",
        "init": "__initdata",
        "handler": "is __init",
        "key": "is __init",
        "bound": "is __init",
    }.items():
        assert guest.run(f"insmod {module} memory={memory}").status
        assert why in last_error(guest), (memory, last_error(guest))
    assert guest.run(f"insmod {module} ejects=Y").status
    assert "ejected itself" in last_error(guest)
    assert not policies(guest)
    run_ok(guest, f"insmod {module} called=good && rmmod named")
