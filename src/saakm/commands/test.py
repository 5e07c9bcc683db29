# SPDX-License-Identifier: GPL-2.0
"""saakm test: pytest, with a closing line that a script can read."""

import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from .. import paths
from ..kernel import build_kernel
from ..modules import build_modules, build_saakmctl

CONTEXT = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
TESTS = paths.REPO / "tests"


class Tally:
    """Counts as pytest does; a test whose setup or import fails has failed."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    @property
    def line(self) -> str:
        return f"{len(self.passed - self.failed)} passed, {len(self.failed)} failed"


class Builder:
    """Builds the kernels that the collected tests boot, with progress, before the first runs."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        configs = {
            _config(item) for item in session.items if (TESTS / "guest") in item.path.parents
        }
        capture = session.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            for config in sorted(configs):
                build_modules(build_kernel(config))
                build_saakmctl()


def _config(item: pytest.Item) -> str:
    marker = item.get_closest_marker("kernel")
    return item.config.getoption("--kernel") or (marker.args[0] if marker else "debug")


def test(
    args: Annotated[list[str] | None, typer.Argument(help="Passed to pytest.")] = None,
) -> None:
    """Run the tests on the host and in guests; arguments go to pytest."""
    tally = Tally()
    # Emulated guests on a busy machine miss deadlines; a real failure fails again.
    ours = ["--reruns", "1", "--rootdir", str(paths.REPO), "-c", str(paths.REPO / "pyproject.toml")]
    given = args or []
    if not any(Path(arg.partition("::")[0]).exists() for arg in given if arg):
        ours.append(str(TESTS))
    status = pytest.main([*ours, *given], plugins=[tally, Builder()])
    sys.stderr.flush()
    print(tally.line, flush=True)
    raise typer.Exit(1 if tally.failed or not tally.passed else int(status))
