# SPDX-License-Identifier: GPL-2.0
"""Without memory, and with calls that make no sense: nothing is lost, nothing complains."""

import re
from pathlib import Path

import pytest

from saakm.builder.modules import module_file
from saakm.builder.parameters import split

from .support import (
    CENTRAL,
    LOSES_BANDWIDTH,
    PARTS,
    SYSFS,
    emptied,
    joined,
    load_in_mode,
    load_policy,
    policies,
    run_ok,
)

FAILSLAB = "/sys/kernel/debug/failslab"
SEEDS = [1, 2, 3]
FUZZED = ("fifo", "rr", "vtime", "eevdf")


@pytest.fixture
def failing(guest):
    """Also allocations that may sleep can be made to fail; quietly."""
    run_ok(guest, f"echo 0 >{FAILSLAB}/ignore-gfp-wait && echo 0 >{FAILSLAB}/verbose")


def _failed(guest, program, tally, arguments: str, timeout: float = 110) -> int:
    count = int(run_ok(guest, f"{program('failnth')} 1 {arguments}", timeout=timeout))
    tally(f"allocations that fail in {arguments.split()[0]}, one after the other", count)
    return count


def _own_copy(guest, file: Path) -> str:
    """Where reading it allocates nothing that could fail."""
    run_ok(guest, f"cp {file} /dev/shm/")
    return f"/dev/shm/{file.name}"


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "vtime", "eevdf", "heir", CENTRAL, "lavd", PARTS])
def test_load_without_memory(guest, program, tally, failing, policy):
    """Wherever memory lacks first: in insmod's allocations, the class's and the kernel's own."""
    name, settings = split(policy)
    file = _own_copy(guest, module_file(guest.kernel, name))
    load = f"load {file} {name} '{' '.join(settings)}'"
    assert _failed(guest, program, tally, load, timeout=280) > 5
    assert not policies(guest)


def test_replacement_without_memory(guest, program, failing):
    """It happens, or it does not; the threads are somewhere, and all of them go on."""
    load_policy(guest, "heir")
    sleeper = "saakmctl exec heir -- sleep infinity"
    run_ok(
        guest,
        f"for i in 1 2 3 4 5; do {sleeper} & done; {joined('heir', 5)};"
        ' until [ "$(pgrep -c sleep)" = 5 ]; do busybox usleep 10000; done',
    )
    file = _own_copy(guest, module_file(guest.kernel, "heir").with_name("heir2.ko"))
    done = guest.run(
        f"{program('failnth')} 10 load {file} heir2 'replaces=heir name=heir2'", timeout=110
    )
    # Ends with the first success, or after it: there is nothing left to be replaced.
    assert policies(guest)["heir"].state == "ejected", done.stderr
    failures = re.search(
        r"after (\d+) failures .*No such process|^(\d+)$", done.stderr + done.stdout, re.M
    )
    assert failures and int(failures[1] or failures[2]) >= 3, done.stderr
    assert run_ok(guest, "pgrep -c sleep").strip() == "5"
    run_ok(guest, "pkill sleep; true")


def test_fork_without_memory(guest, program, tally, failing):
    id_ = load_policy(guest, "vtime")  # has data for each thread
    assert _failed(guest, program, tally, f"fork {id_}") > 10
    emptied(guest, "vtime")


def test_setattr_without_memory(guest, program, tally, failing):
    id_ = load_policy(guest, "vtime")
    assert _failed(guest, program, tally, f"setattr {id_}") >= 1
    emptied(guest, "vtime")


def _fuzz(guest, program, tally, seed: int, count: int) -> None:
    shinjuku = "shinjuku" if seed % 2 else CENTRAL
    lavd = "lavd" if seed % 2 else PARTS
    names = [load_in_mode(guest, policy) for policy in (*FUZZED, shinjuku, lavd)]
    ids = [policies(guest)[name].id for name in names]
    out = run_ok(guest, f"{program('fuzz')} {seed} {count} {' '.join(map(str, ids))}", timeout=250)
    calls, succeeded = map(int, re.findall(r"\d+", out))
    assert succeeded > calls / 5, out
    tally("random calls and writes of the fuzzer", calls)
    # What it may have changed.
    run_ok(
        guest,
        f"cd {SYSFS}; echo 1000000 >server_period_us; echo 50000 >server_runtime_us;"
        " echo 1000000 >floor_period_us; echo 50000 >floor_runtime_us",
    )
    for name in names:
        emptied(guest, name)


@pytest.mark.threads
@pytest.mark.append(LOSES_BANDWIDTH)
@pytest.mark.rotates("seed")
@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz(guest, program, tally, seed):
    _fuzz(guest, program, tally, seed, 500)


@pytest.mark.threads
@pytest.mark.long
@pytest.mark.append(LOSES_BANDWIDTH)
@pytest.mark.parametrize("seed", range(100, 130))
def test_fuzz_long(guest, program, tally, seed):
    _fuzz(guest, program, tally, seed, 6000)
