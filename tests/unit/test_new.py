# SPDX-License-Identifier: GPL-2.0
"""saakm new: what it writes, what it refuses, and where policies are found afterwards."""

import os
import re
import subprocess
import sys

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.policies import find_policy, is_policy, own_policies
from saakm.dev.scaffold import LESSONS, fault_in_name, policy_files

ORIGINS = ["fifo", "rr", "prio", "vtime"]
SOURCES = {name: (paths.POLICIES / name / f"{name}.c").read_text() for name in ORIGINS}


def saakm_new(cwd, *args):
    return subprocess.run(
        [sys.executable, "-m", "saakm", "new", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )


def code_of(text):
    """Without comments, blanks and what names the policy."""
    lines = [line.split("/*")[0].strip() for line in text[text.index("#include") :].splitlines()]
    return [
        " ".join(line.split())
        for line in lines
        if line and not line.startswith(("*", "MODULE_DESCRIPTION"))
    ]


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_code_is_that_of_the_shipped_policy_under_another_name(origin):
    made = policy_files("zz", origin, SOURCES[origin])["zz.c"]
    assert f"{origin}_" not in made
    assert code_of(made.replace("zz", origin)) == code_of(SOURCES[origin])


@pytest.mark.parametrize("origin", ORIGINS)
def test_every_decision_has_its_lesson(origin):
    made = policy_files("mine", origin, SOURCES[origin])["mine.c"]
    functions = {
        line.split("= ")[1].strip(",")
        for line in made.splitlines()
        if line.startswith("\t.") and line.split()[0][1:] in LESSONS
    }
    lines = made.splitlines()
    for function in functions:
        at = next(
            i
            for i, line in enumerate(lines)
            if line.startswith("static") and f"{function}(" in line
        )
        assert lines[at - 1].endswith("*/"), function


@pytest.mark.parametrize("origin", ORIGINS)
def test_it_says_where_promises_are_made(origin):
    made = policy_files("mine", origin, SOURCES[origin])["mine.c"]
    (comment,) = re.findall(r"/\*((?:(?!\*/).)*)\*/\nMODULE_(?:INFO|DESCRIPTION)", made, re.S)
    assert "saakm check --list" in comment and "MODULE_INFO(saakm_promises" in made


def test_continuation_lines_stay_aligned():
    made = policy_files("a_longer_name", "vtime", SOURCES["vtime"])["a_longer_name.c"]
    lines = made.expandtabs(8).splitlines()
    at = next(i for i, line in enumerate(lines) if "a_longer_name_wakeup_preempt(" in line)
    column = lines[at].index("(") + 1
    for line in lines[at + 1 : at + 3]:
        assert len(line) - len(line.lstrip()) == column


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
        ("curr", "for something else"),
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
    assert why in fault_in_name(name, SOURCES["vtime"])


def test_good_names():
    assert not any(
        fault_in_name(n, s) for n in ("mine", "x" * 31, "lottery2") for s in SOURCES.values()
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
