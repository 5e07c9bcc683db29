# SPDX-License-Identifier: GPL-2.0
"""Comparisons for programs: JSON, and CSV with a row a run."""

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .figures import Figure, schedulers


def rows(found: Sequence[Figure], base: str) -> list[dict[str, Any]]:
    """A row a figure and scheduler; what cannot be known is null."""
    return [
        _row(figure, name, _base(figure, base))
        for figure in found
        for name in schedulers([figure], base)
    ]


def _row(figure: Figure, name: str, base: str) -> dict[str, Any]:
    summary, difference = figure.summary(name), figure.difference(base, name)
    row = {
        "workload": figure.workload,
        "figure": figure.name,
        "scheduler": name,
        "base": base,
        "unit": figure.unit,
        "better": figure.better,
        "meaning": figure.meaning,
        "kernel": figure.kernels[name].release if name in figure.kernels else "",
        "preemption": figure.kernels[name].preemption if name in figure.kernels else "",
        **asdict(summary),
        **{f"gain_{key}": value for key, value in asdict(difference).items()},
        "values": figure.values[name],
    }
    return {key: _known(value) for key, value in row.items()}


def _base(figure: Figure, base: str) -> str:
    return schedulers([figure], base)[0]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_csv(found: Sequence[Figure], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["workload", "figure", "unit", "better", "meaning", "scheduler", "run", "value"]
        )
        for figure in found:
            about = [figure.workload, figure.name, figure.unit, figure.better, figure.meaning]
            for name, values in figure.values.items():
                writer.writerows(
                    [*about, name, number, value] for number, value in enumerate(values, 1)
                )
