# SPDX-License-Identifier: GPL-2.0
"""The CLI as a user meets it: real processes, exit statuses and error texts."""

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import call
import pytest
import typer
from typer.testing import CliRunner

from saakm.cli import app
from saakm.commands.test import _state

REPO = Path(__file__).resolve().parents[2]


# A refused command ends at once; the limit catches one that starts to build.
saakm = partial(call.saakm, timeout=120)


def test_help_names_every_command():
    done = saakm("--help")
    assert done.returncode == 0
    for command in (
        "demo",
        "run",
        "check",
        "shell",
        "build",
        "test",
        "cost",
        "bench",
        "report",
        "doctor",
        "clean",
    ):
        assert f" {command} " in done.stdout


@pytest.mark.parametrize("command", ["run", "trace"])
def test_options_of_the_command_without_dashes_have_a_hint(command):
    done = saakm(command, "fifo", "hackbench", "-g", "1")
    assert done.returncode == 2 and "put -- before the command" in done.stderr
    done = saakm(command, "fifo", "--nosuch", "--", "hackbench", "-g", "1")
    assert done.returncode == 2 and "No such option: --nosuch" in done.stderr
    assert "--" not in done.stderr.partition("--nosuch")[2]


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["run", "nosuch", "--", "true"], "there is no policy 'nosuch'"),
        (["run", "none", "--topology", "3x", "--", "true"], "'3x' is not a topology"),
        (["run", "none", "--cpus", "0", "--", "true"], "'1s0c' makes no sense"),
        (["run", "none", "--cpus", "2", "--topology", "1s1c", "--", "true"], "exclude each other"),
        (["run", "none", "--accel", "magic", "--", "true"], "there is no accelerator 'magic'"),
        (["run", "none", "--memory", "lots", "--", "true"], "'lots' is not a memory size"),
        (["bench", "--schedulers", "cfs"], "there is no scheduler 'cfs'"),
        (["bench", "--workloads", "doom"], "there is no workload 'doom'"),
        (["report", "/nosuch"], "/nosuch has no results"),
        (["build", "--config", "fast"], "no kernel configuration 'fast'"),
        (["build", "--kernel-source", "/"], "/ is not a kernel tree"),
        (["shell"], "there is no terminal"),
        (
            ["run", "none", "--exact", "--accel", "tcg", "--", "true"],
            "--exact and --accel tcg exclude",
        ),
        (
            ["run", "none", "--exact", "--deterministic", "--", "true"],
            "--exact and --deterministic exclude",
        ),
    ],
)
def test_errors_say_what_why_and_what_next(args, what):
    done = saakm(*args)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    first, *rest = done.stderr.splitlines()
    assert first.startswith("saakm: ") and what in first
    assert any(line.startswith("  why:  ") and len(line) > 10 for line in rest)
    assert any(line.startswith("  next: ") and len(line) > 10 for line in rest)
    assert "Traceback" not in done.stderr


# By click, by rich, by print().
@pytest.mark.parametrize("words", [["sim", "-h"], ["sim", "--list"], ["doctor", "--json"]])
@pytest.mark.parametrize("error", [False, True], ids=["", "2>&1"])
def test_where_nobody_reads_it_ends_quietly(words, error):
    """As a shell says it of what SIGPIPE has ended. The reader is gone before anything is written."""
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "saakm", *words],
            stdout=pipe,
            stderr=subprocess.STDOUT if error else subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPO / "src")},
        )
    assert (done.returncode, done.stderr or b"") == (128 + signal.SIGPIPE, b"")


def test_a_full_disk_is_an_error_and_no_traceback():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "saakm", "sim", "--list", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(REPO / "src")},
        )
    assert done.returncode == 1 and done.stderr.startswith("saakm: the disk is full\n  why: ")
    assert "Traceback" not in done.stderr


def test_bench_lists_what_there_is():
    listed = {
        entry["name"]: entry for entry in json.loads(saakm("bench", "--list", "--json").stdout)
    }
    assert {"hackbench", "nginx", "postgresql", "x265"} <= set(listed)
    assert listed["nginx"]["variants"][0]["better"] == "higher"
    assert listed["nginx"]["variants"][0]["unit"] == "requests/s"
    # How the table wraps depends on what is installed; that it is there does not.
    assert "hackbench" in saakm("bench", "--list").stdout


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_help_names_every_option(name):
    command = typer.main.get_command(app).commands[name]
    done = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "300", "TERM": "dumb"})
    assert done.exit_code == 0
    for parameter in command.params:
        is_shown = parameter.param_type_name == "option" and not parameter.hidden
        for option in parameter.opts if is_shown else ():
            assert option in done.output, option


def test_doctor_says_it_in_words_as_well():
    findings, done = json.loads(saakm("doctor", "--json").stdout), saakm("doctor")
    assert done.returncode in (0, 1)
    for finding in findings:
        assert finding["name"] in done.stdout


def test_doctor_shows_all_it_found_where_saakm_qemu_names_none():
    done = saakm("doctor", "--json", SAAKM_QEMU="/no/such/qemu")
    (qemu,) = (row for row in json.loads(done.stdout) if row["name"] == "qemu")
    assert done.returncode == 1 and "names no QEMU" in qemu["detail"]


@pytest.mark.parametrize("path", ["test_cli.py", "tests/unit/test_no.py"])
def test_a_test_that_there_is_not_is_named_at_once(path, tmp_path):
    """Before checkers and builds, which would take minutes."""
    done = saakm("test", path, cwd=REPO, PATH=str(tmp_path))
    assert done.returncode == 1 and re.search(f"ERROR: .*not found: .*{path}", done.stderr)
    assert "saakm: " not in done.stderr


def test_what_runs_no_test_passes():
    assert saakm("test", "--markers").returncode == 0


def test_help_of_test_is_ours_first():
    done, short = saakm("test", "--help"), saakm("test", "-h")
    assert done.returncode == short.returncode == 0 and done.stdout == short.stdout
    assert len(done.stdout.splitlines()) < 60 and "--help-pytest" in done.stdout
    text = (REPO / "tests/conftest.py").read_text()
    ours = re.findall(r'addoption\(\s*"(--\w+)".*?help="([^"]+)"', text, re.S)
    assert len(ours) == text.count("addoption(") - 1
    for option, what in ours:
        assert option in done.stdout
        assert what in " ".join(done.stdout.split()), what
    theirs = saakm("test", "--help-pytest")
    assert theirs.returncode == 0 and "--exitfirst" in theirs.stdout
    assert all(option in theirs.stdout for option, _ in ours)


def test_only_what_an_ordinary_run_has_shown_is_remembered(monkeypatch):
    monkeypatch.delenv("SAAKM_TEST_SEED", raising=False)
    assert _state([]) and _state(["--long"]) == _state([])
    assert not _state(["--threads"])
    monkeypatch.setenv("SAAKM_TEST_APPEND", "saakm_mutant=1")
    assert not _state([])


def test_doctor_json_names_what_is_missing_and_how_to_get_it(tmp_path):
    # No program is on this PATH, and the cache has no kernel to probe KVM with.
    done = saakm("doctor", "--json", PATH=str(tmp_path), SAAKM_CACHE=str(tmp_path / "cache"))
    findings = {finding["name"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 1
    assert not findings["gcc"]["ok"] and findings["gcc"]["fix"] == "apt-get install gcc"
    assert not findings["qemu"]["ok"] and "qemu-system-x86" in findings["qemu"]["fix"]
    assert findings["memory"]["detail"].endswith("GiB")


@pytest.mark.parametrize(
    ("body", "line", "status"),
    [
        ("def test_a(): pass\ndef test_b(): pass\n", "2 passed, 0 failed", 0),
        ("def test_a(): pass\ndef test_b(): assert 0\n", "1 passed, 1 failed", 1),
        ("import nosuchmodule\n", "0 passed, 1 failed", 1),
        ("", "0 passed, 0 failed", 1),
        (
            "import pytest\n@pytest.fixture\ndef f():\n    yield\n    assert 0\n"
            "def test_a(f): pass\n",
            "0 passed, 1 failed",
            1,
        ),
    ],
)
def test_the_closing_line_of_test(tmp_path, body, line, status):
    file = tmp_path / "test_it.py"
    file.write_text(body)
    done = saakm("test", "-p", "no:cacheprovider", str(file))
    assert done.stdout.splitlines()[-1] == line
    assert (done.returncode != 0) == (status != 0)
