# SPDX-License-Identifier: GPL-2.0
"""saakm dev, with saves as an editor makes them."""

import json
import os
import subprocess
import sys

import pytest

from saakm.base import paths
from saakm.dev.scaffold import policy_files, shipped

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(150)]
ELECTS_WRONG = """
static __maybe_unused struct task_struct *mine_schedule(struct core_event *core)
{
	return current;
}

"""


@pytest.fixture
def policy(tmp_path):
    directory = tmp_path / "mine"
    directory.mkdir()
    for file, text in policy_files("mine", "rr", shipped("rr")).items():
        (directory / file).write_text(text)
    return directory


class Loop:
    """A saakm dev --json, whose lines are read one by one."""

    def __init__(self, policy):
        self._file = policy / "mine.c"
        self._child = subprocess.Popen(
            [sys.executable, "-m", "saakm", "dev", str(policy), "--json", "--for", "1000",
             "--workload", "hackbench -g 1 -l 100"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
        )  # fmt: skip

    def until(self, *events):
        for line in self._child.stdout:
            document = json.loads(line)
            if document["event"] in events:
                return document
        raise AssertionError(self._child.stderr.read())

    def save(self, old, new):
        """As editors do: to another file, which then takes its place."""
        text = self._file.read_text()
        assert old in text
        scratch = self._file.with_suffix(".new")
        scratch.write_text(text.replace(old, new))
        scratch.rename(self._file)

    def end(self):
        self._child.terminate()
        self._child.wait()
        return self._child.stderr.read()


@pytest.fixture
def loop(policy):
    loop = Loop(policy)
    yield loop
    loop.end()


def test_save_mistake_mend(loop):
    loop.until("started")
    assert loop.until("sample")["state"] == "active"
    loop.save("= 4000", "= 1000")
    second = loop.until("replaced")
    assert second["version"] == 2 and second["complaints"] == []
    print(
        f"{second['seconds']:.2f} s from the save to running, {second['build_seconds']:.2f} s of them building"
    )

    loop.save("= saakm_pull_idle,", "= saakm_pull_idl,")
    mistake = loop.until("compile-error")
    assert mistake["version"] == 2
    errors = [
        line for line in mistake["complaints"] if line.startswith("mine.c:") and "error:" in line
    ]
    assert errors and "saakm_pull_idl" in errors[0]
    loop.until("sample")  # of a time that may have begun before
    # On a busy host the workload may not get as far as a switch in each of them.
    while (before := loop.until("sample"))["switches_rate"] == 0:
        assert before["state"] == "active"
    assert before["state"] == "active"

    loop.save("= saakm_pull_idl,", "= saakm_pull_idle,")
    third = loop.until("replaced")
    assert third["version"] == 3 and third["complaints"] == []
    after = loop.until("sample")
    assert after["ejected"] == [] and all(status == 0 for status, _ in after["rounds"])
    assert "complained" not in loop.end()


def test_a_version_is_what_was_saved_last(loop):
    """The third has the first one's name, and is not the first."""
    loop.until("started")
    loop.save("= 4000", "= 1000")
    loop.until("replaced")
    good = "SAAKM_POLICY(mine,"
    loop.save(good, f"{ELECTS_WRONG}{good} .schedule = mine_schedule,")
    assert loop.until("replaced")["version"] == 3
    assert loop.until("ejected")["kind"] == "wrong-election"


def test_after_an_ejection_the_next_version_is_loaded(loop):
    loop.until("started")
    good = "SAAKM_POLICY(mine,"
    loop.save(good, f"{ELECTS_WRONG}{good} .schedule = mine_schedule,")
    loop.until("replaced")
    assert loop.until("ejected")["kind"] == "wrong-election"
    loop.save(f"{good} .schedule = mine_schedule,", good)
    mended = loop.until("reloaded")
    assert mended["version"] == 3 and mended["complaints"] == []
