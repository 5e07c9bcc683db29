# SPDX-License-Identifier: GPL-2.0
"""Which workloads a user means."""

from collections.abc import Sequence

from ...base.errors import SaakmError
from ...model.workload import Variant, Workload


def choose(words: Sequence[str], known: dict[str, Workload]) -> list[Variant]:
    """Each word is a workload, workload:family or workload:variant; all, where there is none."""
    if not words:
        return [variant for workload in known.values() for variant in workload.variants]
    chosen: list[Variant] = []
    for word in words:
        name, _, part = word.partition(":")
        if name not in known:
            raise SaakmError(
                f"there is no workload '{name}'",
                f"there are {', '.join(known)}",
                "saakm bench --list",
            )
        variants = known[name].variants
        wanted = [v for v in variants if part in ("", v.family, v.name)]
        if not wanted:
            raise SaakmError(
                f"{name} has no variant '{part}'",
                f"it has {', '.join(v.name for v in variants)}",
                "saakm bench --list",
            )
        chosen += [variant for variant in wanted if variant not in chosen]
    return chosen
