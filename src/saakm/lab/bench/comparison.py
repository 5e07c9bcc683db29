# SPDX-License-Identifier: GPL-2.0
"""Comparisons on a terminal: the kernel's tables, then who won and lost."""

import math
import statistics
from collections.abc import Sequence

from rich.console import Console

from ...view import terminal
from . import stats
from .figures import Figure, Tally, schedulers, tally
from .kernel_table import number, plain

RULE = (
    "Better is positive. Stars: more than noise, by Welch's t-test (p < 0.05) between the runs; "
    "rates are compared as the times they are the inverse of. CI95: where the mean lies, "
    "Student's t at 95 %. Stddev: between the runs, or of what a run measures many times, within them. Switches: context switches of its processes, more or fewer."
)
_STYLES = {stats.WON: "green", stats.LOST: "red", stats.NOISE: "dim", stats.UNKNOWN: "yellow"}
MEANINGS = {
    "cost": "cost: instructions that all CPUs executed; of what a program measures itself, as a rate, by "
    "a clock that counts 1,000 million of them a second, and leaps while all CPUs idle",
    "time": "time: only the ratio of runs side by side means something, and in an emulated "
    "machine neither caches nor memory cost what they do on a real one",
    "behaviour": "behaviour: what the scheduler did; latencies in an emulated machine are wall "
    "times of its emulation",
}


def show(found: Sequence[Figure], base: str, console: Console) -> None:
    names = schedulers(found, base)
    terminal.widened(console)
    console.print(plain(found, names), highlight=False, markup=False, soft_wrap=True)
    for line in kernels(found):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for name in names[1:]:
        console.print()
        _show_tally(found, tally(found, names[0], name), console)
    console.print()
    for line in [RULE, *meanings(found)]:
        console.print(line, style="dim", highlight=False)


def kernels(found: Sequence[Figure]) -> list[str]:
    """What the columns ran on, as far as their results say it."""
    columns: dict[str, list[str]] = {}
    for figure in found:
        for name, linux in figure.kernels.items():
            if str(linux) and name not in columns.setdefault(str(linux), []):
                columns[str(linux)].append(name)
    if len(columns) == 1:
        return list(columns)
    return [f"{', '.join(sorted(names))}: {kernel}" for kernel, names in sorted(columns.items())]


def meanings(found: Sequence[Figure]) -> list[str]:
    return [text for name, text in MEANINGS.items() if any(f.meaning == name for f in found)]


def _show_tally(found: Sequence[Figure], result: Tally, console: Console) -> None:
    if not result.differences:
        return
    figures = (result.base, result.scheduler, "gain", "95 %", "switches")
    shown = terminal.table(
        f"{result.scheduler} against {result.base}",
        terminal.label("workload"),
        *map(terminal.figure, figures),
        terminal.label("verdict"),
    )
    for figure in found:
        if figure.name not in result.differences:
            continue
        difference = result.differences[figure.name]
        shown.add_row(figure.name, *gain_cells(figure, result), style=_STYLES[difference.verdict])
    console.print(shown, crop=False)
    console.print(sentence(result), highlight=False)


def gain_cells(figure: Figure, result: Tally) -> list[str]:
    """Both means with their deviations, the gain, its interval, how many context switches more, and
    the verdict."""
    difference = result.differences[figure.name]
    means = []
    for name in (result.base, result.scheduler):
        summary = figure.summary(name)
        means.append(
            number(summary.mean)
            + ("" if math.isnan(summary.stddev) else f" ±{number(summary.stddev, summary.mean)}")
        )
    interval = (
        "" if math.isnan(difference.low) else f"{difference.low:+.2f} .. {difference.high:+.2f}"
    )
    verdict = difference.verdict
    if not math.isnan(difference.p):
        verdict += f" (p = {difference.p:.2g})" if verdict == stats.NOISE else ""
    more = figure.more_switches(result.base, result.scheduler)
    switches = "" if math.isnan(more) else f"{more:+.0f}%"
    return [*means, f"{difference.percent:+.2f}%", interval, switches, verdict]


def sentence(result: Tally) -> str:
    counts = [
        (result.count(verdict), verdict)
        for verdict in (stats.WON, stats.LOST, stats.NOISE, stats.UNKNOWN)
    ]
    text = f"{result.scheduler}: " + ", ".join(f"{n} {verdict}" for n, verdict in counts if n)
    if result.gains:
        text += (
            f"; mean gain {statistics.fmean(result.gains):+.2f} %, "
            f"median {statistics.median(result.gains):+.2f} %"
        )
    if result.by_chance >= 0.5:
        text += f"; some {result.by_chance:.0f} of these would win or lose by chance alone"
    return text + "."
