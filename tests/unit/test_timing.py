# SPDX-License-Identifier: GPL-2.0
"""How switches and waits are read from events, how they are compared, and how rt-app's start is played."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.commands import timing
from saakm.lab.timing import conduct
from saakm.lab.timing.case import Case, find, read_all
from saakm.lab.timing.compare import Row
from saakm.lab.timing.figures import Figures, read
from saakm.lab.timing.measure import measured
from saakm.lab.timing.simulated import RTAPP, as_started, simulate
from saakm.trace.events import parse_events
from saakm.workload.program_text import parse_text, to_text
from saakm.workload.rtapp import translate

MS = 1_000_000
BORN = """\
rt-app-7 [000] {at}: sched_process_fork: parent_comm=rt-app parent_pid=7 child_comm=rt-app child_pid=8
rt-app-7 [000] {at}: sched_process_fork: parent_comm=rt-app parent_pid=7 child_comm=rt-app child_pid=9
"""


def _wakeup(ms: float, pid: int) -> str:
    return f"x-0 [000] {int(ms * MS)}: sched_wakeup: comm=a pid={pid} prio=120 target_cpu=000\n"


def _switch(ms: float, prev: int, state: str, following: int) -> str:
    return (
        f"x-{prev} [000] {int(ms * MS)}: sched_switch: prev_comm=a prev_pid={prev} prev_prio=120 "
        f"prev_state={state} ==> next_comm=b next_pid={following} next_prio=120\n"
    )


def _figures(*lines: str) -> Figures:
    begin = [_wakeup(1, 8), _switch(1, 0, "R", 8), _switch(2, 8, "S", 0)]
    begin += [_wakeup(100, 8), _switch(100, 0, "R", 8)]
    events = list(parse_events("".join([BORN.format(at=1), *begin, *lines]).splitlines()))
    run = read(events, RTAPP, 4_000 * MS)
    assert (run.begin_ns, run.first_pid) == (100 * MS, 8)
    return run.figures


def test_a_wait_begins_with_the_wakeup():
    found = _figures(_wakeup(101, 9), _switch(104, 8, "S", 9))
    assert (found.switches, found.waits, found.wait_us_p50) == (2, 2, 1500)


def test_a_wait_begins_with_a_preemption():
    found = _figures(_wakeup(101, 9), _switch(101, 8, "R", 9), _switch(109, 9, "S", 8))
    assert (found.switches, found.waits, found.wait_us_p50) == (3, 3, 0)
    assert found.wait_us_p99 == pytest.approx(8000, rel=0.03)


def test_a_thread_of_the_kernels_own_counts_nowhere():
    found = _figures(
        _switch(101, 8, "R", 20), _switch(101.5, 20, "S", 21), _switch(102, 21, "S", 8)
    )
    assert found == Figures(switches=1, waits=1, wait_us_p50=0, wait_us_p99=0, interruptions=1)


def test_another_thread_after_an_interruption_is_a_switch():
    found = _figures(_wakeup(100.5, 9), _switch(101, 8, "R", 20), _switch(102, 20, "S", 9))
    assert (found.switches, found.waits, found.interruptions) == (2, 2, 0)
    assert found.wait_us_p50 == 750


def test_what_comes_when_rt_app_ends_does_not_count():
    late = 4_000 - 10
    found = _figures(
        _wakeup(101, 9), _switch(101, 8, "S", 9), _wakeup(late, 8), _switch(late, 9, "S", 8)
    )
    assert found.switches == 2


def test_a_run_that_never_began_is_a_fault():
    with pytest.raises(ValueError, match="never begun"):
        read(list(parse_events(BORN.format(at=1).splitlines())), RTAPP, MS)


def _row(**changes: float) -> Row:
    guest = Figures(1000, 1000, 2000.0, 8000.0, 0)
    return Row("mix", "rr", guest, (Figures(**{**vars(guest), **changes}),), guest)


def test_of_runs_that_begin_at_other_moments_the_median_counts():
    runs = tuple(Figures(n, 10 * n, 5.0 - n, 2.0, 0) for n in (3, 1, 2))
    row = Row("mix", "rr", runs[0], runs, replace(runs[0], switches=9))
    assert row.simulated == Figures(2, 20, 3.0, 2.0, 0)
    assert row.range_of("switches") == (1, 9)


@pytest.mark.parametrize(
    "changes, misses",
    [
        ({"switches": 1019, "wait_us_p50": 1905.0, "wait_us_p99": 8390.0}, ()),
        ({"switches": 1021}, ("switches",)),
        ({"switches": 979}, ("switches",)),
        ({"wait_us_p50": 1890.0}, ("wait_us_p50",)),
        ({"wait_us_p99": 8410.0}, ("wait_us_p99",)),
        ({"waits": 99}, ("waits",)),
    ],
)
def test_how_far_apart_they_may_be(changes, misses):
    assert _row(**changes).misses == misses


def test_every_file_is_one_that_both_take():
    assert len(read_all()) >= 6
    for case in read_all():
        assert case.duration_ns >= 1_000 * MS, case.name
        assert case.for_rtapp
        assert all(group.start_ns >= 100 * MS for group in case.program.groups), case.name
        assert parse_text(to_text(as_started(case.program, 0, 0)), case.name)


def test_a_file_is_found_by_its_name():
    assert find("mix") == find("mix.1s1c") == find(str(find("mix").file))
    with pytest.raises(SaakmError, match="no file 'mixed'"):
        find("mixed")


def test_all_threads_are_forked_by_one_of_the_policy():
    case = find("crowd")
    program = as_started(case.program, 5, 0)
    first, *others = program.groups
    assert (first.name, first.instances, first.start_ns) == (RTAPP, 1, 5)
    assert [op.operands[0] for op in first.ops if op.name == "fork"] == [one.name for one in others]
    assert all(group.inherit and not group.instances for group in others)


def test_runs_are_whole_loops_less_ticks_and_steps_come_before_locks():
    text = """{"tasks": {"a": {"delay": 100000, "loop": 1, "run": 4011, "suspend": "a", "lock": "m",
        "run1": 800, "signal": "c", "unlock": "m", "run2": 8, "sleep": 5}}}"""
    program = as_started(translate(text, "file", 1), 0, tick_ns=4_000)
    ops = [(op.name, *op.operands) for op in program.groups[1].ops]
    shown = [f"{name} {rest[0].numbers[0]}" if name == "run" else name for name, *rest in ops]
    begin = shown.index("sleep") + 1
    assert shown[begin : begin + 13] == [
        # 4,008 us less 1.002 ticks of 4 us; then the steps of `suspend`
        "run 4003992", "run 3300", "lock", "wait", "unlock",
        "run 1800", "lock", "run 799200", "signal", "unlock", "run 7992", "run 3300", "sleep",
    ]  # fmt: skip


def test_a_run_without_an_end_is_refused(tmp_path):
    file = tmp_path / "endless.1s1c.json"
    file.write_text('{"tasks": {"a": {"run": 1000, "sleep": 1000}}}')
    with pytest.raises(SaakmError, match="no end"):
        _ = Case(file).duration_ns


def test_the_phase_is_that_of_the_guest():
    found = simulate(find("short"), "rr", 1_234_567)
    assert abs(found.begin_ns % 4_000_000 - 1_234_567) < 1_000
    assert found.figures.waits > 1000


def test_the_command(tmp_path):
    listed = CliRunner().invoke(app, ["timing", "--list", "--json"])
    assert json.loads(listed.stdout) == [one.name for one in read_all()]
    for wrong in (
        ["timing", "nosuch"],
        ["timing", "mix", "--policies", "fifo,nosuch"],
        ["timing", "mix", "--policies", ","],
        ["timing", "mix", "--kept", str(tmp_path)],
        ["timing", "mix", "--kept", "here", "--keep", "there"],
    ):
        done = CliRunner().invoke(app, wrong)
        assert isinstance(done.exception, SaakmError), wrong
        assert not done.stdout


def test_the_command_compares_what_was_kept(monkeypatch):
    """The simulator's own run stands for a guest's; then one with twice the switches."""
    run = simulate(find("mix"), "fifo")
    monkeypatch.setattr(timing, "kept", lambda *_: run)
    given = ["timing", "mix", "--policies", "fifo", "--kept", "x"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    run = replace(run, figures=replace(run.figures, switches=2 * run.figures.switches))
    done = CliRunner().invoke(app, [*given, "--json"])
    assert done.exit_code == 1
    (row,) = json.loads(done.stdout)
    assert row["misses"] == ["switches"]
    assert row["simulated"]["switches"] < row["guest"]["switches"]


def test_what_is_kept_is_whole_and_of_the_same_file(tmp_path):
    case = find("mix")
    trace = "# tracer: nop\n" + BORN.format(at=1)
    place = tmp_path / "mix.1s1c.fifo.trace"
    end = conduct._end_of(case, "fifo")
    for text in ("", trace, f"{trace}{end}"[:-1], trace + conduct._end_of(case, "rr"), "\0\1"):
        place.write_text(text)
        with pytest.raises(SaakmError, match="is no run of mix.1s1c under fifo"):
            conduct.kept(tmp_path, case, "fifo")
        done = CliRunner().invoke(
            app, ["timing", "mix", "--policies", "fifo", "--kept", str(tmp_path)]
        )
        assert done.exception.status == 2
    place.unlink()
    place.mkdir()
    with pytest.raises(SaakmError, match="there is no such file"):
        conduct.kept(tmp_path, case, "fifo")
    place.rmdir()
    place.write_text(trace + end)
    with pytest.raises(ValueError, match="never begun"):  # it was read
        conduct.kept(tmp_path, case, "fifo")


def test_own_steps_are_measured(tmp_path):
    with pytest.raises(SaakmError, match="no run under fifo"):
        measured(tmp_path)
    births = [BORN.splitlines(keepends=True)[0].format(at=us * 1000) for us in (10, 66)]
    lines = [birth.replace("pid=8", f"pid={pid}") for birth, pid in zip(births, (8, 9))]
    # Each runs for 488 us and 4 more, or 648; the time before, and without the CPU, does not count.
    for number in range(10):
        at = 1 + number * 10
        lines += [
            _switch(at, 0, "R", 8),
            _switch(at + 0.2, 8, "R", 20),
            _switch(at + 1, 20, "S", 8),
        ]
        lines += [_switch(at + 1.292, 8, "S", 9), _switch(at + 1.292 + 0.652, 9, "S", 0)]
    lines += [_wakeup(200, 9).replace("target_cpu=000", "target_cpu=001")]
    lines += [_switch(150, 9, "S", 0).replace("[000]", "[001]")]
    lines += [_switch(200.004, 0, "R", 9).replace("[000]", "[001]")]
    lines[-3:] = lines[-2], lines[-3], lines[-1]
    (tmp_path / "short.1s1c.fifo.trace").write_text("".join(lines))
    found = measured(tmp_path)
    assert (found["fork"], found["wakeup"]) == ([56_000], [4_000])
    assert found["first steps"] == [492_000, 652_000]
    assert found["own steps"] == [4_000] * 8
