# SPDX-License-Identifier: GPL-2.0
"""What is run, in which order, and what is left of an interrupted bench."""

import json
import subprocess

import pytest

from saakm.base.errors import GuestDied, SaakmError
from saakm.lab.bench import metric, packages, schedulers, script, store, workloads
from saakm.lab.bench.rounds import plan
from saakm.lab.bench.runner import MILLIONS, Bench, do_all
from saakm.lab.bench.schedulers import Scheduler
from saakm.model.results import Shape
from saakm.model.workload import load_all, read
from saakm.vm.guest import Result

KNOWN = load_all()
MINIMAL = """
name = "w"
what = "does something"
packages = []
input = "small"
[[variant]]
name = "v"
command = "run {point}"
"""
EEVDF, FIFO = Scheduler("eevdf", (), 0, ""), Scheduler("fifo", ("in", "fifo"), 8, "b")


def workload(tmp_path, text=MINIMAL):
    (tmp_path / "w.toml").write_text(text)
    return read(tmp_path / "w.toml")


# --- workload files ---


@pytest.mark.parametrize("name", KNOWN)
def test_each_workload_says_what_its_figure_is(name):
    one = KNOWN[name]
    assert one.input and one.what and one.variants
    for variant in one.variants:
        assert variant.timeout <= 300 and variant.unit and "{point}" not in variant.command


@pytest.mark.parametrize("name", KNOWN)
def test_shell_syntax(name):
    for variant in KNOWN[name].variants:
        text = (
            script.one_run(variant.command, ("in", "it"), 9, "/x", trace="/t")
            + "\n"
            + ("true\n" + variant.setup + "\n" + variant.command)
        )
        done = subprocess.run(["dash", "-n"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('input = "small"\n', ""), "required field `input`"),
        (('input = "small"', 'input = "small"\nspeed = 1'), "unknown field `speed`"),
        (('name = "w"', 'name = "x"'), "its file 'w'"),
        (('input = "small"', 'input = "small"\nbetter = "more"'), "'more' - at `better`"),
        (('input = "small"', 'input = "small"\nmetric = "no group"'), "needs one group"),
        (('name = "w"', "name = "), "Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, change, why):
    with pytest.raises(SaakmError) as error:
        workload(tmp_path, MINIMAL.replace(*change))
    assert why in error.value.why


def test_points_make_variants(tmp_path):
    one = workload(tmp_path, MINIMAL + "points = [1, 4]\n")
    assert [(v.name, v.command) for v in one.variants] == [("v-1", "run 1"), ("v-4", "run 4")]
    assert len({v.definition for v in one.variants}) == 2


def test_choice():
    names = [v.name for v in workloads.choose(["hackbench:thread-pipes", "perf-sched:pipe"], KNOWN)]
    assert names == ["thread-pipes-1", "thread-pipes-2", "thread-pipes-4", "pipe"]
    assert len(workloads.choose(["hackbench:thread-pipes-2"] * 2, KNOWN)) == 1
    with pytest.raises(SaakmError, match="no workload 'nosuch'"):
        workloads.choose(["nosuch"], KNOWN)
    with pytest.raises(SaakmError, match="no variant 'nosuch'"):
        workloads.choose(["hackbench:nosuch"], KNOWN)


def test_schedulers_are_checked():
    assert list(schedulers.chosen(["fifo", "eevdf"])) == ["fifo", "eevdf"]
    assert list(schedulers.chosen([])) == ["eevdf", "scx_fifo", "fifo"]
    with pytest.raises(SaakmError, match="no scheduler 'cfs'"):
        schedulers.chosen(["cfs"])


# --- figures in what programs print ---


@pytest.mark.parametrize(
    ("what", "printed", "value"),
    [
        ("hackbench:process-pipes-1", "Running...\nTime: 0.345\n", 0.345),
        ("perf-sched:pipe", "     Total time: 1.234 [sec]\n", 1.234),
        ("nginx:wrk-20", "Requests/sec:   5123.45\nTransfer/sec: 6MB\n", 5123.45),
        (
            "postgresql:select",
            "latency average = 2 ms\ntps = 2100.5 (without initial connection time)\n",
            2100.5,
        ),
        (
            "redis:get",
            "GET: rps=0.0\n\nGET: 74074.07 requests per second, p50=0.1 msec\n",
            74074.07,
        ),
        ("x265:encode", "encoded 8 frames in 0.05s (149.16 fps), 99.9 kb/s\n", 149.16),
        ("stockfish:bench", "Nodes searched  : 3\nNodes/second    : 1388365\n", 1388365),
        (
            "dbench:tmpfs-1",
            "Throughput 121.503 MB/sec  1 clients  1 procs  max_latency=1 ms\n",
            121.503,
        ),
        ("sysbench:cpu", "    total time:                          0.0404s\n", 0.0404),
        # The mean of the threads' averages, and the worst of all.
        (
            "cyclictest:avg",
            "T: 0 C: 9 Min: 5 Act: 7 Avg: 10 Max: 90\nT: 1 C: 9 Min: 5 Act: 7 Avg: 20 Max: 30\n",
            15,
        ),
        (
            "cyclictest:max",
            "T: 0 C: 9 Min: 5 Act: 7 Avg: 10 Max: 90\nT: 1 C: 9 Min: 5 Act: 7 Avg: 20 Max: 30\n",
            90,
        ),
        ("dav1d:decode", "", 2.5),
    ],
)
def test_figures_are_found(what, printed, value):
    (variant,) = workloads.choose([what], KNOWN)
    assert metric.value_of(variant, printed, 2.5) == pytest.approx(value)


def test_a_missing_figure_shows_what_was_printed():
    (variant,) = workloads.choose(["perf-sched:pipe"], KNOWN)
    with pytest.raises(SaakmError, match="printed no figure") as error:
        metric.value_of(variant, "segmentation fault", 1)
    assert "segmentation fault" in error.value.why


def test_a_rate_of_nothing_is_a_failure():
    (variant,) = workloads.choose(["dbench:tmpfs-1"], KNOWN)
    with pytest.raises(SaakmError, match="got nothing done"):
        metric.value_of(variant, "Throughput 0 MB/sec  4 clients\n", 43)


def test_missing_packages_are_named():
    assert packages.missing(["dpkg", "no-such-package-here"]) == ["no-such-package-here"]
    assert packages.missing([]) == []


# --- the order ---


def test_every_round_runs_each_scheduler_once_in_an_order_by_seed():
    variants = workloads.choose(["perf-sched"], KNOWN)
    third = Scheduler("vtime", (), 8, "")
    runs = plan(variants, [EEVDF, FIFO, third], 5, True, 1)
    assert len(runs) == 2 * 6 * 3
    rounds = [runs[n : n + 3] for n in range(0, len(runs), 3)]
    for group in rounds:
        assert (
            len({run.scheduler.name for run in group}) == 3
            and len({run.round for run in group}) == 1
        )
    orders = {tuple(run.scheduler.name for run in group) for group in rounds}
    assert len(orders) > 1
    assert runs == plan(variants, [EEVDF, FIFO, third], 5, True, 1)
    assert runs != plan(variants, [EEVDF, FIFO, third], 5, True, 2)
    # Alone it runs as among others.
    assert plan(variants[1:], [EEVDF, FIFO, third], 5, True, 1) == runs[18:]


# --- an interrupted bench ---


class Place:
    """A machine that does what the test says."""

    kernel, machine, python_path = "k", Shape(on="guest", cpus=4), "/x"
    trace_there = ""

    @property
    def instructions(self):
        """Each run takes 50 millions, if it does nothing 10; the first finds cold caches."""
        nothing = sum("true" in text for text in self.ran)
        return (50 * len(self.ran) - 40 * nothing + (25 if nothing else 0)) * 10**6

    def __init__(self, results=()):
        self.results, self.boots, self.ran, self.running = list(results), 0, [], False

    def need(self, memory):
        pass

    def boot(self):
        self.boots, self.running = self.boots + 1, True

    def close(self):
        self.running = False

    def ejected(self):
        return []

    def said(self):
        return ""

    def run(self, text, timeout):
        self.ran.append(text)
        result = self.results.pop(0) if self.results else said()
        if isinstance(result, Exception):
            self.running = False
            raise result
        return result


def said(status=0, number=0, seconds=1.5, output=""):
    return Result(
        0,
        json.dumps(
            {
                "status": status,
                "output": output,
                "seconds": seconds,
                "user": 1,
                "system": 1,
                "switches": 1,
                "involuntary": 1,
                "classes": [number, number],
                "pid": 9,
            }
        ),
        "",
        2,
    )


class Progress:
    def advance(self):
        pass

    def describe(self, text):
        pass


def bench(tmp_path, place, runs_of=EEVDF, rounds=2):
    one = workload(tmp_path)
    known = {"w": one}
    kept = store.Store(tmp_path / "out")
    todo = Bench(place, known, False, False)
    runs = todo.todo(plan(one.variants, [runs_of], rounds, False, 1), kept.done())
    kept.begin(resume=True)
    do_all(todo, runs, kept.append, Progress())
    return todo, store.read(kept.path)


def test_what_is_done_is_not_done_again(tmp_path):
    first, second = Place(), Place()
    bench(tmp_path, first, rounds=2)
    _, records = bench(tmp_path, second, rounds=3)
    assert (len(first.ran), len(second.ran), len(records)) == (2, 1, 3)
    assert sorted(record.round for record in store.runs(records)) == [1, 2, 3]


def test_a_resumed_run_is_warmed_up_again_and_a_finished_one_not(tmp_path):
    one = workload(tmp_path)
    todo = Bench(Place(), {"w": one}, False, False)
    runs = plan(one.variants, [EEVDF], 2, True, 1)
    frames = [todo._frame(run) for run in runs]
    keys = [frame.key for frame in frames]
    assert [run.round for run in todo.todo(runs, set(keys[:2]))] == [0, 2]
    assert todo.todo(runs, set(keys[1:])) == []


@pytest.mark.parametrize(("boot_each", "boots"), [(False, 1), (True, 3)])
def test_input_is_prepared_once_a_boot(tmp_path, boot_each, boots):
    one = workload(tmp_path, MINIMAL.replace("[[variant]]", 'setup = "prepare it"\n[[variant]]'))
    place = Place()
    todo = Bench(place, {"w": one}, False, boot_each)
    do_all(todo, plan(one.variants, [EEVDF], 3, False, 1), lambda record: None, Progress())
    assert place.boots == boots
    assert sum("prepare it" in text for text in place.ran) == boots
    assert sum("saakm.guest.timed" in text for text in place.ran) == 3


@pytest.mark.parametrize("change", [{"kernel": "other"}, {"machine": Shape(on="guest", cpus=8)}])
def test_another_kernel_or_machine_is_another_run(tmp_path, change):
    bench(tmp_path, Place())
    place = Place()
    vars(place).update(change)
    _, records = bench(tmp_path, place)
    assert len(place.ran) == 2 and len(store.runs(records)) == 4


def test_a_dead_guest_is_recorded_booted_again_and_resumed(tmp_path):
    died = GuestDied("the guest died", "it panicked", "read on", "BUG: oops")
    place = Place([died])
    todo, records = bench(tmp_path, place)
    assert place.boots == 2 and records[0].error.endswith("BUG: oops")
    assert len(todo.failures) == 1 and records[1].value == 1.5
    _, records = bench(tmp_path, again := Place())
    assert len(again.ran) == 1 and not any(r.error for r in store.runs(records))


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (said(status=3, output="no such file"), "status 3: no such file"),
        (said(number=7), "not run under the scheduler"),
        (Result(124, "", "", 9), "did not end within 120 s"),
        (
            Result(125, "", "scx_fifo: loading the scheduler: EBUSY", 9),
            "could not be started: scx_fifo",
        ),
    ],
)
def test_failures_say_why(tmp_path, result, why):
    _, records = bench(tmp_path, Place([result]), rounds=1)
    assert why in records[0].error and records[0].value is None


def test_after_two_failures_a_scheduler_is_left_alone(tmp_path):
    _, records = bench(tmp_path, Place([said(status=1)] * 9), rounds=5)
    assert len(records) == 2


def test_a_torn_line_is_dropped_and_other_results_are_not_overwritten(tmp_path):
    _, records = bench(tmp_path, Place())
    file = tmp_path / "out" / store.FILE
    file.write_text(file.read_text() + '{"kind": "ru')
    with pytest.raises(SaakmError, match="has results already"):
        store.Store(tmp_path / "out").begin(resume=False)
    store.Store(tmp_path / "out").begin(resume=True)
    assert store.read(file) == records


def test_deterministic_time_is_a_cost(tmp_path):
    place = Place()
    place.machine = Shape(on="guest", cpus=4, deterministic=True)
    _, records = bench(tmp_path, place)
    # Without what starting takes, which is measured once a boot, and the first time for the caches.
    assert sum("true" in text for text in place.ran) == 2
    assert [(r.meaning, r.unit, r.value) for r in records] == [("cost", MILLIONS, 40)] * 2


def test_no_package_is_an_option_of_apt_get(monkeypatch):
    """Whatever has come past the workload's own check."""
    commands = []
    monkeypatch.setattr(packages, "missing", list)
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "run_logged", lambda command, *_, **__: commands.append(command))
    packages.ensure(["-oDPkg::Pre-Invoke::=id"])
    assert commands[-1][-2:] == ["--", "-oDPkg::Pre-Invoke::=id"]
