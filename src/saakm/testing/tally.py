# SPDX-License-Identifier: GPL-2.0
"""Counts tests as pytest does, for a line that a script can read."""

import pytest


class Tally:
    """A test whose setup or import fails has failed."""

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
