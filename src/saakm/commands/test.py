# SPDX-License-Identifier: GPL-2.0
"""saakm test: pytest, beside itself on several CPUs, with a closing line that a script can read."""

import os
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from ..base import cache, git, paths
from ..base.errors import SaakmError
from ..builder.ctl import build_saakmctl
from ..builder.kernel import build_kernel
from ..builder.modules import build_modules
from ..lint.checker import Failure
from ..lint.every import check_kernel, check_sources
from ..testing import unchanged
from ..testing.survey import Survey, survey
from ..testing.tally import Tally
from ..vm.qemu import find_qemu

# Not -h: it would be found in -rh as well, which is pytest's.
CONTEXT = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": ["--help"],
}
TESTS = paths.REPO / "tests"
_GUESTS = TESTS / "guest"
_SLOWEST = 20
_WORKER_GIB = 4  # a debug guest, and a compiler beside it
# Whoever asks for one of these wants one process.
_ALONE = {"-s", "--pdb", "--trace", "--capture=no"}
# Runs no test.
_ONLY_ASKS = {"--help", "-V", "--version", "--co", "--collect-only", "--markers", "--fixtures"}


def test(
    ctx: typer.Context,
    args: Annotated[
        list[str] | None, typer.Argument(help="Files, directories, tests, and options of pytest.")
    ] = None,
    help_pytest: Annotated[
        bool, typer.Option("--help-pytest", help="Show the options of pytest, too.")
    ] = False,
) -> None:
    """Run the tests on the host and in guests. Arguments go to pytest.

    Without a path all tests run, and before them the checkers of saakm lint.
    The last line says how many passed and failed.

    Beside pytest's own there are these options:

    --long: also run tests that take minutes.

    --kernel CONFIG: boot this kernel in all guest tests.

    --threads: hunt races: CPUs of all guests run at the same time.

    --empty N: as many guest tests that do nothing.

    --seed N: which values of a parameter that rotates are taken; all are with
    --long. Default: the number of the commit.

    Examples:

    saakm test tests/unit

    saakm test tests/guest/test_policies.py -k vtime -x

    saakm test --long --seed 7
    """
    given = args or []
    if "-h" in given:
        print(ctx.get_help())
        return
    if help_pytest:
        given = [*given, "--help"]
    if "" in given:
        raise SaakmError(
            "an argument is empty", "it names no test", "leave it out, or say which test you mean"
        )
    # Ours come first: of two --seed or --durations the later one counts.
    ours = ["--rootdir", str(paths.REPO), "-c", str(paths.REPO / "pyproject.toml")]
    ours += ["--durations", str(_SLOWEST), "--durations-min", "1"]
    whole = not any(Path(arg.partition("::")[0]).exists() for arg in given)
    now = _state(given) if whole else ""
    # The option of that name is known below tests/ only.
    os.environ.setdefault("SAAKM_TEST_SEED", str(_seed()))
    where = [str(TESTS)] if whole else []
    if not given and unchanged.has_passed(now):
        print("saakm: only documentation has changed since all tests passed here: no guests. "
              "All the same: ./saakm test tests", file=sys.stderr)  # fmt: skip
        where.append(f"--ignore={_GUESTS}")
        now = ""
    arguments = [*ours, *where, *given]
    if not _ONLY_ASKS.isdisjoint(given):
        raise typer.Exit(int(pytest.main(arguments)))
    tally = Tally()
    found = survey(arguments, _GUESTS)
    if found.interrupted:
        raise KeyboardInterrupt
    # Else the run says at once what is wrong: an option, a path, a test that cannot be read.
    if found.status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        if whole:
            _refuse(check_sources())
        _build(found, whole)
        arguments += _workers(found, given)
    status = pytest.main(arguments, plugins=[tally])
    sys.stderr.flush()
    print(tally.line, flush=True)
    if tally.failed or not tally.passed:
        raise typer.Exit(1)
    if not status:
        unchanged.remember(now)
    raise typer.Exit(int(status))


def _state(given: list[str]) -> str:
    """What will have passed if this run does; empty if it does not tell of an ordinary one."""
    other = any(name.startswith("SAAKM_TEST_") for name in os.environ)
    return "" if other or not set(given) <= {"--long"} else unchanged.state()


def _refuse(failures: list[Failure]) -> None:
    """What a checker complains of is mended first: it takes a minute, not the tests' twenty."""
    if failures:
        names = " ".join(failure.checker for failure in failures)
        raise SaakmError(
            f"{names}: not clean, so no test was run",
            "\n".join(map(str, failures)),
            f"mend that, and look again with: ./saakm lint {names}",
        )


def _build(found: Survey, whole: bool) -> None:
    """The kernels that the tests boot, with progress, before the first runs."""
    if found.kernels:
        cache.refuse_hidden()
        find_qemu(may_fetch=False)
    for config in sorted(found.kernels):
        kernel = build_kernel(config)
        if whole and config == "base":
            _refuse(check_kernel(kernel))
        build_modules(kernel)
        build_saakmctl()


def _workers(found: Survey, given: list[str]) -> list[str]:
    if len(found.groups) < 2 or any(arg in _ALONE or arg.startswith("-n") for arg in given):
        return []
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    count = min(os.cpu_count() or 1, int(gib / _WORKER_GIB), len(found.groups))
    # In the order of collection: guests of a shape one after another.
    return ["-n", str(count), "--dist", "loadgroup", "--no-loadscope-reorder"] if count > 1 else []


def _seed() -> int:
    """Takes the commit's: what rotates does so from commit to commit, and a failed run can be repeated."""
    head = git.say("rev-parse", "HEAD")
    return int(head[:6], 16) if head else 0
