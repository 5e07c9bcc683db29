# SPDX-License-Identifier: GPL-2.0
"""At the end of a run of all tests: what of the command line did none of them run?

Every command and option of docs/reference/cli.md shall be run by a test, and every command of a page
as tests/documents.py says. What ran is what the program itself has noted (src/saakm/commands/recorded.py), in
processes that tests start and in the tests' own: names in a test's text prove nothing.
tests/only_long.txt lists what runs with --long only. A run of some tests has no verdict.
"""

import functools
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer
from documents import all_blocks, words

from saakm.base import paths
from saakm.cli import app
from saakm.commands.recorded import DIRECTORY

TESTS = Path(__file__).parent
ONLY_LONG = TESTS / "only_long.txt"
_OURS = pytest.StashKey[Path]()


@dataclass(frozen=True)
class Ran:
    """A command line that was not refused, and the file of the test that ran it."""

    words: list[str]
    command: str
    given: dict[str, str]  # by the parameters' names in Python
    test: str


@dataclass(frozen=True)
class Promise:
    """A command of a page, and the files of the tests that are said to run it."""

    where: str
    command: str
    exact: tuple[str, ...]
    smaller: tuple[str, ...]


# --- what there is ---


@functools.cache
def _commands() -> dict[str, Any]:
    return typer.main.get_command(app).commands


def _parameters(command: str) -> list[Any]:
    return [p for p in _commands()[command].params if p.name != "help" and not p.hidden]


def _names(command: str, parameter: Any) -> dict[str, str]:
    """How a parameter is called here, by its values if they make a difference."""
    if parameter.param_type_name == "argument":
        kind = parameter.type_descriptor.annotation
        choices = kind if isinstance(kind, type) and issubclass(kind, Enum) else ()
        named = {str(choice): f"{command} {choice}" for choice in choices}
        return named or {"": f"{command} {parameter.name.upper()}"}
    name = f"{command} {max(parameter.opts, key=len)}"
    if parameter.secondary_opts:
        return {"True": name, "False": f"{command} {max(parameter.secondary_opts, key=len)}"}
    return {"": name}


def all_options() -> set[str]:
    """As "doctor", "run POLICY", "build modules", "bench --latency"."""
    found = set(_commands())
    for command in _commands():
        for parameter in _parameters(command):
            found.update(_names(command, parameter).values())
    return found


def promises() -> list[Promise]:
    found = []
    for block in all_blocks():
        files = [tuple(str(path.relative_to(paths.REPO)) for path in side)
                 for side in (block.exact, block.smaller)]  # fmt: skip
        for command in block.commands:
            if command.startswith("./saakm ") and not block.mark.startswith("not run"):
                found.append(Promise(block.where, command, *files))
    return found


# --- what ran ---


def read(directory: Path) -> list[Ran]:
    found = []
    for file in directory.glob("*.json"):
        record = json.loads(file.read_text())
        found.append(Ran(**{**record, "test": record["test"].partition("::")[0]}))
    return found


def options_of(ran: Ran) -> set[str]:
    found = {ran.command}
    for parameter in _parameters(ran.command):
        names = _names(ran.command, parameter)
        if parameter.name in ran.given:
            found.add(names.get(ran.given[parameter.name]) or names[""])
        elif parameter.param_type_name == "argument":
            # A part of the job, which is named or not.
            found.update({names[str(parameter.default)]} if str(parameter.default) in names else ())
    return found


def _written(command: str) -> Ran:
    """A line of a page, as if it had been run."""
    name, *rest = words(command)
    context = _commands()[name].make_context(name, list(rest))  # which it empties
    given = {}
    for key, value in context.params.items():
        source = context.get_parameter_source(key)
        if source and source.name == "COMMANDLINE":
            given[key] = str(value)
    return Ran([name, *rest], name, given, "")


def is_kept(promise: Promise, all_ran: Iterable[Ran]) -> bool:
    wanted = _written(promise.command)
    options = options_of(wanted)
    return any(
        (one.words == wanted.words and one.test in promise.exact + promise.smaller)
        or (
            one.test in promise.smaller
            and one.command == wanted.command
            and options <= options_of(one)
        )
        for one in all_ran
    )


# --- the verdict ---


def only_long(text: str) -> set[str]:
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return {line for line in lines if line}


def faults(all_ran: list[Ran], promised: list[Promise], table: set[str], long: bool) -> list[str]:
    """What is to be mended, in sentences."""
    options, ran = all_options(), {name for one in all_ran for name in options_of(one)}
    broken = [promise for promise in promised if not is_kept(promise, all_ran)]
    ran |= {promise.command for promise in promised if promise not in broken}
    excused = set() if long else table
    found = [f"no test runs saakm {name}" for name in sorted(options - ran - excused)]
    for promise in broken:
        if promise.command not in excused:
            who = " ".join(promise.exact + promise.smaller) or "nobody is named who"
            found.append(f"{promise.where}: {promise.command}: not run by {who}")
    unknown = table - options - {promise.command for promise in promised}
    found += [f"{ONLY_LONG.name}: there is no '{name}'" for name in sorted(unknown)]
    if not long:
        early = sorted(table & ran)
        found += [f"{ONLY_LONG.name}: '{name}' runs without --long, too" for name in early]
    return found


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for."""
    option = config.option
    named = [Path(arg.partition("::")[0]).resolve() for arg in config.args if "::" not in arg]
    chosen = [getattr(option, name, None) for name in
              ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "collectonly")]  # fmt: skip
    files = [file for part in ("unit", "guest") for file in (TESTS / part).glob("test_*.py")]
    return not any(chosen) and all(
        any(root == file or root in file.parents for root in named) for file in files
    )


def pytest_configure(config: pytest.Config) -> None:
    # A worker of pytest-xdist, and a pytest that a test runs, notes for the one that began.
    if not os.environ.get(DIRECTORY):
        config.stash[_OURS] = Path(tempfile.mkdtemp(prefix="saakm-command-lines-"))
        os.environ[DIRECTORY] = str(config.stash[_OURS])


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The verdict is one more test, so that whoever counts tests counts it."""
    config = session.config
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if _OURS not in config.stash or not ended or not is_whole(config):
        return
    table = only_long(ONLY_LONG.read_text())
    found = faults(read(config.stash[_OURS]), promises(), table, config.getoption("--long"))
    where = "tests/options.py"
    report = pytest.TestReport(
        nodeid=f"{where}::test_every_command_and_option_is_run",
        location=(where, None, "test_every_command_and_option_is_run"),
        keywords={},
        outcome="failed" if found else "passed",
        longrepr="\n".join(found) or None,
        when="call",
    )
    config.hook.pytest_runtest_logreport(report=report)
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    if directory := config.stash.get(_OURS, None):
        del os.environ[DIRECTORY]
        shutil.rmtree(directory)
