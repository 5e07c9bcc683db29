# SPDX-License-Identifier: GPL-2.0
"""python -m saakm.lab.agreement [--list] [--keep DIR] [--guest | --simulator] [NAME ...]

Runs scenarios in the simulator and in guests, and compares what happened. The status is 1 if
some differ.
"""

import argparse
import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ...base.errors import SaakmError
from .conduct import Result, guest_for, run_in_guest, run_simulated, verdict
from .scenario import Scenario, find, read_all


def main() -> int:
    options = _options()
    scenarios = [find(name) for name in options.names] or read_all()
    if options.list:
        for one in scenarios:
            print(f"{one.name:24} {one.policy:6} {one.shows}")
        return 0
    failed = 0
    by_machine = sorted(scenarios, key=lambda one: one.machine)
    for _, group in itertools.groupby(by_machine, key=lambda one: one.machine):
        failed += _run(list(group), options)
    word = "run" if options.guest or options.simulator else "agree"
    print(f"{len(scenarios) - failed} of {len(scenarios)} scenarios {word}")
    return int(failed > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m saakm.lab.agreement")
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios; default: all")
    parser.add_argument("--list", action="store_true", help="say what there are")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="traces and stories go there")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--guest", action="store_true", help="in a guest alone")
    one.add_argument("--simulator", action="store_true", help="in the simulator alone")
    return parser.parse_args()


def _run(scenarios: list[Scenario], options: argparse.Namespace) -> int:
    """How many do not agree."""
    results = [Result(one) for one in scenarios]
    if not options.guest:
        for result in results:
            _try(result, run_simulated)
    if not options.simulator:
        with guest_for(scenarios[0].topology) as guest:
            for result in results:
                _try(result, partial(run_in_guest, guest))
    for result in results:
        if options.keep:
            result.keep(options.keep)
        print(verdict(result), flush=True)
    return sum(not result.agrees for result in results)


def _try(result: Result, step: Callable[[Result], None]) -> None:
    try:
        step(result)
    except SaakmError as error:
        result.faults.append(str(error))


if __name__ == "__main__":
    sys.exit(main())
