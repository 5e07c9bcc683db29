# SPDX-License-Identifier: GPL-2.0
"""Long tests run only when asked for: saakm test --long."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run tests that take minutes")
    parser.addoption("--kernel", metavar="CONFIG", help="boot this kernel in all guest tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes, runs only with --long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes minutes, runs with --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
