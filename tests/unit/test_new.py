# SPDX-License-Identifier: GPL-2.0
"""saakm new: what it writes, what it refuses, and where policies are found afterwards."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.policies import find_policy, is_policy, own_policies
from saakm.dev.scaffold import LESSONS, SMALLEST, fault_in_name, members, policy_files

DOCS = paths.REPO / "docs"
ORIGINS = ["fifo", "rr", "prio", "vtime"]
SOURCES = {name: (paths.POLICIES / name / f"{name}.c").read_text() for name in ORIGINS}
SAMPLE = (Path(__file__).parent / "data/sample.c").read_text()
SOURCES_AND_SAMPLE = {**SOURCES, "sample": SAMPLE}
EACH = pytest.mark.parametrize("origin", SOURCES_AND_SAMPLE)


def saakm_new(cwd, *args):
    return subprocess.run(
        [sys.executable, "-m", "saakm", "new", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )


def code_of(text):
    """Without comments and blanks."""
    code = re.sub(r"/\*.*?\*/", "", text[text.index("#include") :], flags=re.S)
    return "".join(code.split())


@EACH
def test_the_code_is_that_of_the_policy_under_another_name(origin):
    made = policy_files("zz", origin, SOURCES_AND_SAMPLE[origin])["zz.c"]
    assert f"{origin}_" not in made
    assert code_of(made.replace("zz", origin)) == code_of(SOURCES_AND_SAMPLE[origin])


@EACH
def test_every_decision_has_its_lesson(origin):
    """Before the function that decides or, where it is ready-made, before the line that names it."""
    made = policy_files("mine", origin, SOURCES_AND_SAMPLE[origin])["mine.c"]
    lines = made.splitlines()
    asked = {member: value for member, value in members(made).items() if member in LESSONS}
    assert asked
    for member, value in asked.items():
        pattern = rf"static .*\b{value}\(|\s+\.{member}\b\s*= {value}\b"
        at = next(i for i, line in enumerate(lines) if re.match(pattern, line))
        assert lines[at - 1].endswith("*/"), member
    assert max(len(line.expandtabs(8)) for line in lines) <= 100


def test_a_function_that_answers_two_events_has_the_lesson_of_both():
    made = " ".join(policy_files("mine", "sample", SAMPLE)["mine.c"].split())
    assert LESSONS["prepare"].split("?")[0] in made
    assert not any(LESSONS[one] in made for one in ("new_prepare", "unblock_prepare"))


def test_without_an_origin_the_class_decides_everything():
    files = policy_files("mine", None)
    assert code_of(files["mine.c"]) == code_of(SMALLEST).replace("smallest", "mine")
    assert members(files["mine.c"]) == {} and "smallest" not in "".join(files.values())
    shown = re.search(
        r"it has two lines:\n\n((?:    .*\n|\n)+)", (DOCS / "tutorial.md").read_text()
    )[1]
    assert code_of(shown) == code_of(files["mine.c"])


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_it_says_where_promises_are_made(origin):
    made = policy_files("mine", origin, SOURCES.get(origin, SMALLEST))["mine.c"]
    (comment,) = re.findall(r"/\*((?:(?!\*/).)*)\*/\n(?=MODULE_INFO|$)", made, re.S)
    assert "saakm check --list" in comment and "MODULE_INFO(saakm_promises" in made


def test_continuation_lines_stay_aligned():
    made = policy_files("a_longer_name", "sample", SAMPLE)["a_longer_name.c"]
    lines = made.expandtabs(8).splitlines()
    at = next(i for i, line in enumerate(lines) if "bool a_longer_name_wakeup_preempt(" in line)
    column = lines[at].index("(") + 1
    assert lines[at + 1] == " " * column + "struct task_struct *woken)"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2fast", "C identifier"),
        ("my-policy", "C identifier"),
        ("Mine", "C identifier"),
        ("x" * 32, "32 characters"),
        ("eevdf", "own scheduler"),
        ("while", "word of C"),
        ("sched", "functions called sched_"),
        ("woken", "for something else"),
        ("lib", "SaaKM's own"),
        ("lock", "SaaKM's own"),
        ("wrong", "SaaKM's own"),
        ("oracle", "SaaKM's own"),
        ("saakm_oracle", "SaaKM's own"),
        ("bystander", "SaaKM's own"),
        ("bystanders", "SaaKM's own"),
        ("mover", "SaaKM's own"),
        ("sched_fifo", "own scheduler"),
        ("scx_mine", "sched_ext"),
    ],
)
def test_names_that_cannot_be_fail(name, why):
    assert why in fault_in_name(name, SAMPLE)


def test_good_names():
    assert not any(
        fault_in_name(n, s)
        for n in ("mine", "x" * 31, "lottery2")
        for s in (*SOURCES.values(), SMALLEST)
    )


def test_new_finds_and_refuses(tmp_path, monkeypatch):
    done = saakm_new(tmp_path, "mine", "--from", "rr")
    assert done.returncode == 0 and f"saakm run {tmp_path}/mine -- " in done.stdout
    assert is_policy(tmp_path / "mine")
    again = saakm_new(tmp_path, "mine")
    assert again.returncode == 1 and "exists already" in again.stderr and "next: " in again.stderr
    shipped = saakm_new(tmp_path, "fifo")
    assert "is a policy already" in shipped.stderr
    elsewhere = saakm_new(tmp_path, "third", "--dir", "sub")
    assert f"saakm run {tmp_path}/sub/third -- " in elsewhere.stdout

    monkeypatch.chdir(tmp_path)
    assert find_policy("./mine") == find_policy(str(tmp_path / "mine")) == tmp_path / "mine"
    assert find_policy("sub/third") == tmp_path / "sub" / "third"
    assert find_policy("fifo") == paths.POLICIES / "fifo" and find_policy("none") is None
    with pytest.raises(SaakmError, match="no policy 'third'"):
        find_policy("third")
    monkeypatch.setenv("SAAKM_POLICIES", str(tmp_path / "sub"))
    assert find_policy("third") == tmp_path / "sub" / "third"
    monkeypatch.chdir(tmp_path / "mine")
    assert find_policy(".") == tmp_path / "mine"
    with pytest.raises(SaakmError, match="not a policy's directory"):
        find_policy("./nothing")


def test_a_name_means_nothing_that_lies_in_the_current_directory(tmp_path, monkeypatch):
    """Somebody else's directory: what is in it is neither built nor loaded unless it is named by path."""
    monkeypatch.delenv("SAAKM_POLICIES", raising=False)
    for name in ("rr", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Kbuild").write_text(f"obj-m := {name}.o\n")
        (tmp_path / name / f"{name}.c").write_text("")
    for here in (tmp_path, tmp_path / "rr"):
        monkeypatch.chdir(here)
        assert find_policy("rr") == paths.POLICIES / "rr"
        assert own_policies() == []
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SaakmError, match="no policy 'theirs'") as error:
        find_policy("theirs")
    assert "./theirs" in error.value.next_step
    assert find_policy("./theirs") == tmp_path / "theirs"
