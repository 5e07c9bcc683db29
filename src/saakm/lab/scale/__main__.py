# SPDX-License-Identifier: GPL-2.0
"""python -m saakm.lab.scale [--cpus N] [--threads N] [--rounds N] [--prototype POLICY=PROGRAM] [POLICY ...]

How fast the simulator is in one machine, and another program beside it. Curves are made by
`saakm lab scale`.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from ...base.errors import SaakmError
from ...model.experiment import Scale
from ...model.schema import fit
from ...sim.durations import shown_count
from ...view.terminal import figure, label, table
from . import rivals
from .conduct import Point, check


def main() -> int:
    options = _options()
    try:
        found = _measure(options)
    except SaakmError as error:
        print(f"saakm: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([_as_json(one) for one in found], indent=2))
    else:
        _show(found, f"{options.cpus:,} CPUs, {options.threads:,} threads", Console())
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m saakm.lab.scale")
    parser.add_argument("policies", nargs="*", metavar="POLICY", default=["fifo", "rr", "vtime"])
    parser.add_argument("--cpus", type=int, default=1024, help="a power of two, 4 to 4,096")
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--prototype",
        action="append",
        default=[],
        metavar="POLICY=PROGRAM",
        help="run this beside it, by turns; rivals.py says what such a program takes and prints",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> list[rivals.Measured]:
    wanted = {
        "policies": options.policies,
        "threads": [options.threads],
        "on_cpus": options.cpus,
        "rounds": options.rounds,
        "seed": options.seed,
    }
    try:
        spec: Scale = fit(wanted, Scale)
    except ValueError as error:
        raise SaakmError(
            "that cannot be measured", str(error), "python -m saakm.lab.scale --help"
        ) from error
    check(spec)
    programs = dict(_program(text, spec.policies) for text in options.prototype)
    points = [Point(policy, spec.on_cpus, options.threads) for policy in spec.policies]
    return rivals.compare(points, programs, spec.rounds, spec.seed)


def _program(text: str, policies: tuple[str, ...]) -> tuple[str, Path]:
    policy, _, program = text.partition("=")
    if policy not in policies or not Path(program).is_file():
        why = f"{program or 'nothing'} is no file" if policy in policies else "it is not measured"
        raise SaakmError(
            f"--prototype {text} names no program of a policy",
            f"{policy}: {why}",
            "--prototype fifo=./prototype-fifo",
        )
    return policy, Path(program)


def _as_json(one: rivals.Measured) -> dict[str, object]:
    rates = {
        "events_a_second": round(one.events_a_second),
        "switches_a_second": round(one.switches_a_second),
    }
    return {**asdict(one), **rates}


def _show(found: list[rivals.Measured], title: str, console: Console) -> None:
    # So short that a terminal of 80 columns has room for them; --json has all digits.
    columns = ("events", "events/s", "switch/s", "CPU s", "wall s", "MiB")
    shown = table(title, label("policy"), label("program"), *map(figure, columns))
    for one in found:
        rates = (one.events, round(one.events_a_second), round(one.switches_a_second))
        times = (f"{one.cpu_s:.2f}", f"{one.wall_s:.2f}", f"{one.peak_kib / 1024:,.0f}")
        shown.add_row(one.policy, one.name, *map(shown_count, rates), *times)
    console.print(shown)
    console.print("rates are by CPU time; wall s: of the clock, for a simulated second")


if __name__ == "__main__":
    sys.exit(main())
