# SPDX-License-Identifier: GPL-2.0
"""Which workloads a user means."""

from collections.abc import Sequence

from ...base.errors import BadInput
from ...model.workload import Variant, Workload


def choose(words: Sequence[str], known: dict[str, Workload]) -> list[Variant]:
    """Each word is a workload, workload:family or workload:variant; all, where there is none.

    A variant on a file system of its own, which few kernels have, is named or left out.
    """
    chosen: list[Variant] = []
    for word in words or known:
        name, _, part = word.partition(":")
        if name not in known:
            raise BadInput(
                f"there is no workload '{name}'",
                f"there are {', '.join(known)}",
                "saakm bench --list",
            )
        variants = known[name].variants
        wanted = _meant(variants, part, named=bool(words))
        if part and not wanted:
            raise BadInput(
                f"{name} has no variant '{part}'",
                f"it has {', '.join(v.name for v in variants)}",
                "saakm bench --list",
            )
        chosen += [variant for variant in wanted if variant not in chosen]
    return chosen


def _meant(variants: Sequence[Variant], part: str, named: bool) -> Sequence[Variant]:
    if part:
        return [variant for variant in variants if part in (variant.family, variant.name)]
    everywhere = [variant for variant in variants if not variant.filesystem]
    return everywhere or (variants if named else [])
