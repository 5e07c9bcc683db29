# SPDX-License-Identifier: GPL-2.0
"""What tests/options.py finds missing at the end of a run."""

import os
import subprocess
import sys
from pathlib import Path

import options
import pytest
from options import Promise, Ran, faults, is_kept, options_of

from saakm.base import paths

BENCH = "./saakm bench --workloads nginx --out waits"
HERE, THERE = "tests/guest/test_here.py", "tests/guest/test_there.py"


def saakm(directory: Path, *words: str) -> list[Ran]:
    """What a command line leaves there."""
    environment = {**os.environ, "PYTHONPATH": str(paths.REPO / "src")}
    environment["SAAKM_RECORD_CLI"] = str(directory)
    subprocess.run([sys.executable, "-m", "saakm", *words], env=environment, capture_output=True)
    return options.read(directory)


def test_what_ran_is_noted_with_its_options_and_its_test(tmp_path: Path) -> None:
    (ran,) = saakm(tmp_path, "bench", "--list", "--no-warm-up", "--json")
    assert ran.words == ["bench", "--list", "--no-warm-up", "--json"]
    expected = {"bench", "bench --list", "bench --json", "bench --no-warm-up"}
    assert options_of(ran) == expected <= options.all_options()
    assert ran.test == "tests/unit/test_options.py"


def test_what_is_refused_has_not_run(tmp_path: Path) -> None:
    assert saakm(tmp_path, "run", "none", "--topology", "3x", "--", "true") == []
    assert saakm(tmp_path, "bench", "--nosuch") == []


def test_an_argument_that_is_left_out_is_its_default() -> None:
    assert options_of(Ran(["build"], "build", {}, HERE)) == {"build", "build all"}
    ran = Ran(["build", "kernel"], "build", {"part": "kernel"}, HERE)
    assert options_of(ran) == {"build", "build kernel"}


@pytest.mark.parametrize(
    ("words", "test", "exact", "smaller", "kept"),
    [
        ("bench --workloads nginx --out waits", HERE, [HERE], [], True),
        ("bench --workloads nginx --out waits", THERE, [HERE], [], False),
        ("bench --workloads redis --out waits", HERE, [HERE], [], False),
        ("bench --workloads redis --out x --rounds 1", HERE, [], [HERE], True),
        ("bench --workloads redis --rounds 1", HERE, [], [HERE], False),
        ("bench --workloads redis --out x --rounds 1", HERE, [HERE], [THERE], False),
    ],
)
def test_a_promise_of_a_page(
    words: str, test: str, exact: list[str], smaller: list[str], kept: bool
) -> None:
    given = {"names": "x"} | ({"out": "x"} if "--out" in words else {})
    ran = Ran(words.split(), "bench", given, test)
    promise = Promise("README.md:1", BENCH, tuple(exact), tuple(smaller))
    assert is_kept(promise, [ran]) == kept


def test_verdict() -> None:
    promised = [Promise("README.md:1", BENCH, (HERE,), ())]
    everything = [Ran(BENCH.split()[1:], "bench", {"names": "nginx", "out": "waits"}, HERE)]
    found = faults(everything, promised, set(), long=False)
    assert "no test runs saakm bench --latency" in found
    assert not any("bench --out" in fault or "README" in fault for fault in found)
    # The same with all that is missing in the table, but for two mistakes.
    table = {fault.removeprefix("no test runs saakm ") for fault in found}
    assert faults(everything, promised, table, long=False) == []
    assert faults(everything, promised, table | {"bench --out", "bench --fast"}, long=False) == [
        "only_long.txt: there is no 'bench --fast'",
        "only_long.txt: 'bench --out' runs without --long, too",
    ]
    assert set(faults(everything, promised, table, long=True)) == set(found)
    assert (
        faults([], promised, table | {BENCH, "bench", *options.options_of(everything[0])}, False)
        == []
    )


_SUITE = """
import subprocess, sys
def test_it():
    subprocess.run([sys.executable, "-m", "saakm", "bench", "--list"], check=True)
"""


@pytest.mark.parametrize(
    ("more", "verdict"), [([], True), (["-n", "2"], True), (["-k", "it"], False)], ids=str
)
def test_a_run_of_everything_ends_with_the_verdict(
    tmp_path: Path, more: list[str], verdict: bool
) -> None:
    """Of a checkout whose only test runs one command; workers of pytest-xdist note as well."""
    tests = tmp_path / "tests"
    (tests / "guest").mkdir(parents=True)
    (tests / "unit").mkdir()
    for name in ("options.py", "documents.py", "only_long.txt"):
        (tests / name).write_text((paths.REPO / "tests" / name).read_text())
    (tests / "conftest.py").write_text(
        'pytest_plugins = ["options"]\n'
        'def pytest_addoption(parser):\n    parser.addoption("--long", action="store_true")\n'
    )
    (tests / "unit/test_it.py").write_text(_SUITE)
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("SAAKM_RECORD_CLI", "PYTEST_CURRENT_TEST")
                   and not name.startswith("PYTEST_XDIST")}  # fmt: skip
    environment["PYTHONPATH"] = str(paths.REPO / "src")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tmp_path, *more, tests],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    told = done.stdout
    assert ("no test runs saakm bench --latency" in told) == verdict, told + done.stderr
    assert "no test runs saakm bench --list" not in told
    assert done.returncode == int(verdict) and ("1 failed, 1 passed" in told) == verdict, told
