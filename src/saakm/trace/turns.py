# SPDX-License-Identifier: GPL-2.0
"""A picture of some turns of each CPU, as a viewer of traces shows them: gaps are what one looks for."""

from typing import TYPE_CHECKING, Any

from .gaps import AGENT, IDLE, OTHER, WORK, Gaps, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TURNS = 8  # of threads of the command, on each CPU
# Light, so that a name is legible; neighbours differ.
_THREADS = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#ffff99", "#8dd3c7", "#fccde5", "#d9d9ef")
_STYLES: dict[str, dict[str, Any]] = {
    "gap": {"color": "#e31a1c"},
    AGENT: {"color": "black"},
    OTHER: {"color": "0.75"},
}
_LABELS = {
    "gap": "idle while the next thread waits",
    AGENT: "who decides",
    OTHER: "other threads",
}
_LETTER = 0.0075  # of the picture's width, at the size of names


def window(gaps: Gaps) -> tuple[int, int]:
    """From the one moment to the other: turns in the middle of the run, wherever that falls."""
    starts, shown = gaps.starts_ns, _TURNS * gaps.cpus
    first = max(0, (len(starts) - shown) // 2)
    last = min(first + shown, len(starts) - 1)
    end = starts[last] if last > first else gaps.end_ns
    return starts[first], end


def draw(axes: "Axes", gaps: Gaps, clock: str) -> None:
    begin, end = window(gaps)

    def bar(cpu: int, since: int, until: int, **style: Any) -> None:
        since, until = max(since, begin), min(until, end)
        axes.broken_barh([((since - begin) / 1000, (until - since) / 1000)], (cpu - 0.4, 0.8),
                         **style)  # fmt: skip

    spans = [span for span in gaps.spans if span.begin_ns < end and span.end_ns > begin]
    for gap in gaps.gaps:
        if gap.begin_ns < end and gap.end_ns > begin:
            bar(gap.cpu, gap.begin_ns, gap.end_ns, **_STYLES["gap"])
    for span in spans:
        if span.kind == WORK:
            shade = _THREADS[span.pid % len(_THREADS)]
            bar(span.cpu, span.begin_ns, span.end_ns, facecolor=shade, edgecolor="0.5", lw=0.4)
            _name(axes, gaps, span, begin, end)
        elif span.kind != IDLE:
            bar(span.cpu, span.begin_ns, span.end_ns, **_STYLES[span.kind])
    for kind, style in _STYLES.items():
        axes.barh(0, 0, label=_LABELS[kind], **style)
    axes.set(title="What is between two threads on a CPU? White: idle, and nobody waits for it",
             xlabel=f"microseconds ({clock})", ylabel="CPU", xlim=(0, (end - begin) / 1000))  # fmt: skip
    axes.set_yticks(range(gaps.cpus))
    axes.set_ylim(gaps.cpus - 0.5, -0.5)
    axes.legend(ncols=3, fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13))


def _name(axes: "Axes", gaps: Gaps, span: Span, begin: int, end: int) -> None:
    """Its thread's, where it has room."""
    since, until = max(span.begin_ns, begin), min(span.end_ns, end)
    name = gaps.names.get(span.pid, "")
    if (until - since) / (end - begin) > len(name) * _LETTER:
        middle = (since + until) / 2
        axes.text((middle - begin) / 1000, span.cpu, name, ha="center", va="center", fontsize=6)
