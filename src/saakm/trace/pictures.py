# SPDX-License-Identifier: GPL-2.0
"""Pictures of a timeline, one a file, each with one question as its title."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..view.plot import canvas, plain_numbers, save
from ..view.text import counted
from ..vm.topology import Topology
from . import turns
from .timeline import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 400  # of time, in maps
_MOST_THREADS = 40  # shown by name
_LLC: dict[str, Any] = {"color": "0.35", "lw": 1.2, "ls": "--"}
_SOCKET: dict[str, Any] = {"color": "black", "lw": 2.0}


PICTURES = 6  # at most


def draw(
    timeline: Timeline,
    topology: Topology,
    directory: Path,
    kind: str,
    title: str,
    clock: str,
    on_picture: Callable[[], None] = lambda: None,
) -> list[Path]:
    """`clock`: whose time it is."""
    pictures: dict[str, Callable[[Axes], None]] = {
        "migrations": lambda ax: _migrations(ax, timeline, topology),
        "residency": lambda ax: _residency(ax, timeline),
        "queues": lambda ax: _queues(ax, timeline),
        "latency": lambda ax: _latency(ax, timeline, clock),
        "share": lambda ax: _share(ax, timeline),
    }
    if not timeline.policy_id:
        del pictures["queues"]  # the queues are SaaKM's
    if timeline.gaps.starts_ns:
        pictures["turns"] = lambda ax: turns.draw(ax, timeline.gaps, clock)
    files = []
    for name, picture in pictures.items():
        # A square of CPUs would leave a third of a wide picture blank.
        figure, [axes] = canvas(1, 1, (6.2, 5.4) if name == "migrations" else (8, 5))
        picture(axes)
        figure.suptitle(title, fontsize=9, color="0.4")
        files.append(directory / f"{name}.{kind}")
        save(figure, files[-1:])
        on_picture()
    return files


def _seconds(timeline: Timeline) -> float:
    return max(timeline.end_ns - timeline.first_ns, 1) / 1e9


def _migrations(axes: "Axes", timeline: Timeline, topology: Topology) -> None:
    from matplotlib.ticker import MaxNLocator

    cpus = timeline.cpus
    matrix = np.zeros((cpus, cpus), dtype=int)
    for (origin, target), count in timeline.migrations.items():
        matrix[origin, target] = count
    image = axes.imshow(matrix, cmap="Blues", vmin=0)
    axes.figure.colorbar(image, label="migrations", ticks=MaxNLocator(integer=True))
    if cpus <= 16:
        for row, column in zip(*np.nonzero(matrix)):
            dark = matrix[row, column] > matrix.max() / 2
            color = "white" if dark else "black"
            axes.text(column, row, matrix[row, column], ha="center", va="center", color=color,
                      fontsize=8 if cpus <= 8 else 6)  # fmt: skip
    _borders(axes, topology)
    axes.set(title=f"Which CPUs exchange threads? {counted(matrix.sum(), 'migration')}",
             xlabel="to CPU", ylabel="from CPU")  # fmt: skip
    step = max(1, cpus // 16)
    axes.set_xticks(range(0, cpus, step))
    axes.set_yticks(range(0, cpus, step))


def _borders(axes: "Axes", topology: Topology) -> None:
    cache = topology.cores * topology.threads
    package = cache * topology.llcs
    for edge in range(cache, topology.cpus, cache):
        style = _LLC if edge % package else _SOCKET
        axes.axhline(edge - 0.5, **style)
        axes.axvline(edge - 0.5, **style)
    if topology.llcs > 1:
        axes.plot([], [], label="LLC", **_LLC)
    if topology.sockets > 1:
        axes.plot([], [], label="socket", **_SOCKET)
    if topology.llcs > 1 or topology.sockets > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2, frameon=False)


def _by_first_run(timeline: Timeline) -> list[int]:
    return list(dict.fromkeys(pid for pid, *_ in sorted(timeline.runs, key=lambda run: run[2])))


def _residency(axes: "Axes", timeline: Timeline) -> None:
    """Colour: the CPU on which a thread spent most of the time slot; white: nowhere."""
    pids = _by_first_run(timeline)
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    rows = {pid: row for row, pid in enumerate(pids)}
    spent = np.zeros((len(pids), _COLUMNS, timeline.cpus), dtype=np.float32)
    width = max(timeline.end_ns - timeline.first_ns, 1) / _COLUMNS
    for pid, cpu, begin, end in timeline.runs:
        _spread(spent[rows[pid], :, cpu], (begin - timeline.first_ns) / width,
                (end - timeline.first_ns) / width)  # fmt: skip
    where = np.ma.masked_where(spent.sum(axis=2) == 0, spent.argmax(axis=2))
    colors = colormaps["tab10" if timeline.cpus <= 10 else "turbo"]
    shades = [
        colors(c if timeline.cpus <= 10 else c / (timeline.cpus - 1)) for c in range(timeline.cpus)
    ]
    image = axes.imshow(
        where, aspect="auto", interpolation="nearest", cmap=ListedColormap(shades),
        vmin=-0.5, vmax=timeline.cpus - 0.5, extent=(0, _seconds(timeline), len(pids) - 0.5, -0.5),
    )  # fmt: skip
    step = max(1, timeline.cpus // 16)
    axes.figure.colorbar(image, label="CPU", ticks=range(0, timeline.cpus, step))
    axes.set(title=f"Where does each thread run? {counted(len(pids), 'thread')}", xlabel="seconds",
             ylabel="thread, by first run")  # fmt: skip
    every = math.ceil(len(pids) / _MOST_THREADS) or 1
    labels = [f"{timeline.names.get(pid, '?')} {pid}" for pid in pids[::every]]
    axes.set_yticks(range(0, len(pids), every), labels, fontsize=6)


def _spread(slots: np.ndarray, begin: float, end: float) -> None:
    """Adds the interval, in slots, to those that it touches."""
    first, last = int(begin), min(int(end), len(slots) - 1)
    if first >= last:
        slots[min(first, len(slots) - 1)] += end - begin
        return
    slots[first] += first + 1 - begin
    slots[first + 1 : last] += 1
    slots[last] += end - last


def _queues(axes: "Axes", timeline: Timeline) -> None:
    start = timeline.first_ns
    width = max(timeline.end_ns - start, 1) / _COLUMNS
    mean = np.zeros((timeline.cpus, _COLUMNS))
    for cpu, steps in timeline.queue.items():
        ends = [ns for ns, _ in steps[1:]] + [timeline.end_ns]
        for (ns, length), until in zip(steps, ends):
            if length and until > start:
                begin, end = (max(ns, start) - start) / width, (until - start) / width
                slots = np.zeros(int(end) - int(begin) + 1)
                _spread(slots, begin - int(begin), end - int(begin))
                last = min(int(begin) + len(slots), _COLUMNS)
                mean[cpu, int(begin) : last] += length * slots[: last - int(begin)]
    seconds = np.linspace(0, _seconds(timeline), _COLUMNS)
    axes.set(title="How many threads wait? READY, mean of each time slot", xlabel="seconds")
    if timeline.cpus <= 8:
        for cpu in range(timeline.cpus):
            axes.plot(seconds, mean[cpu], lw=0.9, label=f"CPU {cpu}")
        axes.set(ylabel="READY threads", xlim=(0, seconds[-1]))
        axes.set_ylim(bottom=0)
        axes.legend(
            ncols=8, fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.11)
        )
        return
    extent = (0, seconds[-1], timeline.cpus - 0.5, -0.5)
    image = axes.imshow(mean, aspect="auto", interpolation="nearest", cmap="magma_r", extent=extent)
    axes.figure.colorbar(image, label="READY threads")
    axes.set_ylabel("CPU")


def _latency(axes: "Axes", timeline: Timeline, clock: str) -> None:
    if not timeline.latencies_ns:
        axes.text(0.5, 0.5, "no thread was woken", ha="center", transform=axes.transAxes)
        return
    micros = np.sort(np.array(timeline.latencies_ns)) / 1000
    axes.plot(micros, np.arange(1, len(micros) + 1) / len(micros), drawstyle="steps-post")
    for percent in (50, 99):
        value = timeline.percentile_us(percent)
        axes.axvline(value, color="0.6", lw=0.8, ls="--")
        axes.annotate(
            f"p{percent}: {value:,.0f} us ", (value, 1.11 - percent / 120), fontsize=8, ha="right"
        )
    axes.set(title=f"How long from wakeup to CPU? {counted(len(micros), 'wakeup')}", xscale="log",
             xlabel=f"microseconds ({clock})", ylabel="part of the wakeups", ylim=(0, 1.01))  # fmt: skip
    plain_numbers(axes.xaxis)
    axes.grid(alpha=0.3)


def _share(axes: "Axes", timeline: Timeline) -> None:
    total = timeline.cpu_ns()
    whole = max(timeline.end_ns - timeline.first_ns, 1) / 100
    shown = total.most_common(_MOST_THREADS)
    rest = sum(total.values()) - sum(ns for _, ns in shown)
    labels = [f"{timeline.names.get(pid, '?')} {pid}" for pid, _ in shown]
    shares = [ns / whole for _, ns in shown]
    if rest:
        labels.append(f"mean of the other {len(total) - len(shown)}")
        shares.append(rest / whole / (len(total) - len(shown)))
    axes.barh(range(len(shares)), shares, color=["C0"] * len(shown) + ["0.6"] * bool(rest))
    axes.set_yticks(range(len(shares)), labels, fontsize=6)
    axes.invert_yaxis()
    axes.set(title=f"Who gets the CPUs? {counted(len(total), 'thread')}", xlabel="% of one CPU")
    axes.margins(y=0.01)
