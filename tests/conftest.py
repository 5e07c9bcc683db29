# SPDX-License-Identifier: GPL-2.0
"""Long tests run only when asked for: saakm test --long."""

import pytest

_LINES = 40  # of what a failure said


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run tests that take minutes")
    parser.addoption("--kernel", metavar="CONFIG", help="boot this kernel in all guest tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes, runs only with --long")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why a test was run again: what passes at the second try is still a fault of somebody's."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first try of {report.nodeid}", sep="-")
        terminalreporter.write_line("\n".join(report.longreprtext.splitlines()[-_LINES:]))
        for title, text in report.sections:
            terminalreporter.write_line(f"--- {title}\n" + "\n".join(text.splitlines()[-_LINES:]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes minutes, runs with --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
