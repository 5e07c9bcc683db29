# SPDX-License-Identifier: GPL-2.0
"""The script that runs a command while a sched_ext scheduler of other people's is in force."""

import subprocess

import pytest

from saakm.base.errors import BadInput
from saakm.builder import peers
from saakm.lab.bench import schedulers


def run_under(tmp_path, scheduler, command):
    """As in a guest, but for the file that says what is in force."""
    state = tmp_path / "state"
    state.write_text("disabled\n")
    script = peers.SCRIPT.read_text().replace("/sys/kernel/sched_ext/state", str(state))
    assert "-le 20000" in script
    script = script.replace("-le 20000", "-le 40")
    program = tmp_path / "scheduler"
    program.write_text(f"#!/bin/sh\nstate={state}\n{scheduler}\n")
    program.chmod(0o755)
    return subprocess.run(["sh", "-c", script, "under_ext", str(program), *command],
                          capture_output=True, text=True, timeout=100)  # fmt: skip


LIVES = "trap 'echo disabled >$state; echo ended >$0.ended; exit' TERM; {}; while :; do sleep 0.01; done"


def test_the_command_has_its_status_and_the_scheduler_ends(tmp_path):
    look = ["sh", "-c", f"cat {tmp_path}/state; exit 7"]
    done = run_under(tmp_path, LIVES.format("sleep 0.2; echo enabled >$state"), look)
    assert (done.returncode, done.stdout) == (7, "enabled\n"), done.stderr
    assert (tmp_path / "scheduler.ended").exists()


@pytest.mark.parametrize(
    ("scheduler", "what"),
    [
        ("echo no BTF >&2; exit 3", "the scheduler has not started"),
        (LIVES.format("echo no BTF >&2"), "the scheduler does not start"),
    ],
)
def test_a_scheduler_that_does_not_start(tmp_path, scheduler, what):
    done = run_under(tmp_path, scheduler, ["echo", "it runs"])
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(f"saakm: {what}\n") and "  | no BTF\n" in done.stderr


def test_a_scheduler_that_is_ejected_meanwhile(tmp_path):
    ejects = ["sh", "-c", f"echo disabled >{tmp_path}/state"]
    done = run_under(tmp_path, LIVES.format("echo enabled >$state"), ejects)
    assert done.returncode == 1 and "was not in force to the end" in done.stderr


def test_as_schedulers_of_applications(monkeypatch, tmp_path):
    program = tmp_path / "scx_rustland-1.1.4" / "bin" / "scx_rustland"
    monkeypatch.setattr(peers, "build", lambda name: program)
    (named,) = schedulers.chosen(["scx_rustland"])
    assert not named.is_policy
    found = schedulers.find(named)
    # For threads alone that choose it, as policies are.
    assert f"{program} --partial" in found.prefix and found.number == 7
    assert found.build == "scx_rustland-1.1.4"
    with pytest.raises(BadInput, match="scx_rustland has no settings"):
        schedulers.chosen(["scx_rustland:slice_us=1"])
