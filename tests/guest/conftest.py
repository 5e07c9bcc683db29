# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the guest tests.

    @pytest.mark.topology("2s2c2t")      # default: 1s4c
    @pytest.mark.kernel("base")          # default: debug
    @pytest.mark.append("isolcpus=1")    # kernel arguments
    @pytest.mark.threads                 # a storm: CPUs really run at the same time
    @pytest.mark.fast                    # an instruction takes 1 ns, as in saakm cost
    @pytest.mark.limit(60)               # seconds of QEMU's CPU time for the test itself
    def test_something(guest, program):
        guest.load("fifo")
        run_ok(guest, program("hog"))

The guest's time is the number of instructions that it has executed, so that no outcome depends on
how busy the host is (but see support.TURNS), and a guest that sleeps takes none of the host's time.
Its CPUs run by turns then. In a storm each has a thread of the host's: what it asserts must hold whenever they meet.
Only files come in the host's time: until one is there the guest's leaps from timer to timer, if nothing
else runs. So a sleep does not show that a program has begun, and a program that opens files may take any time.

Afterwards the test fails if the kernel complained or counted violations, unless
it called watch.expect_violations(). Programs are killed and modules unloaded
behind it. Tests of one shape share a guest; one that died is booted again.
"""

import signal
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from totals import add_totals

from saakm.vm.guest import Guest

from .support import PATIENCE, Pool, Shape, Watch, build_program, last_lines

DEFAULT_LIMIT = 300.0
HERE = Path(__file__).parent
_WATCH = pytest.StashKey[Watch]()
_POOL = pytest.StashKey[Pool]()
_FAILED = pytest.StashKey[bool]()
_TALLY = pytest.StashKey[Counter]()


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "topology(name): the machine of a guest test, default 1s4c",
        "append(*arguments): arguments for the guest's kernel",
        "threads: each CPU of the guest has a thread of the host's, and the host's time",
        "fast: an instruction takes 1 ns",
        "limit(seconds): a guest test that takes longer on an idle host fails, default 300",
    ):
        config.addinivalue_line("markers", marker)
    config.stash[_POOL] = Pool()
    config.stash[_TALLY] = Counter()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_POOL].drop()


def _shape(item: pytest.Item) -> Shape:
    def argument(name: str, default: str) -> str:
        marker = item.get_closest_marker(name)
        return marker.args[0] if marker else default

    append = item.get_closest_marker("append")
    config = item.config.getoption("--kernel") or argument("kernel", "debug")
    return Shape(
        config,
        argument("topology", "1s4c"),
        append.args if append else (),
        threads=item.get_closest_marker("threads") is not None
        or item.config.getoption("--threads"),
        fast=item.get_closest_marker("fast") is not None,
    )


# Who has one of these runs commands of saakm, of which each has to be run: tests/options.py.
_RUN_COMMANDS = {"saakm", "call", "subprocess", "CliRunner", "Reader"}


def _alternate(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A run of all has each third test of what happens in a guest, another third for each commit:
    all of them take longer than a run may. --long, or who names a file, has all."""
    if config.getoption("--long") or not all(Path(arg).is_dir() for arg in config.args):
        return
    seed = config.getoption("--seed")

    def waits(item: pytest.Item) -> bool:
        in_guest = "guest" in getattr(item, "fixturenames", ()) and item.path.parent == HERE
        turn = zlib.crc32(f"{seed} {item.path.name} {item.originalname}".encode())
        return in_guest and _RUN_COMMANDS.isdisjoint(vars(item.module)) and turn % 3 != 0

    waiting = {id(item) for item in items if waits(item)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in waiting])
    items[:] = [item for item in items if id(item) not in waiting]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one shape in a row, for one worker those of a file: booting takes longer than most."""
    _alternate(config, items)
    shapes = {shape: n for n, shape in reversed(list(enumerate(map(_shape, items))))}

    # Only a guest is worth it: tests elsewhere keep their place in front.
    def place(item: pytest.Item) -> int:
        return shapes[_shape(item)] if "guest" in getattr(item, "fixturenames", ()) else -1

    items.sort(key=place)
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem}-{place(item)}"))


@pytest.fixture
def watch(guest: Guest, request: pytest.FixtureRequest) -> Watch:
    return request.node.stash[_WATCH]


@pytest.fixture
def guest(request: pytest.FixtureRequest) -> Guest:
    """A running guest of the shape that the test's markers ask for."""
    pool = request.config.stash[_POOL]
    guest = pool.get(_shape(request.node))
    request.node.stash[_WATCH] = Watch(guest, pool)
    return guest


@pytest.fixture
def boot(request: pytest.FixtureRequest) -> Iterator[Callable[..., Guest]]:
    """Boots a guest for this test alone, which may die. Nobody looks at its console but the test."""
    pool, booted = request.config.stash[_POOL], []
    shape = _shape(request.node)

    def boot_own(**changes) -> Guest:
        guest = pool.boot(Shape(**{**vars(shape), **changes}))
        booted.append(guest)
        return guest

    yield boot_own
    for guest in booted:
        guest.close()


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Callable[[str, int], None]]:
    """tally("CPUs taken offline", 3): for the list of what was thrown at the class, if the test passes."""
    counts = Counter()

    def count(what: str, n: int) -> None:
        counts[what] += n

    yield count
    if not request.node.stash.get(_FAILED, False):
        request.config.stash[_TALLY].update(counts)


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """program("hog"): the path of programs/hog.c, compiled."""
    return build_program


class _TimeIsUp(BaseException):
    """Not an Exception: no handler of a test may swallow it."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """In the call, not in a fixture's teardown: what the kernel says is the test's own failure."""
    watch = pyfuncitem.stash.get(_WATCH, None)
    marker = pyfuncitem.get_closest_marker("limit")
    limit = marker.args[0] if marker else DEFAULT_LIMIT
    spent = watch.guest.spent if watch else lambda: time.monotonic() / PATIENCE
    begin = spent()

    def look(*_: object) -> None:
        if spent() - begin > limit:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        result = yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        if watch:
            watch.check()
        return result
    except _TimeIsUp:
        if watch:
            watch.guest_is_lost = True  # nobody knows what still runs in there
        pytest.fail(f"the test took longer than {limit:.0f} s", pytrace=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """A failure shows the end of the console, and leaves the guest tidy for the next test."""
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    watch = item.stash.get(_WATCH, None)
    if watch and call.when == "call" and report.failed:
        report.sections.append(("console of the guest", last_lines(watch.guest, watch.since)))
        watch.recover()
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    pool = session.config.stash[_POOL]
    add_totals(session.config, dict(session.config.stash[_TALLY]), pool.boots, pool.boot_seconds)
