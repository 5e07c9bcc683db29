# SPDX-License-Identifier: GPL-2.0
"""How fast the simulator is: tables and curves of a page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.scale_rows import ScaleRow
from ...view.markdown import code, table
from ...view.plot import canvas, plain_numbers, save, without_frame
from .conduct import machine_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Figure:
    what: str
    value: Callable[[ScaleRow], float]
    form: str


FIGURES = (
    Figure("events a second", lambda row: row.events_a_second, "{:,.0f}"),
    Figure("CPU time of a simulated second, s", lambda row: row.cpu_of_a_second, "{:,.3f}"),
    Figure("memory at the most, MiB", lambda row: row.peak_kib / 1024, "{:,.0f}"),
)


@dataclass(frozen=True)
class Curve:
    """Rows in which one thing varies."""

    what: str
    rows: list[ScaleRow]
    value: Callable[[ScaleRow], int]

    @property
    def values(self) -> list[int]:
        return sorted({self.value(row) for row in self.rows})

    @property
    def policies(self) -> list[str]:
        return list(dict.fromkeys(row.policy for row in self.rows))


def curves(rows: list[ScaleRow]) -> list[Curve]:
    by_cpus = [row for row in rows if row.threads_a_cpu]
    by_threads = [row for row in rows if not row.threads_a_cpu]
    found = []
    if by_cpus:
        found.append(Curve(f"CPUs, {by_cpus[0].threads_a_cpu} threads a CPU", by_cpus, _cpus))
    if by_threads:
        found.append(Curve(f"threads, on {by_threads[0].cpus:,} CPUs", by_threads, _threads))
    return found


def _cpus(row: ScaleRow) -> int:
    return row.cpus


def _threads(row: ScaleRow) -> int:
    return row.threads


def section(name: str, rows: list[ScaleRow], image: Path) -> list[str]:
    found = curves(rows)
    draw(found, [image])
    return [
        "## The simulator: how fast it is, by CPUs and threads",
        _meaning(rows),
        *(part for curve in found for part in _tables(curve)),
        f"![the same as a picture]({image.name})",
        code(f"saakm lab {name}"),
    ]


def _meaning(rows: list[ScaleRow]) -> str:
    largest = max(rows, key=lambda row: row.cpus)
    rounds = rows[0].rounds
    of = f"medians of {rounds} rounds around all machines" if rounds > 1 else "of one run each"
    return (
        "The workload `churn` (`saakm sim --list`), with costs charged and without checks. An event is an "
        "interrupt, a timer's end, or that a thread has computed what it had to; their number is divided by "
        f"the CPU time of the process, its start and end included, {of}. On an idle host a simulated second "
        "takes as long as its CPU time; other work besides makes both longer, as most of it is loads from "
        f"memory. Machines have two threads a core and 128 CPUs a socket, as `{machine_of(largest.cpus)}`; "
        "what has less work is simulated for longer, up to 64 s. Threads are forked by others when the run "
        "begins, which takes simulated time: of 100,000 not all policies have all after a second."
    )


def _tables(curve: Curve) -> list[str]:
    parts = []
    for figure in (*FIGURES, _SWITCHES):
        lines = [
            [policy, *(_cell(curve, policy, value, figure) for value in curve.values)]
            for policy in curve.policies
        ]
        header = ["policy", *(f"{value:,}" for value in curve.values)]
        parts += [f"{figure.what}, by {curve.what}:", table(header, lines, figures=True)]
    return parts


_SWITCHES = Figure("switches a simulated second and CPU", lambda row: row.switches_a_cpu, "{:,.0f}")


def _cell(curve: Curve, policy: str, value: int, figure: Figure) -> str:
    for row in curve.rows:
        if row.policy == policy and curve.value(row) == value:
            return figure.form.format(figure.value(row))
    return ""


def draw(found: list[Curve], paths: list[Path]) -> None:
    columns = len(FIGURES)
    picture, panels = canvas(len(found) * columns, columns, (4.8, 3.8))
    pairs = [(curve, figure) for curve in found for figure in FIGURES]
    for panel, (curve, figure) in zip(panels, pairs):
        _panel(panel, curve, figure)
    handles = {str(line.get_label()): line for panel in panels for line in panel.get_lines()}
    picture.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=6, frameon=False
    )
    picture.suptitle("how fast the simulator is")
    save(picture, paths)


def _panel(panel: "Axes", curve: Curve, figure: Figure) -> None:
    for number, policy in enumerate(curve.policies):
        points = sorted(
            (curve.value(row), figure.value(row)) for row in curve.rows if row.policy == policy
        )
        panel.plot(*zip(*points), marker="o", markersize=4, color=f"C{number}", label=policy)
    values = curve.values
    panel.set_xscale("log", base=10 if values[0] % 10 == 0 else 2)
    panel.set_xticks(values, [f"{value:,}" for value in values], fontsize=8)
    panel.minorticks_off()
    if figure is FIGURES[0]:
        panel.set_ylim(bottom=0)
    else:
        panel.set_yscale("log")
    plain_numbers(panel.yaxis)
    panel.set_title(f"{figure.what},\nby {curve.what}", loc="left", fontsize=9)
    panel.grid(alpha=0.3)
    without_frame(panel, "top", "right")
