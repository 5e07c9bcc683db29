# SPDX-License-Identifier: GPL-2.0
"""What a run's column in a table is called, and what never shares one.

Of several kernels in one directory ours has columns of the schedulers' own names, and one that is
not has `fair@7.3.4`. Features of the whole machine stand behind a colon where not all runs had them.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from ...base.errors import BadInput
from ...model.results import RunRecord
from ...model.schema import plain

# What a workload wants of its machine; what a column says.
_MAY_DIFFER = ("memory", "features")


def column_of(records: Iterable[RunRecord]) -> Callable[[RunRecord], str]:
    """Tells the column of each of these."""
    records = list(records)
    several = len({record.kernel for record in records}) > 1
    differ = len({record.machine.features for record in records}) > 1

    def column(record: RunRecord) -> str:
        words = [record.scheduler]
        words += record.machine.features or () if differ else ()
        return ":".join(words) + (_at(record) if several else "")

    return column


def refuse_mixture(records: Iterable[RunRecord]) -> None:
    """Runs of two kernels or machines in one mean would be a lie."""
    seen: dict[tuple[object, ...], str] = {}
    for record in records:
        what = (record.workload, record.variant, record.traced, _at(record))
        where = json.dumps([record.kernel, _shape(record), record.definition], sort_keys=True)
        if seen.setdefault(what, where) != where:
            raise BadInput(
                f"the results of {record.workload} {record.variant} do not belong together",
                "they are of different kernels, machines or versions of the workload",
                "make a report of each, or start again in an empty directory: saakm bench --out DIR",
            )


def _at(record: RunRecord) -> str:
    return "" if record.linux.patched else f"@{record.linux.release}"


def _shape(record: RunRecord) -> dict[str, Any]:
    shape = plain(record.machine).items()
    return {name: value for name, value in shape if name not in _MAY_DIFFER}
