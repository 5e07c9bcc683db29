# SPDX-License-Identifier: GPL-2.0
"""Where threads ran: recordings with known answers, how a machine is cut, and the table."""

import re

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import BadInput, SaakmError
from saakm.cli import app
from saakm.lab.bench import store
from saakm.lab.bench.environment import describe
from saakm.lab.bench.rounds import Run
from saakm.lab.bench.schedulers import Scheduler
from saakm.lab.placement import conduct, recorded, runner, table
from saakm.model import experiment
from saakm.model.placement import Placement
from saakm.model.results import Linux, Row, RunRecord, Shape
from saakm.model.workload import load_all
from saakm.trace.cut import cut
from saakm.vm.topology import parse_topology

ROOT, A, B, OTHER = 10, 11, 12, 99
IDLE, SLEEPS, PREEMPTED, ENDS = 0, 1, 256, 16
# 32 CPUs: 2 a core, 8 a cache, 16 a node; a virtual cache has 2 cores.
LARGE = cut(parse_topology("2s2l4c2t"), "2-2")


class Log:
    """Writes events as trace-cmd does; times are microseconds."""

    def __init__(self):
        self.lines, self.now = [], {}

    def event(self, us, cpu, name, fields):
        self.lines.append((us, f" x-1 [{cpu:03}] {us / 1e6:.9f}: {name}: {fields}\n"))

    def fork(self, us, parent, child):
        self.event(us, 0, "sched_process_fork",
                   f"parent_comm=p parent_pid={parent} child_comm=c child_pid={child}")  # fmt: skip

    def switch(self, us, cpu, following, state=0):
        """`state`: of whoever had the CPU."""
        prev = self.now.get(cpu, IDLE)
        self.now[cpu] = following
        self.event(us, cpu, "sched_switch",
                   f"prev_comm=a prev_pid={prev} prev_prio=120 prev_state={state} "
                   f"next_comm=b next_pid={following} next_prio=120")  # fmt: skip

    def turn(self, pid, cpu, begin, end, state):
        """Between two of the idle thread's."""
        self.switch(begin, cpu, pid)
        self.switch(end, cpu, IDLE, state)

    def wakeup(self, us, pid, cpu):
        self.event(us, 0, "sched_wakeup", f"comm=b pid={pid} prio=120 target_cpu={cpu}")

    def migrate(self, us, pid, origin, target):
        self.event(us, 0, "sched_migrate_task",
                   f"comm=b pid={pid} prio=120 orig_cpu={origin} dest_cpu={target}")  # fmt: skip

    def found(self, cut=LARGE):
        lines = [line for _, line in sorted(self.lines, key=lambda entry: entry[0])]
        return recorded.of_lines(lines, ROOT, cut)


@pytest.fixture
def log():
    return Log()


def test_a_thread_that_is_preempted_migrates_and_sleeps(log):
    log.fork(0, ROOT, A)
    log.switch(1000, 0, A)
    log.switch(5000, 0, OTHER, PREEMPTED)  # 4 ms
    log.migrate(5500, A, 0, 1)
    log.turn(A, 1, 6000, 8000, SLEEPS)  # 2 ms, in the same core
    log.wakeup(9000, A, 1)
    log.turn(A, 1, 9000, 10_000, IDLE)  # 1 ms, at the same place; it yields
    log.turn(A, 2, 10_000, 11_000, SLEEPS)  # 1 ms, another core of the virtual cache
    log.wakeup(12_000, A, 0)  # where the other one still is
    log.migrate(12_000, A, 2, 0)
    log.migrate(12_500, A, 0, 4)  # it is pulled
    log.turn(A, 4, 13_000, 16_000, SLEEPS)  # 3 ms, another virtual cache
    log.turn(A, 8, 17_000, 18_000, SLEEPS)  # 1 ms, another cache
    log.turn(A, 16, 20_000, 21_000, ENDS)  # 1 ms, another node
    found = log.found()
    assert found.migrations == {"core": 1, "vllc": 1, "llc": 1, "node": 1, "machine": 1}
    assert (found.threads, found.turns, found.preempted, found.moves) == (1, 7, 2, 3)
    assert found.life_s == pytest.approx(0.020) and found.cpu_s == pytest.approx(0.013)
    assert found.turn_us_mean == pytest.approx(13_000 / 7)
    assert found.turn_us_p50 == 1000 and found.turn_us_p99 == pytest.approx(3940)
    assert (found.wakeups, found.wakeups_on_idle) == (2, 1)
    # Of 13 ms 8 were in the first virtual cache.
    assert found.residency == pytest.approx(8 / 13)
    shares = {group: s for group, s in found.by_vllc.items() if s}
    assert shares == pytest.approx({"0-3": 0.008, "4-7": 0.003, "8-11": 0.001, "16-19": 0.001})


def test_threads_weigh_as_much_as_they_ran(log):
    """One stays for 9 ms; its child is half of 1 ms here and half there."""
    log.fork(0, ROOT, A)
    log.turn(A, 0, 0, 9000, ENDS)
    log.fork(10, A, B)
    log.turn(B, 1, 1000, 1500, SLEEPS)
    log.turn(B, 31, 2000, 2500, ENDS)
    found = log.found()
    assert found.threads == 2 and found.residency == pytest.approx((9 + 0.5) / 10)
    assert found.migrations == {"core": 0, "vllc": 0, "llc": 0, "node": 0, "machine": 1}
    assert found.life_s == pytest.approx(0.009 + 0.0015)


def test_others_do_not_count(log):
    """Neither who starts the command, nor who gets the number of one that has ended."""
    log.fork(0, ROOT, A)
    log.turn(ROOT, 0, 0, 100, SLEEPS)
    log.turn(A, 1, 0, 100, ENDS)
    log.turn(OTHER, 2, 0, 100, SLEEPS)
    log.fork(200, OTHER, A)
    log.turn(A, 5, 300, 5000, ENDS)
    log.wakeup(400, OTHER, 1)
    log.migrate(400, OTHER, 1, 2)
    found = log.found()
    assert (found.threads, found.turns, found.wakeups, found.moves) == (1, 1, 0, 0)
    assert found.cpu_s == pytest.approx(100e-6) and found.residency == 1


def test_who_is_woken_on_its_cpu_was_not_placed(log):
    log.fork(0, ROOT, A)
    log.switch(100, 0, A)
    log.wakeup(150, A, 0)
    log.switch(200, 0, IDLE, SLEEPS)
    assert log.found().wakeups == 0


def test_a_turn_that_does_not_end_has_time_and_no_length(log):
    log.fork(0, ROOT, A)
    log.turn(A, 0, 100, 200, SLEEPS)
    log.switch(300, 0, A)
    log.switch(1300, 1, OTHER)
    found = log.found()
    assert found.turns == 2 and found.turn_us_mean == found.turn_us_p99 == 100
    assert found.cpu_s == pytest.approx(1100e-6) and found.life_s == pytest.approx(1200e-6)


def test_what_is_not_whole_is_refused(log):
    log.fork(0, ROOT, A)
    lines = [line for _, line in log.lines]
    for lost in ("CPU:1 [LOST 7 EVENTS]\n", "CPU:1 [EVENTS DROPPED]\n"):
        with pytest.raises(SaakmError, match="not recorded whole") as error:
            recorded.of_lines([*lines, lost], ROOT, LARGE)
        assert "CPU 1 " in error.value.why and "`buffer`" in error.value.why
    with pytest.raises(SaakmError, match="without its threads"):
        log.found()


# --- a machine that is cut ---


@pytest.mark.parametrize(
    ("machine", "vllc", "groups"),
    [
        ("1s8c", "4-4", ("0-3", "4-7")),
        ("1s8c", "", ("0-7",)),
        ("2s4c", "4-4", ("0-3", "4-7")),
        ("1s4c2t", "2-2", ("0-3", "4-7")),
        ("1s8c", "3-5", ("0-3", "4-7")),  # 4 divides 8
        ("1s7c", "3-3", ("0-2", "3-6")),  # who is left over joins the last
        ("1s3c", "4-8", ("0-2",)),
        ("1s2l4c", "2-2", ("0-1", "2-3", "4-5", "6-7")),
        ("1s8c", ["0-1,6-7", "2-5"], ("0-1,6-7", "2-5")),
        ("2s2c", ["0", "1", "2-3"], ("0", "1", "2-3")),
    ],
)
def test_a_machine_is_cut(machine, vllc, groups):
    assert cut(parse_topology(machine), vllc).groups == groups


@pytest.mark.parametrize(
    ("machine", "distances"),
    [
        ("1s1c", []),
        ("1s8c", ["vllc", "llc"]),
        ("2s4c", ["vllc", "machine"]),
        ("1s2l4c", ["vllc", "node"]),
        ("2s2l8c2t", ["core", "vllc", "llc", "node", "machine"]),
    ],
)
def test_a_table_has_the_distances_that_there_are(machine, distances):
    assert cut(parse_topology(machine), "4-4").distances == distances


@pytest.mark.parametrize(
    ("vllc", "why"),
    [
        ("4", "not MIN-MAX"),
        ("5-4", "not MIN-MAX"),
        ("0-4", "not MIN-MAX"),
        (["0-3"], "CPU 4 is in no group"),
        ([], "CPU 0 is in no group"),
        (["0-3", "3-7"], "CPU 3 is in two groups"),
        (["0-3", "4-8"], "CPU 8 is none of the machine's 8"),
        (["0-1", "2-5", "6-7"], "do not share one"),
        (["all"], "'all' names no CPUs"),
        (["3-0"], "'3-0' names no CPUs"),
    ],
)
def test_what_cuts_no_cache_is_refused(vllc, why):
    with pytest.raises(BadInput) as error:
        cut(parse_topology("2s4c"), vllc)
    assert why in error.value.why


# --- runs ---

SPEC = experiment.Placement(
    workloads=("hackbench:process-pipes-3", "build:jobs"),
    schedulers=("fair", "rr"),
    seed=7,
    seeds=2,
)


def test_a_seed_is_a_round_and_a_number_may_be_another():
    _, variants = conduct._choose(SPEC)
    assert [one.name for one in variants] == ["process-pipes-3", "jobs-4"]
    assert "-g 3 " in variants[0].command
    fair, rr = Scheduler("fair", (), 0, ""), Scheduler("rr", (), 8, "b")
    runs = conduct.plan(SPEC, variants, [fair, rr])
    assert [run.round for run in runs] == [7] * 4 + [8] * 4
    # All that a scheduler is measured with comes together, as one may take minutes to start.
    assert [run.variant.name for run in runs] == ["process-pipes-3", "jobs-4"] * 4
    assert all(a.scheduler == b.scheduler for a, b in zip(runs[::2], runs[1::2]))
    assert {run.scheduler.name for run in runs[:4]} == {"fair", "rr"}


class Guest:
    """Runs everything at once, and says what was run."""

    kernel, linux, python_path, trace_there = "k", None, "/x", "/trace"
    instructions, boots, running, seed = 0, 0, False, 1
    machine = Shape(on="guest", cpus=8, deterministic=True, topology="1s8c", vllc=("0-3", "4-7"))
    cut = cut(parse_topology("1s8c"), "4-4")

    def __init__(self):
        self.ran, self.texts = [], []

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "seed":
            self.running = False

    def boot(self):
        self.running, self.boots = True, self.boots + 1

    def run(self, text, timeout):
        self.texts.append(text)
        what = "start" if "trace-cmd start" in text else "stop" if "trace-cmd stop" in text else ""
        command = re.search(r"printf '%s\\n' '?([^'\n]*?)'? >command", text)
        prefix = "rr: " if "in-rr" in text else ""
        self.ran.append(what or prefix + (command[1] if command else "setup"))
        self.instructions += 1_000_000 * (1 + len(self.ran))
        return Result(text)

    check = use = need = keep = lambda self, it: None
    ejected, said = lambda self: [], lambda self: ""

    def close(self):
        pass

    check_kept = close


class Result:
    def __init__(self, text):
        number = 8 if "in-rr" in text else 0
        self.status, self.stderr = 0, ""
        self.stdout = (
            '{"status": 0, "output": "Time: 0.5", "seconds": 2.5, "user": 1, "system": 1, '
            f'"switches": 3, "involuntary": 1, "classes": [{number}, {number}], "pid": 10}}'
        )

    def check(self):
        return self


FOUND = Placement(
    threads=2, life_s=4.0, cpu_s=2.0, turns=10, migrations={"vllc": 4, "llc": 2}, moves=8,
    residency=0.75, by_vllc={"0-3": 1.5, "4-7": 0.5}, turn_us_mean=200.0, turn_us_p50=100.0,
    turn_us_p99=900.0, preempted=5, wakeups=4, wakeups_on_idle=3,
)  # fmt: skip


def test_a_run_is_done_and_done_again_recorded(monkeypatch):
    """After one that fills caches, once a guest; the record is of that without recording."""
    guest = Guest()
    monkeypatch.setattr("saakm.vm.features.set_in", lambda *_: ())
    monkeypatch.setattr("saakm.vm.features.write", lambda *_: None)
    monkeypatch.setattr(recorded, "of_file", lambda path, root, cut: FOUND)
    guest.trace_here = None
    known = load_all()
    variant = next(v for v in known["hackbench"].variants if v.name == "process-pipes-1")
    bench = runner.Placed(guest, known, SPEC)
    schedulers = [Scheduler("fair", (), 0, ""), Scheduler("rr", ("in-rr",), 8, "b")]
    records = [bench.record(Run(variant, one, seed)) for seed in (1, 2) for one in schedulers]
    assert not bench.failures
    alone = [variant.command, "true", "true", variant.command, "start", variant.command, "stop"]
    beside = ["rr: " + word if word not in ("start", "stop") else word for word in alone[1:]]
    assert guest.ran == (alone + beside) * 2 and guest.boots == 2
    first = records[0]
    assert first.round == 1 and first.placement.seconds == 2.5 and first.machine.vllc
    # The others took a million more each time; a run that does nothing took 4.
    assert first.executed == 1 and first.placement.executed == 3


def test_one_guest_runs_all_workloads_and_a_scheduler_stays(monkeypatch):
    """Commands run without what starts it; that is in force already."""
    kept: list[tuple[str, ...]] = []
    guest = Guest()
    monkeypatch.setattr(Guest, "keep", lambda self, starter: kept.append(starter))
    monkeypatch.setattr("saakm.vm.features.set_in", lambda *_: ())
    monkeypatch.setattr("saakm.vm.features.write", lambda *_: None)
    monkeypatch.setattr(recorded, "of_file", lambda path, root, cut: FOUND)
    guest.trace_here = None
    workloads, variants = conduct._choose(SPEC)
    bench = runner.Placed(guest, workloads, SPEC)
    one = Scheduler("rr", ("starts", "stays", "in-rr"), 8, "b", starter=("starts", "stays"))
    assert all(bench.record(run) for run in conduct.plan(SPEC, variants, [one]))
    assert not bench.failures and guest.boots == 2 and kept == [one.starter] * 4
    assert "starts" not in " ".join(guest.texts) and any("in-rr" in text for text in guest.texts)


# --- what is shown ---


def record(seed, scheduler="fair", **changes):
    variant = {"workload": "w", "variant": "v", "family": "v", "point": "", "definition": "d"}
    return RunRecord(
        **variant, scheduler=scheduler, build="", round=seed, traced=False, kernel="k",
        machine=Guest.machine, unit="s", better="lower", meaning="time", value=1.0,
        seconds=2.0, executed=100.0, switches=8,
        placement=replace(FOUND, executed=103.0), **changes,
    )  # fmt: skip


def asked(*schedulers):
    return describe("k", Guest.machine, list(schedulers), 1, "base", Linux())


def shown(directory, *records):
    kept = store.Store(directory)
    kept.begin(resume=True)
    for one in (asked("rr", "fair"), *records):
        kept.append(one)
    done = CliRunner().invoke(app, ["report", "--placement", str(directory)])
    assert done.exit_code == 0, done.output
    rows = [re.findall(r"[^|]+", line) for line in done.stdout.splitlines() if line[:1] == "|"]
    return {row[0].strip(): [one.strip() for one in row[1:]] for row in rows}, done.stdout


def test_the_table_has_means_and_intervals(tmp_path):
    moved = [replace(FOUND, migrations={"vllc": n, "llc": 0}) for n in (2, 4, 6)]
    found = [replace(record(seed), placement=one) for seed, one in enumerate(moved, 1)]
    rows, text = shown(tmp_path, *found, record(1, "rr", rows=(
        Row(table="waits", label="50th", value=7.0, unit="us", better="lower", meaning="time"),
    )))  # fmt: skip
    assert "w v, on 1s8c with the vLLCs 0-3 and 4-7, 3 seeds:" in text
    assert "| rr | fair |" in text and rows["waits 50th, us"] == ["7.00", ""]
    # Of 1, 2 and 3 the standard error is 0.5774, and t of two degrees 4.303: 2.484.
    # And the columns stand as they were asked for.
    assert rows["migrations inside a vLLC, a second"] == ["2.00", "2.0 ±2.5"]
    assert rows["migrations across vLLCs of a cache, a second"] == ["1.00", "0 ±0"]
    assert rows["residency, %"] == ["75.0", "75.0 ±0"]
    assert rows["CPU time in the vLLC 0-3, %"][0] == "75.0"
    assert rows["turns that ended runnable, %"][0] == "50.0"
    assert rows["these a second"][0] == "2.50"
    assert rows["sched_migrate_task a second"][0] == "4.00"
    assert rows["wakeups whose CPU idled, %"][0] == "75.0"
    assert rows["recording: more instructions, %"][0] == "3.00"
    assert rows["recording: more switches, %"][0] == "25.0"
    assert "across caches of a node" not in text


def test_columns_stand_as_was_asked_for_at_last(tmp_path):
    later = record(1, "fifo")
    _, text = shown(tmp_path, record(1), record(1, "rr"), asked("rr", "fifo", "fair"), later)
    assert "| rr | fifo | fair |" in text


def test_the_tables_of_the_page_are_what_is_printed():
    names = ("placement", "placement-sockets")
    results = [paths.REPO / "benchmarks" / "results" / name for name in names]
    printed = table.tables(results)
    page = (paths.REPO / "docs" / "explanation" / "lavd-placement.md").read_text()
    assert printed.count("seeds:") == 8 and page.endswith(printed + "\n")
    assert "Did not run" not in printed


def test_what_was_only_recorded_is_compared_with_nothing(tmp_path):
    one = record(1)
    _, text = shown(tmp_path, replace(one, placement=replace(one.placement, executed=100.0)))
    assert "recording" not in text


def test_runs_that_failed_are_named_and_those_of_no_placement_refused(tmp_path):
    failed = replace(record(1, "rr"), placement=None, value=None, error="it hangs\nfor long")
    _, text = shown(tmp_path, record(1), failed)
    assert "Did not run: rr: it hangs." in text
    with pytest.raises(BadInput, match="nothing to print a table of"):
        kept = store.Store(tmp_path / "bench")
        kept.begin(resume=True)
        kept.append(replace(record(1), placement=None))
        table.tables([tmp_path / "bench"])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], ""),
        ([1234.5], "1,234"),
        ([0.0012345], "0.0012"),
        ([0.0], "0"),
        ([0.0, 0.0], "0 ±0"),
        ([99.0, 101.0], "100 ±13"),
        ([0.5, 0.5], "0.500 ±0"),
        ([0.012, 0.013, 0.014], "0.0130 ±0.0025"),
    ],
)
def test_digits_that_count(values, text):
    assert table.cell(values) == text
