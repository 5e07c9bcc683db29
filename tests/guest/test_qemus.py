# SPDX-License-Identifier: GPL-2.0
"""Each QEMU that a user may have: this machine's own, and the one that is fetched beside it."""

import json
import os
import subprocess
import sys

import pytest

from saakm.base import paths
from saakm.base.errors import GuestDied, GuestHung, QemuFault
from saakm.vm import guest
from saakm.vm.qemu import find_qemu, qemu_program

from .support import emptied, load_policy, run_ok

pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("1s2c")]


@pytest.fixture(params=["", "system"], ids=["chosen", "own"])
def qemu(request, monkeypatch):
    monkeypatch.setenv("SAAKM_QEMU", request.param)
    found = find_qemu()
    if request.param:
        monkeypatch.setenv("SAAKM_QEMU", "")
        if found in (None, find_qemu()) or found.program == find_qemu().program:
            pytest.skip("this machine has one QEMU only")
        monkeypatch.setenv("SAAKM_QEMU", request.param)
    return found


def test_a_storm(qemu, boot, program):
    guest = boot()
    load_policy(guest, "rr")
    run_ok(guest, f"{program('storm')} rr affinity 300", timeout=110)
    after = emptied(guest, "rr")
    assert after.new == after.terminated > 0


@pytest.mark.limit(300)
def test_counting_and_the_plugin_agree(qemu):
    """Deterministic runs; the plugin speaks the version of the interface that this QEMU has."""

    def cost(*more):
        command = [sys.executable, "-m", "saakm", "cost", "--op", "yield", "--schedulers", "vtime"]
        done = subprocess.run(
            [*command, "--cpus", "1", "--scale", "10", "--json", *more],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (whole,), parts = cost(), cost("--where")
    assert sum(part["instructions"] for part in parts) == pytest.approx(
        whole["instructions"], rel=0.01
    )
    assert {"do_sched_yield", "vtime_key [vtime]"} <= {part["function"] for part in parts}


@pytest.fixture
def faulty(monkeypatch, tmp_path):
    """faulty(fault, times): a QEMU that does this instead of working, so often."""

    def write(fault: str, times: int) -> None:
        wrapper, count = tmp_path / "qemu", tmp_path / "count"
        count.write_text("")
        # Whoever only asks it for something gets an answer.
        wrapper.write_text(
            f"#!/bin/sh\nboots=$(wc -c <{count})\n"
            'case "$*" in *-kernel*) ;; *) boots=99 ;; esac\n'
            f'[ $boots -ge {times} ] && exec {qemu_program()} "$@"\n'
            f"printf x >>{count}\n{fault}\n"
        )
        wrapper.chmod(0o755)
        monkeypatch.setenv("SAAKM_QEMU", str(wrapper))

    return write


ASSERTS = 'echo "qemu: system/physmem.c:2678: f: Assertion \\`section\' failed." >&2; kill -ABRT $$'


def test_a_qemu_that_ends_itself_is_started_again(faulty, boot, capfd):
    faulty(ASSERTS, 2)
    assert boot().run("true").status == 0
    assert capfd.readouterr().err.count("booting once more") == 2


def test_a_qemu_that_stands_still_is_started_again(faulty, boot, capfd, monkeypatch):
    monkeypatch.setattr(guest, "_STILL_SECONDS", 6)
    faulty("exec sleep infinity", 1)
    assert boot().run("true").status == 0
    assert "QEMU stands still" in capfd.readouterr().err


@pytest.fixture
def first_boots_take(monkeypatch):
    """first_boots_take(n): n boots are over after two seconds."""

    def limit(count: int) -> None:
        usual, limits = guest.Guest._boot_deadline, [2.0] * count
        monkeypatch.setattr(
            guest.Guest, "_boot_deadline", lambda self: limits.pop() if limits else usual(self)
        )

    return limit


def test_a_guest_that_hangs_at_its_boot_is_booted_again(faulty, boot, capfd, first_boots_take):
    first_boots_take(1)
    faulty("while :; do :; done", 1)
    assert boot().run("true").status == 0
    assert "the guest hangs: booting did not end" in capfd.readouterr().err


def test_a_guest_that_hangs_at_each_boot_is_given_up(faulty, boot, capfd, first_boots_take):
    first_boots_take(2)
    faulty("while :; do :; done", 2)
    with pytest.raises(GuestHung, match="booting did not end"):
        boot()
    assert capfd.readouterr().err.count("booting once more") == 1


def test_a_qemu_that_always_ends_itself_is_given_up(faulty, boot):
    faulty(ASSERTS, 3)
    with pytest.raises(QemuFault, match="Assertion `section' failed"):
        boot()


def test_a_guest_that_dies_is_not_booted_again(faulty, boot, capfd):
    faulty("exit 1", 1)
    with pytest.raises(GuestDied) as died:
        boot()
    assert not isinstance(died.value, QemuFault) and "once more" not in capfd.readouterr().err
