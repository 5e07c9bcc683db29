# SPDX-License-Identifier: GPL-2.0
"""What is made of the events of a run: a Perfetto trace, pictures, a summary."""

from collections.abc import Iterable
from pathlib import Path

from ..base.progress import meter
from ..model.trace_metadata import Recorded, Summary
from ..vm.topology import Topology
from .events import numbered_states, parse_events
from .timeline import Timeline

_STEP = 10_000  # events between two words on progress


def write_trace(lines: Iterable[str], recorded: Recorded, target: Path) -> Timeline:
    """`lines`: as trace-cmd prints them, or the simulator."""
    # Its protocol takes its time to load: only where it is needed.
    from .perfetto import Writer

    timeline = Timeline(recorded.policy_id, recorded.cpus)
    writer = Writer(target, recorded.policy_id, recorded.cpus, recorded.release, recorded.tgids)
    with meter("writing the trace", recorded.entries) as progress:
        for count, event in enumerate(map(numbered_states, parse_events(lines)), 1):
            timeline.add(event)
            writer.add(event)
            if count % _STEP == 0:
                progress.advance(_STEP)
    timeline.finish()
    writer.finish(timeline.end_ns, recorded.lost)
    return timeline


def draw_pictures(
    timeline: Timeline,
    topology: Topology,
    directory: Path,
    kind: str,
    title: str,
    clock: str = "guest time",
) -> list[Path]:
    # Matplotlib takes its time to load, too.
    from .pictures import PICTURES, draw

    with meter("drawing", PICTURES) as progress:
        return draw(timeline, topology, directory, kind, title, clock, progress.advance)


def summarise(
    policy: str, timeline: Timeline, recorded: Recorded, directory: Path, preemption: str = ""
) -> Summary:
    files = sorted(directory.glob("*.*"))
    return Summary(
        policy=policy,
        seconds=(timeline.end_ns - timeline.begin_ns) / 1e9,
        events=sum(timeline.counts.values()),
        lost=recorded.lost,
        threads=len({pid for pid, *_ in timeline.runs}),
        switches=timeline.switches,
        kernel_switches=recorded.policy.get("switches"),
        migrations=sum(timeline.migrations.values()),
        wakeups=len(timeline.latencies_ns),
        wakeup_us_p50=timeline.percentile_us(50),
        wakeup_us_p99=timeline.percentile_us(99),
        calls=dict(timeline.calls.most_common()),
        pid=recorded.pid,
        kernel=recorded.release,
        preemption=preemption,
        bytes={file.name: file.stat().st_size for file in files if file.name != "summary.json"},
    )
