# SPDX-License-Identifier: GPL-2.0
"""Runs the tests beside each fault until one notices, and remembers what it found.

First every test runs without a fault: it has to pass, and what it reaches of the class is
noted. A fault is then shown only to the tests that reach its place.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.base.progress import meter
from saakm.builder.kernel import Kernel

from . import watcher
from .faults import Fault
from .kernel import HOME

# Those that test the class itself, and take minutes at most: not commands, documents, figures.
FAST = [
    "abi",
    "balance",
    "cgroup",
    "changes",
    "cores",
    "core_sched",
    "ejection",
    "events",
    "faults",
    "floor",
    "hotplug",
    "leaving",
    "lifecycle",
    "misuse",
    "pi",
    "priorities",
    "replace",
    "runqueues",
    "server",
    "states",
    "switching",
    "topology",
    "watchdog",
]
_GUEST_TESTS = paths.REPO / "tests" / "guest"
_RESULTS = HOME / "results.jsonl"
_NOTES = HOME / "notes.jsonl"
_LOG = HOME / "pytest.log"
# Beside a fault threads may hang: each test has its own limit, all of them have this.
_SLOWER, _BOOTS_SECONDS = 6, 900


@dataclass
class Known:
    """How a test went without a fault."""

    name: str
    seconds: float
    reached: frozenset[int]


@dataclass
class Result:
    """`by`: the test that failed, twice. `tests`: how many were tried, `reach`: could have been."""

    key: str
    class_is: str
    fault: str
    function: str
    outcome: str  # noticed, unnoticed, unreached
    by: str | None = None
    tests: int = 0
    reach: int = 0


def refuse_unknown(names: list[str]) -> None:
    for name in names:
        if not _file(name).exists():
            raise SaakmError(
                f"there are no tests '{name}'",
                f"{_file(name)} does not exist",
                f"of these, with commas between: {', '.join(FAST)}; or others of {_GUEST_TESTS}",
            )


def _file(name: str) -> Path:
    return _GUEST_TESTS / f"test_{name}.py"


def digest(faults: Iterable[Fault]) -> str:
    """Of the class as it is, with its faults: numbers mean the same while this does."""
    told = "\0".join(f"{fault.key} {fault.line}" for fault in faults)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """What was written whole: the last line may not have been."""
    if not file.exists():
        return
    for line in file.read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _append(file: Path, row: dict[str, Any]) -> None:
    with file.open("a") as out:
        out.write(json.dumps(row) + "\n")


def _pytest(
    kernel: Kernel, live: int, arguments: list[str], limit: float | None
) -> list[dict[str, Any]]:
    """A row of the watcher's for each test that ran."""
    _NOTES.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{paths.REPO / 'src'}:{paths.REPO / 'tests'}",
        "SAAKM_TEST_KERNEL": str(kernel.build),
        "SAAKM_TEST_APPEND": f"saakm_mutant={live}",
        watcher.NOTES: str(_NOTES),
    }
    if not live:
        environment[watcher.REACH] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "mutation.watcher", "--kernel", "base", *arguments]
    with _LOG.open("w") as log:
        running = subprocess.Popen(
            command, cwd=paths.REPO, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            running.wait(limit)
        except BaseException as error:
            # It ends its guests only when it is asked to.
            running.terminate()
            running.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
    rows = list(_rows(_NOTES))
    if not rows:
        raise SaakmError(
            "pytest ran no test",
            "\n".join(_LOG.read_text().splitlines()[-15:]),
            f"read the whole log: {_LOG}",
        )
    return rows


# --- without a fault ---


def baseline(kernel: Kernel, class_is: str, names: list[str]) -> list[Known]:
    """Of the tests in the files `names` those that pass; each file runs once for each of its texts."""
    file = HOME / f"baseline-{class_is}.jsonl"
    texts = {name: _file(name) for name in names}
    shas = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in texts.items()}
    known = {row["name"]: row for row in _rows(file)}
    stale = [name for name in names if known.get(name, {}).get("sha") != shas[name]]
    with meter("running the tests without a fault", len(stale) or None) as progress:
        for name in stale:
            progress.describe(name)
            tests = _pytest(kernel, 0, [str(texts[name])], None)
            known[name] = {"name": name, "sha": shas[name], "tests": tests}
            _append(file, known[name])
            progress.advance()
    return [
        Known(row["test"], row["seconds"], frozenset(row["reached"]))
        for name in names
        for row in known[name]["tests"]
        if row["outcome"] == "passed"
    ]


# --- with a fault ---


def order(tests: list[Known], n: int, function: str, results: list[Result]) -> list[Known]:
    """Those that reach fault `n`: who noticed others in the function, then who is quick and narrow."""
    noticed = {result.by for result in results if result.function == function}
    return sorted(
        (test for test in tests if n in test.reached),
        key=lambda test: (test.name not in noticed, test.seconds + len(test.reached) / 100),
    )


def within(tests: list[Known], seconds: float) -> list[Known]:
    """From the first on as many as take so long without a fault, but one at least."""
    chosen: list[Known] = []
    spent = 0.0
    for test in tests:
        spent += test.seconds
        if chosen and spent > seconds:
            break
        chosen.append(test)
    return chosen


def try_fault(kernel: Kernel, n: int, fault: Fault, tests: list[Known], result: Result) -> Result:
    """Fills in how the fault fared: a test has to fail twice, for one that fails by chance proves nothing."""
    left = list(tests)
    while left:
        limit = sum(test.seconds for test in left) * _SLOWER + _BOOTS_SECONDS
        rows = _pytest(kernel, n, ["-x", *(test.name for test in left)], limit)
        failed = [row["test"] for row in rows if row["outcome"] == "failed"]
        result.tests += len(rows)
        if not failed:
            return result
        again = _pytest(kernel, n, [failed[0]], _BOOTS_SECONDS)
        if any(row["outcome"] == "failed" for row in again):
            result.outcome, result.by = "noticed", failed[0]
            return result
        ran = {row["test"] for row in rows}
        left = [test for test in left if test.name not in ran]
    return result


def known_results(class_is: str) -> list[Result]:
    return [Result(**row) for row in _rows(_RESULTS) if row["class_is"] == class_is]


def try_all(
    kernel: Kernel,
    class_is: str,
    numbered: list[tuple[int, Fault]],
    tests: list[Known],
    seconds: float,
    again: bool,
) -> list[Result]:
    """One result for each, of this run or of an earlier one."""
    results = known_results(class_is)
    latest = {result.key: result for result in results}
    todo = [
        (n, fault)
        for n, fault in numbered
        if fault.key not in latest or (again and latest[fault.key].outcome != "noticed")
    ]
    with meter("trying faults", len(todo) or None) as progress:
        for n, fault in todo:
            progress.describe(str(fault)[:60])
            reaching = order(tests, n, fault.function, results)
            result = Result(
                fault.key, class_is, str(fault), fault.function, "unnoticed", reach=len(reaching)
            )
            if not reaching:
                result.outcome = "unreached"
            else:
                try_fault(kernel, n, fault, within(reaching, seconds), result)
            _append(_RESULTS, asdict(result))
            results.append(result)
            latest[fault.key] = result
            progress.advance()
    return [latest[fault.key] for _, fault in numbered]
