# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin: which places of the class each test reaches, and how it ended.

Appends a line of JSON for each test to the file that SAAKM_MUTATE_NOTES names.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Generator, Iterator

import pytest

from saakm.base.errors import SaakmError
from saakm.vm.guest import Guest

NOTES = "SAAKM_MUTATE_NOTES"
REACH = "SAAKM_MUTATE_REACH"  # set: note which places each test reaches
_CLEAR = "echo >/proc/saakm_mutants"
_READ = f"od -An -v -w1 -tu1 /proc/saakm_mutants | grep -n 1 | cut -d: -f1; {_CLEAR}"

_ENDED = pytest.StashKey[dict[str, bool]]()
_SECONDS = pytest.StashKey[float]()

_reached: set[int] = set()


def _read(guest: Guest) -> None:
    """Nobody can ask a guest that is dead, or hangs."""
    with contextlib.suppress(SaakmError, OSError):
        # grep counts from 1, and the first byte is number 0, which is no fault.
        _reached.update(int(n) - 1 for n in guest.run(_READ).stdout.split())


def pytest_configure() -> None:
    """A guest of the test's own is asked just before its end."""
    # As Ctrl-C, which who runs in the background does not hear: guests are ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if REACH not in os.environ:
        return
    end = Guest.close

    def close(self: Guest) -> None:
        if self.alive:
            _read(self)
        end(self)

    Guest.close = close  # type: ignore[method-assign]


def _seconds(item: pytest.Item) -> float:
    seconds: float = item.stash.get(_SECONDS, 0.0)
    return seconds


def _outcome(ended: dict[str, bool]) -> str:
    if not all(ended.values()):
        return "failed"
    return "passed" if "call" in ended else "skipped"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """One line for each test, when its fixtures have ended, too: they close its own guests."""
    item.stash[_ENDED] = {}
    result = yield
    ended = item.stash[_ENDED]
    row = {
        "test": item.nodeid,
        "outcome": _outcome(ended),
        "seconds": round(_seconds(item), 1),
    }
    if REACH in os.environ:
        row["reached"] = sorted(_reached)
    with open(os.environ[NOTES], "a") as notes:
        notes.write(json.dumps(row) + "\n")
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    guest = pyfuncitem.funcargs.get("guest")
    if REACH in os.environ:
        _reached.clear()
        if isinstance(guest, Guest):
            guest.run(_CLEAR)
    started = time.monotonic()
    try:
        return (yield)
    finally:
        pyfuncitem.stash[_SECONDS] = time.monotonic() - started
        if REACH in os.environ and isinstance(guest, Guest) and guest.alive:
            _read(guest)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, object, object]:
    report = yield
    if isinstance(report, pytest.TestReport) and not report.skipped:
        item.stash[_ENDED][report.when] = not report.failed
    return report
