# SPDX-License-Identifier: GPL-2.0
"""saakm check: what is right passes, and what is wrong fails where it is wrong, with the right words."""

import json
import os
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from call import saakm

from saakm.base import paths
from saakm.builder.policies import policies
from saakm.dev.scaffold import SMALLEST, policy_files, shipped

from .support import TURNS

PAGE = (paths.REPO / "docs/how-to/check-a-policy.md").read_text()
EXAMPLES = [f"docs/examples/{name}" for name in ("events", "global", "mlfq", "steal")]
# Those with gdb are run by test_gdb.py.
_COMMANDS = [c for c in re.findall(r"^    \./saakm (.*)$", PAGE, re.M) if "gdb" not in c]
# The kernels that these boot are built by saakm test, also for tests without a guest.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(900)]


def check(policy, *args, status=0):
    """The rows of its report."""
    done = saakm("check", str(policy), "--json", *args)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)


def failure(module, *args):
    """The one failure of a module that is wrong, as words."""
    rows = check(paths.GUEST_MODULES / module, *args, status=1)
    (row,) = (row for row in rows if row["verdict"] == "failed")
    return row, "\n".join(row["failures"])


@pytest.mark.limit(1800)
def test_page_as_written():
    """With a quick check of a shipped policy in it."""
    expected = {"fifo --only fairness": 1}
    assert len(_COMMANDS) == 5
    for command in _COMMANDS:
        done = saakm(*shlex.split(command))
        status = next((s for words, s in expected.items() if words in command), 0)
        assert done.returncode == status, command + done.stdout + done.stderr
        if "--quick" in command:
            assert "rr: 8 held, 0 did not; 1 are not promised" in done.stdout
        if "--command" in command:
            words = shlex.split(done.stdout)
            assert words[0].endswith("qemu-system-x86_64") and "check=storm" in done.stdout
            image = Path(words[words.index("-initrd") + 1])
            assert image.exists() and paths.CACHE in image.parents  # where clean finds it


def test_command_boots_the_machine_that_is_asked_for():
    """Without booting it."""
    args = ("--only", "storm", "--command", "--topology", "2s1c2t", "--jobs", "1")
    done = saakm("check", "rr", *args, "--param", "slice_us=2000")
    assert done.returncode == 0, done.stderr
    assert "-smp 4,sockets=2,dies=1,cores=1,threads=2" in done.stdout


# module, its mode if it has several, the check that finds it -> what it says
WRONG = [
    (
        "misuser",
        "schedule_null",
        "lifecycle",
        r"ejected \(stall\) in none: .* has been READY on CPU",
    ),
    ("liar", "sleepy", "wakeups", r"was woken, is READY on CPU \d and does not run"),
    ("liar", "hoards", "work-conservation", r"a CPU idled for [\d.]+ ms while thread \d+ waited"),
    (
        "liar",
        "starves",
        "no-starvation",
        r"did not run for \d{3} ms; on CPU 1 were 6 threads that never sleep",
    ),
    (
        "sbf",
        "",
        "no-starvation",
        # One of the short bursts that is longer than the others starves as well.
        r"^thread \d+ \(nice 0\), which (never sleeps|sleeps now and then), did not run for \d{3} ms; "
        r"on CPU 1 were 2 threads that never sleep, and 6 that fill it with short bursts$",
    ),
    ("liar", "unfair", "fairness", r"of 600 ms on one CPU 3 equal threads got"),
    ("liar", "leaks", "leaks", r"more objects in kmalloc-128 .*must be freed in terminate"),
]


def at_once(run, items):
    """Its guests take a CPU each."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(run, items))


def parameters(mode):
    return ["--param", f"mode={mode}"] if mode else []


@pytest.fixture(scope="module")
def wrong(request):
    """All with --long, else every other one, as the seed has it."""
    config = request.config
    return WRONG if config.getoption("--long") else WRONG[config.getoption("--seed") % 2 :: 2]


@pytest.fixture(scope="module")
def failures(wrong):
    """The failing row of each wrong policy, and its words."""

    def run(one):
        module, mode, name, _ = one
        return failure(module, "--only", name, "--seed", "2", *parameters(mode))

    return at_once(run, wrong)


def test_wrong_policies_fail_in_the_right_place(wrong, failures):
    for (module, mode, name, words), (row, said) in zip(wrong, failures, strict=True):
        assert re.search(words, said), f"{module} {mode}: {said}"
        assert row["command"].endswith(shlex.join([name, "--seed", "2", *parameters(mode)]))


def test_looks_that_saw_a_thread_wait_are_no_more_than_all_looks():
    """Several threads wait at a time: each look counts once."""
    row, _ = failure("liar", "--only", "work-conservation", "--param", "mode=hoards")
    (words,) = row["tried"]
    looks, waiting = map(int, re.search(r"of (\d+) looks (\d+) saw a thread wait", words).groups())
    assert 20 < waiting <= looks, words


@pytest.mark.long
@pytest.mark.limit(1800)
def test_shortest_burst_first_fails_by_its_promise_alone():
    """What every policy must do, it does."""
    row, _ = failure("sbf", "--quick")
    assert row["check"] == "no-starvation"


@pytest.mark.parallel(TURNS)
def test_same_seed_same_failure():
    """To the microsecond of the last transitions."""

    def run(seed):
        return failure("liar", "--only", "wakeups", "--param", "mode=sleepy", "--seed", seed)[0]

    runs = at_once(run, ["5", "5", "6"])
    assert runs[0] == runs[1] and "HANDLER" in runs[0]["dump"]
    assert runs[0]["dump"] != runs[2]["dump"]


@pytest.mark.long
@pytest.mark.kernel("debug")
def test_policy_that_remembers_the_dead_fails():
    """Its data is written to after terminate: nothing but KASAN sees that."""
    args = ("--only", "lifecycle", "--param", "mode=remembers", "--config", "debug")
    row, said = failure("liar", *args)
    assert "the kernel complained: BUG: KASAN: slab-use-after-free in liar_new_place" in said
    assert "liar_new_place" in row["kernel"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "name", "words"),
    [
        ("place_twice", "lifecycle", "wrong-transition"),
        ("place_never", "lifecycle", "not-placed"),
        ("prepare_forbidden", "affinity", "refused-placement"),
        ("steal_locked", "lifecycle", "wrong-move"),
        ("running_sleeps", "lifecycle", "sleep"),
    ],
)
def test_fault_fails(mode, name, words):
    _, said = failure("misuser", "--only", name, "--param", f"mode={mode}")
    assert f"ejected ({words})" in said


@pytest.mark.long
@pytest.mark.limit(3600)
@pytest.mark.kernel("debug")
@pytest.mark.parametrize("policy", [*policies(), *EXAMPLES])
def test_shipped_policy_holds(policy):
    where = paths.REPO / policy if policy in EXAMPLES else policy
    assert all(row["verdict"] != "failed" for row in check(where))


@pytest.mark.long
@pytest.mark.limit(1800)
def test_promises_of_the_command_line_are_checked():
    """Otherwise this one is skipped: test_page_as_written."""
    rows = check("rr", "--quick", "--promise", "weights", status=1)
    assert [row["check"] for row in rows if row["verdict"] == "failed"] == ["weights"]


@pytest.mark.long
@pytest.mark.limit(7200)
@pytest.mark.kernel("debug")
def test_full_has_other_machines():
    rows = check("fifo", "--full")
    assert all(row["verdict"] != "failed" for row in rows)
    assert len({row["where"] for row in rows}) > 3


@pytest.mark.long
@pytest.mark.limit(1800)
@pytest.mark.parametrize(
    "origin", [None, "fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", "lavd"]
)
def test_new_policy_holds_as_created(tmp_path, origin):
    directory = tmp_path / f"my_{origin or 'own'}"
    directory.mkdir()
    sources = shipped(origin) if origin else SMALLEST
    for file, text in policy_files(directory.name, origin, sources).items():
        (directory / file).write_text(text)
    rows = check(directory, "--quick")
    assert all(row["verdict"] != "failed" for row in rows)
    promised = {row["check"] for row in rows if row["verdict"] == "held"}
    assert ("weights" in promised) == (origin == "vtime")
