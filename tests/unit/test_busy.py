# SPDX-License-Identifier: GPL-2.0
"""What tests/busy has to do, and when it has to do it again."""

import json

import pytest
from test_scripts import script


@pytest.fixture(scope="module")
def busy():
    return script("busy")


KNOWN = {f"tests/guest/test_{n:02}.py": "a" for n in range(25)} | {
    "tests/guest/support.py": "a",
    "tests/unit/test_x.py": "a",
    "tests/busy": "a",
    "linux/kernel/sched/saakm/class.c": "a",
}


def test_each_file_runs_as_often_as_was_asked(busy):
    steps = busy.steps(KNOWN, runs=2, times=5)
    assert [step.what for step in steps[:2]] == [("tests",)] * 2
    guest = [name for name in KNOWN if name.startswith("tests/guest/test_")]
    for name in guest:
        assert sum(name in step.what for step in steps) == 3
    assert len({step.name for step in steps}) == len(steps)
    assert {step.round for step in steps} == {1, 2, 3, 4, 5}


def _changed(busy, name):
    before = {step.name: step.state for step in busy.steps(KNOWN, 1, 2)}
    after = busy.steps(KNOWN | {name: "b"}, 1, 2)
    return [step.what for step in after if before[step.name] != step.state]


def test_a_test_concerns_the_runs_that_take_it(busy):
    changed = _changed(busy, "tests/guest/test_03.py")
    assert len(changed) == 2
    assert changed[0] == ("tests",) and "tests/guest/test_03.py" in changed[1]


def test_what_is_shared_concerns_all(busy):
    for name in ("tests/guest/support.py", "linux/kernel/sched/saakm/class.c"):
        assert len(_changed(busy, name)) == len(busy.steps(KNOWN, 1, 2))


def test_what_boots_no_guest_concerns_whole_runs(busy):
    for name in ("tests/unit/test_x.py", "tests/busy"):
        assert _changed(busy, name) == [("tests",)]


def test_what_is_known_is_of_this_state(busy, tmp_path):
    steps = busy.steps(KNOWN, 1, 2)
    rows = [{"name": step.name, "state": step.state} for step in steps[:2]]
    rows[1]["state"] = "of another"
    results = tmp_path / "busy.jsonl"
    results.write_text("\n".join(map(json.dumps, rows)) + '\n{"name": "cut o')
    assert list(busy.earlier(results, steps)) == [steps[0].name]


def test_documents_do_not_count(busy):
    known = busy.files()
    assert "tests/busy" in known
    assert "README.md" not in known


def test_nothing_counts_that_ran_beside_no_hogs(busy, monkeypatch, tmp_path):
    monkeypatch.setattr(busy, "HOGS", ["sh", "-c", "exit 3"])
    with busy.hogs() as beside, pytest.raises(SystemExit, match="status 3"):
        beside.check(60)


def _saakm_that(says: str, busy, monkeypatch, tmp_path):
    command = tmp_path / "saakm"
    command.write_text(f"#!/bin/sh\n{says}\n")
    command.chmod(0o755)
    monkeypatch.setattr(busy, "REPO", tmp_path)
    monkeypatch.setattr(busy, "HOGS", ["sh", "-c", "sleep 1000"])
    results = tmp_path / "busy.jsonl"
    with busy.hogs() as beside:
        beside.check()
        return busy.run(busy.steps(KNOWN, 1, 1)[0], results, beside), results


def test_a_result_is_recorded(busy, monkeypatch, tmp_path):
    row, results = _saakm_that("echo 7 passed, 0 failed", busy, monkeypatch, tmp_path)
    assert row["passed"] == 7 and json.loads(results.read_text())["passed"] == 7


def test_an_end_without_a_result_is_none(busy, monkeypatch, tmp_path):
    """It was the machine's doing: the same command tries it again."""
    with pytest.raises(SystemExit, match="the disk is full"):
        _saakm_that("echo the disk is full; exit 1", busy, monkeypatch, tmp_path)
    assert not (tmp_path / "busy.jsonl").exists()
