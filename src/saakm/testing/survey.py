# SPDX-License-Identifier: GPL-2.0
"""Which tests a run would have, before it starts: what to build for them, and for how many workers."""

import contextlib
import io
from pathlib import Path

import pytest


class Survey:
    """A plugin of pytest's, for a run that only collects."""

    def __init__(self, guest_tests: Path) -> None:
        self._guest_tests = guest_tests
        self.status = 0  # of pytest
        self.interrupted = False  # by Ctrl-C, which pytest keeps to itself
        self.tests = 0
        self.kernels: set[str] = set()  # that the guests boot
        self.groups: set[str] = set()  # each of one worker's

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # Its own kind says that a file cannot be collected.
        self.interrupted = not isinstance(excinfo.value, pytest.Session.Interrupted)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.tests = len(session.items)
        for item in session.items:
            group = item.get_closest_marker("xdist_group")
            self.groups.add(group.args[0] if group else item.nodeid)
            if self._guest_tests in item.path.parents:
                self.kernels.add(_kernel(item))


def _kernel(item: pytest.Item) -> str:
    marker = item.get_closest_marker("kernel")
    return str(item.config.getoption("--kernel") or (marker.args[0] if marker else "debug"))


def survey(arguments: list[str], guest_tests: Path) -> Survey:
    """What cannot be collected is not said here: the run itself does that."""
    found = Survey(guest_tests)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found.status = int(
            pytest.main([*arguments, "--collect-only", "-qq", "-n0"], plugins=[found])
        )
    return found
