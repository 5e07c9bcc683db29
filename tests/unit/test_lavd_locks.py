# SPDX-License-Identifier: GPL-2.0
"""What lavd does with a thread that holds a lock for which others wait, as far as futex(2) shows.

As in test_lavd.py, each `check_` fails for a version of the policy without the rule. That a slice
is extended once, and not again, follows here from the thread's being said to hold nothing after
that: so no test notices if `extended` counts for nothing. It would take a thread that gets another
lock by futex(2) without sleeping, and no program of the simulator does that.
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
    S,
    hogs,
    is_noticed,
    run,
    simulator,
    turns,
    wakes,
)


@pytest.fixture(scope="module")
def lavd():
    return simulator(LAVD)


WHEN = 500 * MS
# Who gets the lock by waiting for it, up to WHEN; or nobody else wants it, and it has it at once.
OTHER = {True: f"lock m\nsleep {WHEN}\nunlock m\n", False: f"sleep {WHEN}\n"}
ASKS = {True: f"run {MS}\nsleep {100 * MS}\n", False: f"run {MS}\nsleep {WHEN}\n"}
HOLDS = f"lock m\nrun {60 * MS}\nunlock m\n"


def stays(
    program: Path, directory: Path, groups: dict[str, G], machine: Machine, *settings: str
) -> list[tuple[int, int]]:
    """From when on the thread `holds` runs on CPU 0, and for how long each time."""
    own = {"objects": "mutex m 1\n", "traced": True}
    done = run(program, directory, groups, S, machine, *settings, **own)
    found, since = [], 0
    for at, who, cpu in turns(done.trace):
        if cpu:
            continue
        if since:
            found.append((since, at - since))
        since = at if who == "holds" else 0
    return found


def turns_with_lock(
    program: Path,
    directory: Path,
    others: dict[str, G],
    machine: Machine,
    *settings: str,
    waits: bool = True,
) -> list[int]:
    """How long they are. `waits`: others may want the lock, as it has waited for it itself."""
    groups = {
        "other": G(OTHER[waits], cpus="0"),
        "holds": G(ASKS[waits] + HOLDS, cpus="0"),
    } | others
    found = stays(program, directory, groups, machine, *settings)
    return [length for at, length in found if at >= WHEN and length > MS]


def check_its_slice_is_extended_once(program, directory):
    """Three hogs wait. A second turn with the lock is as long as others' are."""
    others = hogs(3, cpus="0", start=2 * MS)
    for settings, waits, first in (((), True, 2 * SLICE), (("futex_boost=0",), True, SLICE),
                                   ((), False, SLICE)):  # fmt: skip
        found = turns_with_lock(program, directory, others, Machine(2), *settings, waits=waits)
        assert found[:3] == [first, SLICE, SLICE], (settings, waits)


def check_it_is_not_asked_to_make_way(program, directory):
    """One that is critical wakes each ms, and would have the CPU at the next tick."""
    others = {"often": G(wakes(50_000, 950_000), cpus="0"), "hog": G(HOG, cpus="1")}
    for settings, most in (((), 2 * SLICE), (("futex_boost=0",), TICK)):
        first, *_ = turns_with_lock(program, directory, others, Machine(2), *settings)
        assert most - 2 * MS < first <= most, settings


def check_it_is_due_sooner_afterwards(program, directory):
    """It goes before one of four equals, which have waited for longer."""
    for waits, wait in ((True, 3 * TICK), (False, 4 * TICK)):
        groups = {
            "other": G(OTHER[waits]),
            "holds": G(f"run {80 * MS}\n{HOLDS}"),
            **hogs(4, start=MS),
        }
        found = stays(program, directory, groups, Machine())
        late = [one for one in found if one[0] > (WHEN if waits else 300 * MS)]
        (begun, length), (again, _) = late[:2]
        assert again - begun - length == wait, waits


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_it_does_so(lavd, tmp_path, check):
    check(lavd, tmp_path)


# --- rules that are missing ---

# Where, what stands there, what stands there then, and who notices.
FAULTS = {
    "no slice is extended": (
        "main.c", "READ_ONCE(futex_boost) && saakm_holds_lock(event->task)", "0",
        check_its_slice_is_extended_once,
    ),
    "slices are extended whatever futex_boost says": (
        "main.c", "READ_ONCE(futex_boost) && saakm_holds_lock(", "saakm_holds_lock(",
        check_its_slice_is_extended_once,
    ),
    "each slice is extended": (
        "main.c", "&& saakm_holds_lock(event->task) ", "", check_its_slice_is_extended_once,
    ),
    "each slice with the lock is extended": (
        "thread.c", "\tsaakm_forget_lock(task);\n", "", check_its_slice_is_extended_once,
    ),
    "who holds a lock is asked to make way": (
        "preempt.c", "(READ_ONCE(futex_boost) && saakm_holds_lock(running))", "0",
        check_it_is_not_asked_to_make_way,
    ),
    "who holds a lock is not asked whatever futex_boost says": (
        "preempt.c", "(READ_ONCE(futex_boost) && saakm_holds_lock(running))",
        "saakm_holds_lock(running)", check_it_is_not_asked_to_make_way,
    ),
    "that it held a lock counts for nothing": (
        "thread.c", "\tt->how |= LAVD_LOCKED;\n", "", check_it_is_due_sooner_afterwards,
    ),
    "it counts though others do not wait": (
        "thread.c", "\tif (!saakm_holds_lock(task))\n\t\treturn;\n", "",
        check_it_is_due_sooner_afterwards,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_rule_it_does_not(tmp_path, fault):
    is_noticed(tmp_path, *FAULTS[fault])
