# SPDX-License-Identifier: GPL-2.0
"""The command line of tests/mutate."""

import argparse
import json
import os
import random
import signal
import sys
from collections import Counter
from dataclasses import asdict

from saakm.base import cache
from saakm.base.errors import SaakmError
from saakm.base.locks import locked

from . import kernel, runs
from .faults import Fault, chosen_faults


def _arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--lines", action="store_true", help="the lines of lines.toml")
    what.add_argument("--seed", type=int, help="draw faults by this seed")
    what.add_argument("--list", action="store_true", help="list all faults, run nothing")
    parser.add_argument("--number", type=_count, default=20, help="how many are drawn, default 20")
    parser.add_argument(
        "--minutes", type=_count, default=10, help="tests for each fault, default 10 minutes"
    )
    parser.add_argument("--again", action="store_true", help="try anew what nobody has noticed")
    parser.add_argument(
        "--tests", default=",".join(runs.FAST), help="test files, as in test_NAME.py: a,b,c"
    )
    parser.add_argument("--jobs", type=_count, help="of make")
    parser.add_argument("--json", action="store_true", help="results as JSON, on stdout")
    return parser.parse_args()


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1")
    return int(text)


def _draw(
    numbered: list[tuple[int, Fault]], arguments: argparse.Namespace, chosen: int
) -> list[tuple[int, Fault]]:
    if arguments.lines:
        return numbered[-chosen:]
    drawn = numbered[:-chosen]
    return random.Random(arguments.seed).sample(drawn, min(arguments.number, len(drawn)))


def _run(arguments: argparse.Namespace) -> int:
    texts = kernel.sources()
    chosen = chosen_faults(texts)
    faults = kernel.all_faults(texts) + chosen
    numbered = list(enumerate(faults, 1))
    if arguments.list:
        print("\n".join(f"{n:5} {fault.kind:9} {fault}" for n, fault in numbered))
        return 0
    wanted = _draw(numbered, arguments, len(chosen))
    names = arguments.tests.split(",")
    runs.refuse_unknown(names)
    cache.make(kernel.HOME)
    with locked(kernel.HOME / "lock"):
        return _try(arguments, faults, wanted, names)


def _try(
    arguments: argparse.Namespace,
    faults: list[Fault],
    wanted: list[tuple[int, Fault]],
    names: list[str],
) -> int:
    built = kernel.build(faults, arguments.jobs)
    class_is = runs.digest(faults)
    tests = runs.baseline(built, class_is, names)
    results = runs.try_all(
        built, class_is, wanted, tests, arguments.minutes * 60, again=arguments.again
    )
    counts = Counter(result.outcome for result in results)
    if arguments.json:
        print(json.dumps({**counts, "results": [asdict(result) for result in results]}, indent=1))
    else:
        for result in results:
            print(f"{result.outcome:9}  {result.fault}\n{'':11}{_why(result)}")
        print(f"{counts['noticed']} of {len(results)} noticed")
    return 0 if counts["noticed"] == len(results) else 1


def _why(result: runs.Result) -> str:
    if result.outcome == "noticed":
        return f"by {result.by}"
    return f"{result.tests} tests ran, {result.reach} reach it"


def main(description: str) -> int:
    arguments = _arguments(description)
    # As an ordinary exit, which puts back the cursor and ends what runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except SaakmError as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        # Nobody reads what is printed, or the disk is full; it is not said once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"mutate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mutate: interrupted; the same command goes on with the rest", file=sys.stderr)
        return 130
