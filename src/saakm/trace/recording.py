# SPDX-License-Identifier: GPL-2.0
"""What is made of the events of a run: a Perfetto trace, pictures, a summary."""

from collections.abc import Iterable
from pathlib import Path

from ..base.progress import meter
from ..model import trace_metadata as kept
from ..model.trace_metadata import Recorded, Summary
from ..vm.topology import Topology
from .decisions import Decisions
from .events import numbered_states, parse_events
from .gaps import Gaps
from .timeline import Timeline
from .waits import percentiles_us

_STEP = 10_000  # events between two words on progress


def write_trace(lines: Iterable[str], recorded: Recorded, target: Path) -> Timeline:
    """`lines`: as trace-cmd prints them, or the simulator."""
    # Its protocol takes its time to load: only where it is needed.
    from .perfetto import Writer

    timeline = Timeline(recorded.policy_id, recorded.cpus, recorded.pid, recorded.starter)
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
        gaps=_of_gaps(timeline.gaps),
        decisions=_of_decisions(timeline.decisions, timeline.gaps.ours),
        bytes={file.name: file.stat().st_size for file in files if file.name != "summary.json"},
    )


def _of_gaps(gaps: Gaps) -> kept.Gaps | None:
    if not (wanted := gaps.wanted_ns):
        return None
    found = [gap.ns for gap in gaps.gaps]
    p50, p90, p99 = _percentiles(found, 50, 90, 99)
    return kept.Gaps(
        starts=len(gaps.starts_ns),
        gaps=len(found),
        us_p50=p50,
        us_p90=p90,
        us_p99=p99,
        us_max=max(found, default=0) / 1000,
        idle_percent=100 * gaps.idle_ns / wanted,
        agent_percent=100 * gaps.agent_ns / wanted,
    )


def _of_decisions(decisions: Decisions, ours: set[int]) -> kept.Decisions | None:
    """`ours`: threads of the command; the agent's own need none."""
    found = decisions.decision_ns
    if not found:
        return None
    p50, p99 = _percentiles(found, 50, 99)
    run_p50, run_p99 = _percentiles(decisions.run_ns, 50, 99)
    return kept.Decisions(
        decisions=len(found),
        undecided=sum(count for pid, count in decisions.undecided.items() if pid in ours),
        per_second=decisions.per_second,
        us_p50=p50,
        us_p99=p99,
        us_max=max(found) / 1000,
        run_us_p50=run_p50,
        run_us_p99=run_p99,
    )


def _percentiles(found: list[int], *percents: float) -> list[float]:
    return [round(us, 3) for us in percentiles_us(found, percents)]
