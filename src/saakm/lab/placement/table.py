# SPDX-License-Identifier: GPL-2.0
"""Tables of where threads ran: a table a workload and machine, a column a scheduler."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import BadInput
from ...model.placement import Placement
from ...model.results import RunRecord, Shape
from ...trace import cut
from ...view.markdown import table
from ...view.text import counted
from ..bench import stats, store
from ..bench.columns import column_of, refuse_mixture
from ..bench.runner import MILLIONS

RULE = (
    "Means over the seeds, with the half of their intervals at 95 % (Student's t). A turn is the "
    "time from the switch to a thread until the switch from it; it is a migration if it begins on "
    "another CPU than the thread's last one ended on. A second is one of the threads' CPU time."
)
_MIGRATIONS = {
    cut.CORE: "within a core",
    cut.VLLC: "inside a vLLC",
    cut.LLC: "across vLLCs of a cache",
    cut.NODE: "across caches of a node",
    cut.MACHINE: "across nodes",
}
Value = Callable[[RunRecord], float | None]


@dataclass(frozen=True)
class _Row:
    name: str
    value: Value  # None where a run has none


def tables(directories: Sequence[Path]) -> str:
    """Markdown. Of each run the latest record counts."""
    lines = [line for path in directories for line in store.read(path)]
    records = store.runs(lines)
    ours = [one for one in records if one.placement or (one.error and one.machine.vllc)]
    if not any(one.placement for one in ours):
        raise BadInput(
            "there is nothing to print a table of",
            "no run in what was given says where its threads ran",
            "name directories that an experiment with [placement] has written: saakm lab",
        )
    # An experiment may have got more schedulers since it was begun: the latest list counts first.
    asked = reversed(store.environments(lines))
    order = dict.fromkeys(name for one in asked for name in one.schedulers)
    parts = [RULE]
    for group in _groups(ours):
        parts += _section(group, list(order))
    return "\n\n".join(parts)


def _groups(records: Sequence[RunRecord]) -> list[list[RunRecord]]:
    found: dict[tuple[str, str, str | None, object], list[RunRecord]] = {}
    for one in records:
        where = (one.workload, one.variant, one.machine.topology, one.machine.vllc)
        found.setdefault(where, []).append(one)
    return list(found.values())


def _section(group: Sequence[RunRecord], order: Sequence[str]) -> list[str]:
    """`order`: of the schedulers, as they were asked for; chance has run them in another one."""
    column = column_of(group)
    by_name: dict[str, list[RunRecord]] = {}
    refuse_mixture(group)
    place = {name: nth for nth, name in enumerate(order)}
    for one in sorted(group, key=lambda one: place.get(one.scheduler, len(place))):
        if one.placement:
            by_name.setdefault(column(one), []).append(one)
    parts = []
    if by_name:
        all_runs = [one for runs in by_name.values() for one in runs]
        first = all_runs[0]
        seeds = max(len(runs) for runs in by_name.values())
        parts = [f"{first.workload} {first.variant}, {_machine(first.machine, seeds)}:"]
        lines = [_line(row, by_name) for row in _rows(all_runs)]
        parts.append(table(["", *by_name], [line for line in lines if line], figures=True))
    failed = [one for one in group if one.error]
    if failed:
        said = {f"{column(one)}: {(one.error or '').splitlines()[0]}" for one in failed}
        parts.append("Did not run: " + "; ".join(sorted(said)) + ".")
    return parts


def _machine(shape: Shape, seeds: int) -> str:
    groups = " and ".join(shape.vllc or ())
    return f"on {shape.topology} with the vLLCs {groups}, {counted(seeds, 'seed')}"


def _line(row: _Row, by_name: dict[str, list[RunRecord]]) -> list[str]:
    cells = []
    for runs in by_name.values():
        values = [value for one in runs if (value := row.value(one)) is not None]
        cells.append(cell(values))
    return [row.name, *cells] if any(cells) else []


def cell(values: Sequence[float]) -> str:
    """The mean with its interval's half, of which two digits count; of the mean alone three."""
    if not values:
        return ""
    summary = stats.summarise(values, "lower")
    half = summary.high - summary.mean
    size = half if half > 0 else abs(summary.mean) / 10
    digits = min(max(1 - math.floor(math.log10(size)), 0), 4) if size else 0
    text = f"{summary.mean:,.{digits}f}"
    return text if math.isnan(half) else f"{text} ±{half:,.{digits if half else 0}f}"


def _of(value: Callable[[Placement], float]) -> Value:
    return lambda one: value(one.placement) if one.placement else None


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _a_second(count: float, one: Placement) -> float:
    """Lives have leaps of the clock in them, while files come from the host; CPU time has not."""
    return count / one.cpu_s if one.cpu_s else 0.0


def _rows(runs: Sequence[RunRecord]) -> list[_Row]:
    first = runs[0].placement
    assert first
    return [
        _Row("CPU time of the threads, s", _of(lambda one: one.cpu_s)),
        _Row("turns", _of(lambda one: one.turns)),
        *(_migration(name) for name in first.migrations),
        _Row(
            "turns that are migrations, %",
            _of(lambda one: _percent(sum(one.migrations.values()), one.turns)),
        ),
        _Row("sched_migrate_task a second", _of(lambda p: _a_second(p.moves, p))),
        _Row("residency, %", _of(lambda one: 100 * one.residency)),
        *(_share(group) for group in first.by_vllc),
        _Row("turn, mean, us", _of(lambda one: one.turn_us_mean)),
        _Row("turn, 50th, us", _of(lambda one: one.turn_us_p50)),
        _Row("turn, 99th, us", _of(lambda one: one.turn_us_p99)),
        _Row("turns that ended runnable, %", _of(lambda one: _percent(one.preempted, one.turns))),
        _Row("these a second", _of(lambda one: _a_second(one.preempted, one))),
        _Row("wakeups whose CPU idled, %", _of(lambda p: _percent(p.wakeups_on_idle, p.wakeups))),
        *_yields(runs),
        _Row("recording: more instructions, %", _more_instructions),
        _Row("recording: more switches, %", _more_switches),
    ]


def _migration(name: str) -> _Row:
    what = f"migrations {_MIGRATIONS[name]}, a second"
    return _Row(what, _of(lambda one: _a_second(one.migrations[name], one)))


def _share(group: str) -> _Row:
    def value(one: Placement) -> float:
        return _percent(one.by_vllc.get(group, 0.0), one.cpu_s)

    return _Row(f"CPU time in the vLLC {group}, %", _of(value))


def _yields(runs: Sequence[RunRecord]) -> list[_Row]:
    """What the workload says itself, and what any run says."""
    rows = [_Row("time of the run, s", lambda one: one.seconds)]
    rows.append(_Row("instructions of the run, M", lambda one: one.executed))
    own = dict.fromkeys((row.table, row.label, row.unit) for one in runs for row in one.rows)
    if not own and runs[0].unit != MILLIONS:
        rows.append(_Row(f"figure, {runs[0].unit}", lambda one: one.value))
    return rows + [_own(*names) for names in own]


def _own(title: str, label: str, unit: str) -> _Row:
    def value(one: RunRecord) -> float | None:
        found = [row.value for row in one.rows if (row.table, row.label) == (title, label)]
        return found[0] if found else None

    return _Row(f"{title} {label}, {unit}", value)


def _more_instructions(one: RunRecord) -> float | None:
    if not (one.placement and one.executed) or _is_recorded_only(one):
        return None
    return 100 * (one.placement.executed / one.executed - 1)


def _more_switches(one: RunRecord) -> float | None:
    """A turn ends with one."""
    if not (one.placement and one.switches) or _is_recorded_only(one):
        return None
    return 100 * (one.placement.turns / one.switches - 1)


def _is_recorded_only(one: RunRecord) -> bool:
    """The figures beside are of the same run, to the instruction."""
    return one.placement is not None and one.placement.executed == one.executed
