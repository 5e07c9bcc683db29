# SPDX-License-Identifier: GPL-2.0
"""What several recordings of saakm trace say of gaps and of decisions, side by side."""

from collections.abc import Sequence
from pathlib import Path

from ...base.errors import BadInput
from ...model.schema import read_json
from ...model.trace_metadata import Summary
from ...view.markdown import table

_GAPS = ("turns", "gaps", "p50, us", "p90, us", "p99, us", "most, us", "idle, %", "agent, %")
_DECISIONS = (
    "decisions", "a second", "turns without", "p50, us", "p99, us", "most, us", "to the CPU p50, us",
    "p99, us",
)  # fmt: skip


def tables(directories: Sequence[Path]) -> str:
    found = [_read(directory) for directory in directories]
    parts = []
    if gaps := [_gaps(one) for one in found if one.gaps]:
        parts += ["Gaps:", table([*_NAMES, *_GAPS], gaps, figures=True)]
    if decisions := [_decisions(one) for one in found if one.decisions]:
        parts += ["Decisions:", table([*_NAMES, *_DECISIONS], decisions, figures=True)]
    if not parts:
        raise BadInput(
            "there are neither gaps nor decisions to print tables of",
            "an older version recorded what was given",
            "record it anew: saakm trace POLICY -o DIR -- COMMAND",
        )
    return "\n\n".join(parts)


_NAMES = ("scheduler", "machine")


def _read(directory: Path) -> Summary:
    hint = "name directories that saakm trace --output has written"
    return read_json(directory / "summary.json", Summary, "the summary of a trace", hint)


def _named(one: Summary) -> list[str]:
    lost = f", {one.lost:,} events lost" if one.lost else ""
    return [one.scheduler or one.policy, one.topology + lost]


def _gaps(one: Summary) -> list[str]:
    gaps = one.gaps
    assert gaps
    us = [f"{value:,.1f}" for value in (gaps.us_p50, gaps.us_p90, gaps.us_p99, gaps.us_max)]
    percent = [f"{value:.2f}" for value in (gaps.idle_percent, gaps.agent_percent)]
    return [*_named(one), f"{gaps.starts:,}", f"{gaps.gaps:,}", *us, *percent]


def _decisions(one: Summary) -> list[str]:
    found = one.decisions
    assert found
    counts = [f"{count:,.0f}" for count in (found.decisions, found.per_second, found.undecided)]
    values = (found.us_p50, found.us_p99, found.us_max, found.run_us_p50, found.run_us_p99)
    return [*_named(one), *counts, *(f"{value:,.1f}" for value in values)]
