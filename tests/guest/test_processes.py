# SPDX-License-Identifier: GPL-2.0
"""Data of processes, and what becomes of it when they fork and begin another program."""

import pytest

from saakm.base.errors import SaakmError

from .support import emptied, last_error, load_policy, run_ok, until

COUNTS = (
    "blocks",
    "placed",
    "left",
    "execs",
    "dirty",
    "foreign",
    "missing",
    "changed",
    "empty",
    "most",
)


def _counts(guest, module: str = "processes") -> dict[str, int]:
    emptied(guest, module)
    return _counts_now(guest, module)


def _counts_now(guest, module: str) -> dict[str, int]:
    out = run_ok(guest, f"cd /sys/module/{module}/parameters && cat {' '.join(COUNTS)}")
    found = dict(zip(COUNTS, map(int, out.split()), strict=True))
    for fault in ("dirty", "foreign", "missing", "changed", "empty"):
        assert not found[fault], found
    return found


def _run(guest, program, scenario: str, *parameters: str) -> dict[str, int]:
    id_ = load_policy(guest, "processes", *parameters)
    run_ok(guest, f"{program('relatives')} {scenario} {id_}", timeout=250)
    found = _counts(guest)
    assert found["placed"] == found["left"], found
    return found


@pytest.mark.parametrize(
    "scenario, placed, blocks, most",
    [
        ("late_threads", 6, 1, 6),
        ("one_at_a_time", 6, 6, 1),
        ("born_threads", 7, 1, 7),
        ("children", 6, 6, 1),
    ],
)
def test_threads_share_and_processes_do_not(guest, program, scenario, placed, blocks, most):
    """A block is zeroed for the first, and another one when all had left: how many were claimed."""
    found = _run(guest, program, scenario)
    assert (found["placed"], found["blocks"], found["most"]) == (placed, blocks, most), found


def test_who_is_put_in_asleep_finds_it(guest, program):
    found = _run(guest, program, "put_in_asleep")
    assert found["blocks"] == 1 and found["most"] == 2, found


@pytest.mark.threads
def test_comings_and_goings_at_the_same_time(guest, program):
    """Of threads of five processes: nobody gets another's block, or one that is not zeroed."""
    found = _run(guest, program, "crowds", "size=200")
    assert found["placed"] > 5 * 6 * 60 and found["most"] > 1, found


def test_no_size_no_data(guest, program):
    """The module counts whatever else it is given."""
    assert _run(guest, program, "late_threads", "size=0")["placed"] == 6


def test_two_pages_at_the_most(guest):
    load_policy(guest, "processes", "size=8192")
    guest.unload("processes")
    with pytest.raises(SaakmError):
        guest.load("processes", "size=8193")
    assert "process_size 8193" in last_error(guest)


# --- execve() ---


@pytest.mark.parametrize("who", ["process", "thread"])
def test_exec_is_told_once_if_it_succeeds(guest, program, who):
    """Each time three files are tried in vain. The data stays, whichever thread calls."""
    id_ = load_policy(guest, "processes")
    run_ok(guest, f"{program('execs')} {id_} 12 {who}", timeout=60)
    found = _counts(guest)
    assert found["execs"] == 12, found
    # The only thread stays in; of two the leader is joined anew by the program.
    assert found["blocks"] == 1, found


def test_others_are_not_told(guest, program):
    """Programs that fair threads begin, and those of a child that has left."""
    load_policy(guest, "processes")
    run_ok(guest, "saakmctl exec processes -- true")
    before = _counts(guest)["execs"]
    run_ok(guest, "for i in 1 2 3 4 5; do /bin/true; done")
    assert _counts(guest)["execs"] == before


# --- the end ---


@pytest.mark.kernel("base")
def test_the_last_one_frees_it(guest, program):
    """Of 400 processes, one after the other, with 8 KB each: the slabs are as they were."""
    id_ = load_policy(guest, "processes")
    in_use = "awk '$1 ~ /^kmalloc(-cg)?-8k$/ { n += $2 } END { print n }' /proc/slabinfo"
    run_ok(guest, f"{program('relatives')} children {id_}")
    before = int(run_ok(guest, in_use))
    assert before
    run_ok(guest, f"{program('relatives')} generations {id_}", timeout=100)
    assert _counts(guest)["blocks"] >= 400
    # RCU frees them somewhat later.
    until(lambda: int(run_ok(guest, in_use)) < before + 100, 20, "blocks that were freed")


def test_the_successor_has_blocks_of_its_own(guest, program):
    """Zeroed, one for each process, though all of its threads come at different times."""
    id_ = load_policy(guest, "processes")
    second = guest.kernel.modules / "processes" / "processes2.ko"
    run_ok(
        guest,
        f"""
        mkfifo /tmp/go /tmp/said
        {program("relatives")} lasting {id_} </tmp/go >/tmp/said & pid=$!
        exec 8>/tmp/go 9</tmp/said
        read -r _ <&9
        insmod {second} name=processes2 replaces=processes || exit 1
        # The child's is claimed when it wakes.
        until [ $(cat /sys/module/processes2/parameters/blocks) -ge 2 ]; do busybox usleep 10000; done
        cat /sys/module/processes2/parameters/blocks >/tmp/blocks
        echo >&8
        wait $pid; status=$?
        rm /tmp/go /tmp/said
        exit $status
        """,
        timeout=60,
    )
    assert run_ok(guest, "cat /tmp/blocks").strip() == "2"
    found = _counts(guest, "processes2")
    assert found["most"] == 7 and found["placed"] == found["left"], found
    assert _counts(guest)["blocks"] == 2
