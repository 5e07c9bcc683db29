# SPDX-License-Identifier: GPL-2.0
"""Which tests run: saakm test, --long, --seed."""

import os
import signal
import zlib
from collections.abc import Iterable

import pytest

pytest_plugins = ["options", "totals"]

_LINES = 40  # of what a failure said
_MOST_PARALLEL = 10

# A shell starts what it puts into the background with SIGINT ignored, and children inherit that:
# tests that interrupt a program would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run tests that take minutes")
    parser.addoption("--kernel", metavar="CONFIG", help="boot this kernel in all guest tests")
    parser.addoption(
        "--threads", action="store_true", help="hunt races: CPUs of all guests run at the same time"
    )
    parser.addoption(
        "--empty", type=int, default=1, metavar="N", help="as many guest tests that do nothing"
    )
    parser.addoption(
        "--seed",
        type=int,
        # pytest reads text as what the command line gives, and complains as of that.
        default=os.environ.get("SAAKM_TEST_SEED", "0"),
        metavar="N",
        help="which values of a parameter that rotates are taken; all are with --long",
    )


class PlainNames:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test's own name, as one gives it to pytest: pytest-xdist appends its group."""
        name, _, group = report.nodeid.rpartition("@")
        if name and "]" not in group:
            report.nodeid = name


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(PlainNames())
    for marker in (
        "long: takes minutes, runs only with --long",
        "rotates(name, count=1): as many values of it are taken, by --seed; all are with --long",
        "parallel(reason): may fail for what nobody of ours can help, and is tried once more",
    ):
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name != "guest":
            # Fixtures of a file are made once then.
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
        if marker := item.get_closest_marker("parallel"):
            assert marker.args, f"{item.nodeid}: why may it fail?"
            item.add_marker(pytest.mark.flaky(reruns=1))
    count = sum(item.get_closest_marker("parallel") is not None for item in items)
    assert count <= _MOST_PARALLEL, f"{count} tests may fail once, instead of {_MOST_PARALLEL}"
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes minutes, runs with --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
    # Who names a test by its parameters means it.
    if not any("[" in argument for argument in config.args):
        dropped = {id(item) for item in _not_chosen(items, config.getoption("--seed"))}
        config.hook.pytest_deselected(items=[item for item in items if id(item) in dropped])
        items[:] = [item for item in items if id(item) not in dropped]


def _not_chosen(items: Iterable[pytest.Item], seed: int) -> Iterable[pytest.Item]:
    """Of items that differ in a rotating parameter only, all but one; each test begins elsewhere.

    Of some there are more, evenly spread: rotates("name", 4).
    """
    alike: dict[tuple[object, ...], list[pytest.Item]] = {}
    counts: dict[tuple[object, ...], int] = {}
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        for mark in item.own_markers:
            assert mark.name != "rotates" or mark.args[0] in params, (
                f"{item.nodeid}: {mark.args[0]}?"
            )
        rotating = [mark.args for mark in item.iter_markers("rotates") if mark.args[0] in params]
        if rotating:
            names = {name for name, *_ in rotating}
            rest = {k: str(v) for k, v in params.items() if k not in names}
            key = (item.path, item.originalname, *sorted(rest.items()))
            alike.setdefault(key, []).append(item)
            counts[key] = max(count for _, *counts_ in rotating for count in counts_ or [1])
    for key, group in alike.items():
        first, count = seed + zlib.crc32(repr(key[1:]).encode()), min(counts[key], len(group))
        chosen = {(first + n * len(group) // count) % len(group) for n in range(count)}
        yield from (item for n, item in enumerate(group) if n not in chosen)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why a test was run again: what passes at the second try is still a fault of somebody's."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first try of {report.nodeid}", sep="-")
        terminalreporter.write_line("\n".join(report.longreprtext.splitlines()[-_LINES:]))
        for title, text in report.sections:
            terminalreporter.write_line(f"--- {title}\n" + "\n".join(text.splitlines()[-_LINES:]))
