# SPDX-License-Identifier: GPL-2.0
"""What a guest test costs that does nothing: saakm test --empty 100 tests/guest/test_empty.py"""

import pytest

from saakm.vm.guest import Guest

pytestmark = pytest.mark.kernel("base")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("n", range(metafunc.config.getoption("--empty")))


def test_empty(guest: Guest, n: int) -> None:
    assert guest.alive
