# SPDX-License-Identifier: GPL-2.0
"""The figure in what a program prints."""

import re
import statistics
from collections.abc import Callable

from ...base.errors import SaakmError
from ...model.workload import ELAPSED, Variant

_PICK: dict[str, Callable[[list[float]], float]] = {
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": statistics.fmean,
    "max": max,
}


def value_of(variant: Variant, output: str, seconds: float) -> float:
    if variant.metric == ELAPSED:
        return seconds * variant.scale
    found = re.findall(variant.metric, output, re.M)
    if not found:
        raise SaakmError(
            f"{variant.workload} {variant.name} printed no figure",
            f"nothing matches '{variant.metric}' in: {output.strip()[-500:] or 'nothing at all'}",
            f"try it by hand: saakm run none -- sh -c '{variant.command.splitlines()[-1]}'",
        )
    value = _PICK[variant.pick]([float(text.replace(",", "")) for text in found]) * variant.scale
    if value <= 0 and variant.better == "higher":
        raise SaakmError(
            f"{variant.workload} {variant.name} got nothing done",
            f"{value:g} {variant.unit} after {seconds:.1f} s",
            "its threads starved, or waited for each other by spinning",
        )
    return value
