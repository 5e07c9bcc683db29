# SPDX-License-Identifier: GPL-2.0
"""python -m saakm.lab.timing [--list] [--json] [--keep DIR | --kept DIR] [--policies LIST] [FILE ...]

Runs files of rt-app in guests, by the real rt-app, and in the simulator, and compares how often
threads got a CPU and how long they waited for it. The status is 1 if some differ.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

from ...base.errors import SaakmError
from ...base.files import make_output
from ...base.progress import meter
from ...model.schema import plain
from ..bench.packages import ensure
from .case import POLICIES, Case, find, read_all
from .compare import LIMITS, Row, apart
from .conduct import compared, in_one_guest, kept
from .in_guest import PACKAGES


def main() -> int:
    options = _options()
    cases = [find(name) for name in options.files] or read_all()
    if options.list:
        for one in cases:
            print(one.name)
        return 0
    try:
        rows = _rows(cases, options)
    except SaakmError as error:
        print(f"saakm: {error}", file=sys.stderr)
        return error.status
    print(json.dumps([_document(row) for row in rows], indent=1)) if options.json else _show(rows)
    return int(any(row.misses for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m saakm.lab.timing")
    parser.add_argument("files", nargs="*", metavar="FILE", help="by name, or NAME.TOPOLOGY.json")
    parser.add_argument("--list", action="store_true", help="say what there are")
    parser.add_argument("--policies", default=",".join(POLICIES), help="with commas; default: all")
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="guests' events go there")
    parser.add_argument(
        "--kept", type=Path, metavar="DIR", help="compare with what --keep has kept: no guest"
    )
    return parser.parse_args()


def _rows(cases: list[Case], options: argparse.Namespace) -> list[Row]:
    policies = options.policies.split(",")
    if options.kept:
        pairs = list(itertools.product(cases, policies))
        with meter("simulating", len(pairs)) as progress:
            return [_again(options.kept, *pair, progress.advance) for pair in pairs]
    if options.keep:
        make_output(options.keep)
    ensure(PACKAGES)
    by_machine = sorted(cases, key=lambda one: one.machine)
    groups = itertools.groupby(by_machine, key=lambda one: one.machine)
    return [row for _, group in groups for row in in_one_guest(list(group), policies, options.keep)]


def _again(directory: Path, case: Case, policy: str, advance: Callable[[int], None]) -> Row:
    row = compared(kept(directory, case, policy), case, policy)
    advance(1)
    return row


def _document(row: Row) -> dict[str, object]:
    return {**plain(row), "misses": row.misses, "verdict": row.verdict}


def _show(rows: list[Row]) -> None:
    """Each cell: the guest's figure, and by how much the simulator's differs: by itself, and told."""
    print("| file | policy | switches | median wait, us | 99th percentile | verdict |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        cells = " | ".join(_cell(row, name) for name in LIMITS)
        print(f"| {row.name} | {row.policy} | {cells} | {_verdict(row)} |")


def _cell(row: Row, name: str) -> str:
    parts = (100 * apart(row.guest, one, name) for one in (row.simulated, row.told))
    return f"{getattr(row.guest, name):,.0f} " + ", ".join(f"{part:+.1f}" for part in parts) + " %"


def _verdict(row: Row) -> str:
    if not row.misses:
        return "agrees"
    found = []
    for name in row.misses:
        low, high = row.range_of(name) if name in LIMITS else (0, 0)
        found.append(f"{name}, {low:,.0f} to {high:,.0f}")
    return f"differs: {'; '.join(found)}"


if __name__ == "__main__":
    sys.exit(main())
