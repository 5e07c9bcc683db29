# SPDX-License-Identifier: GPL-2.0
"""What is run, in which order, and what is left of an interrupted bench."""

import io
import json
import math
import os
import re
import shlex
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from call import saakm
from msgspec.structs import replace
from rich.console import Console

from saakm.base import paths
from saakm.base.errors import GuestDied, SaakmError
from saakm.lab.bench import (
    listing,
    metric,
    packages,
    schedulers,
    script,
    store,
    workloads,
)
from saakm.lab.bench.conduct import check, conduct
from saakm.lab.bench.figures import Figure, figures
from saakm.lab.bench.figures import schedulers as schedulers_of
from saakm.lab.bench.in_guest import InGuest
from saakm.lab.bench.on_host import OnHost
from saakm.lab.bench.rounds import Run, plan
from saakm.lab.bench.runner import MILLIONS, Bench, do_all
from saakm.lab.bench.schedulers import Scheduler
from saakm.model import experiment
from saakm.model.results import Linux, Shape
from saakm.model.workload import load_all, read
from saakm.vm import features
from saakm.vm.guest import Result
from saakm.vm.options import VmOptions

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
TABLE = """name = "v"
tables = [{ name = "waits", metric = '^(?P<row>\\w+)=(?P<value>[\\d.,]+)(?: (?P<stddev>[\\d.]+))?$' }]
"""
FAIR, FIFO = Scheduler("fair", (), 0, ""), Scheduler("fifo", ("in", "fifo"), 8, "b")


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
        (('input = "small"', 'input = "small"\nprograms = ["nosuch"]'), "guest/nosuch"),
        (('input = "small"', 'input = "small"\nprograms = ["../x"]'), "`programs[0]`"),
        (('name = "v"', 'name = "v"\nfilesystem = "fat"'), "'fat' - at `variant[0].filesystem`"),
        (('name = "v"', TABLE.replace("value", "valeu")), "needs a group (?P<value>...)"),
        (('name = "v"', TABLE.replace("row", "column")), "may have (?P<row>...)"),
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


def test_points_that_are_asked_for_replace_those_of_the_file(tmp_path):
    (tmp_path / "w.toml").write_text(
        MINIMAL + "points = [1, 4]\n[[variant]]\nname = 'x'\ncommand = 'x'"
    )
    one = read(tmp_path / "w.toml", ["7", "300"])
    assert [v.name for v in one.variants] == ["v-7", "v-300", "x"]
    assert one.variants[1].command == "run 300"


def test_points_of_what_has_none_are_refused():
    check(experiment.Bench(workloads=("hackbench:process-pipes",), points=("40",)))
    check(experiment.Bench(workloads=("hackbench:process-pipes-40",), points=("40",)))
    with pytest.raises(SaakmError, match="perf-sched pipe has no points"):
        check(experiment.Bench(workloads=("hackbench", "perf-sched:pipe"), points=("40",)))
    with pytest.raises(ValueError, match="names '4' twice"):
        experiment.Bench(points=("4", "4"))


@pytest.mark.parametrize("points", ["0", "4,x", "1;reboot", "-1", "1000000"])
def test_points_are_numbers(points):
    done = saakm("bench", "--workloads", "hackbench", "--points", points, COLUMNS="160")
    assert done.returncode == 2 and "is no number from 1 to 999999" in done.stderr


def test_what_a_definition_was_before_there_were_tables_it_is(tmp_path):
    """Kept results of such a workload are still its own."""
    (plain_one,) = workload(tmp_path).variants
    assert plain_one.definition == "85e17c42d4c6"
    (with_table,) = workload(tmp_path, MINIMAL.replace('name = "v"', TABLE)).variants
    assert with_table.definition != plain_one.definition


def test_the_list_says_what_tables_hold():
    (row,) = listing.rows([KNOWN["schbench"]])
    assert [one["unit"] for one in row["variants"][0]["tables"]] == ["us", "us", "requests/s"]
    out = Console(file=io.StringIO(), width=200)
    listing.show([KNOWN["schbench"]], out)
    assert "requests/s, more is better" in out.file.getvalue()
    assert "time: s, less" not in out.file.getvalue()


def test_choice():
    names = [v.name for v in workloads.choose(["hackbench:thread-pipes", "perf-sched:pipe"], KNOWN)]
    assert names == ["thread-pipes-1", "thread-pipes-2", "thread-pipes-4", "pipe"]
    for words in ([], ["dbench"]):  # what few kernels have is run where it is named
        assert not any(variant.filesystem for variant in workloads.choose(words, KNOWN))
    xfs = workloads.choose(["dbench:xfs"], KNOWN)
    assert {variant.filesystem for variant in xfs} == {"xfs"}
    alone = KNOWN | {"journal": replace(KNOWN["dbench"], name="journal", variants=tuple(xfs))}
    assert workloads.choose([], alone) == workloads.choose([], KNOWN)
    assert workloads.choose(["journal"], alone) == xfs
    assert len(workloads.choose(["hackbench:thread-pipes-2"] * 2, KNOWN)) == 1
    with pytest.raises(SaakmError, match="no workload 'nosuch'"):
        workloads.choose(["nosuch"], KNOWN)
    with pytest.raises(SaakmError, match="no variant 'nosuch'"):
        workloads.choose(["hackbench:nosuch"], KNOWN)


def labels(words):
    return [named.label for named in schedulers.chosen(words)]


def test_schedulers_are_checked():
    assert labels(["fifo", "fair"]) == ["fifo", "fair"]
    assert labels([]) == ["fair", "scx_fifo", "fifo"]
    with pytest.raises(SaakmError, match="no scheduler 'cfs'"):
        schedulers.chosen(["cfs"])


def test_schedulers_have_settings():
    words = ["fair", "fair:NEXT_BUDDY", "vtime:slice_us=500:on_violation=warn", "vtime", "fair"]
    assert labels(words) == words[:-1]
    fair, buddy, short, plain_one = (schedulers.find(one) for one in schedulers.chosen(words))
    assert (fair.features, buddy.features) == ((), ("NEXT_BUDDY",))
    assert short.policy == "vtime" and short.parameters == ("slice_us=500", "on_violation=warn")
    # They are one policy, under two names; and threads get into it in the same way.
    assert short.prefix == plain_one.prefix and short.build == plain_one.build
    assert short.name != plain_one.name and plain_one.parameters == ()


def test_a_policy_that_is_named_by_its_directory_has_settings(tmp_path):
    mine = tmp_path / "of:mine" / "it"
    mine.mkdir(parents=True)
    (mine / "Kbuild").write_text("obj-m := it.o\n")
    (named,) = schedulers.chosen([f"{mine}:slice_us=3"])
    assert (named.label, named.directory, named.settings) == (
        "it:slice_us=3",
        mine,
        ("slice_us=3",),
    )


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("fair:next_buddy", "'next_buddy' is no feature of fair"),
        ("fair:NEXT_BUDDY=1", "'NEXT_BUDDY=1' is no feature"),
        ("fair:", "'' is no feature"),
        ("fair:NEXT_BUDDY:NO_NEXT_BUDDY", "fair has two settings of NEXT_BUDDY"),
        ("rr:slice_us", "'slice_us' is no parameter"),
        ("rr:slice_us=1:slice-us=2", "rr has two settings of slice_us"),
        ("rr:nosuch=1", "rr cannot be loaded with nosuch=1"),
        ("eevdf:next_budy=new", "eevdf cannot be loaded with next_budy=new"),
        ("scx_fifo:slice_us=1", "scx_fifo has no settings"),
        ("cfs:NEXT_BUDDY", "no scheduler 'cfs'"),
    ],
)
def test_settings_are_refused(word, why):
    with pytest.raises(SaakmError, match=why) as error:
        schedulers.chosen([word])
    assert error.value.status == (1 if "no scheduler" in why else 2)


def test_two_policies_of_one_name_are_refused(tmp_path):
    for name in ("mine", "yours"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Kbuild").write_text("obj-m := fifo.o\n")
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    for words in ([f"{mine}:slice_us=3", "fifo"], [f"{mine}", f"{yours}"]):
        with pytest.raises(SaakmError, match="two policies are called 'fifo'") as error:
            schedulers.chosen(words)
        assert str(mine) in error.value.why
    assert labels(["fifo", f"{paths.POLICIES}/fifo:slice_us=3"]) == ["fifo", "fifo:slice_us=3"]


def test_a_parameter_that_no_source_names_is_refused_with_what_is_like_it(tmp_path):
    with pytest.raises(SaakmError) as error:
        schedulers.chosen(["eevdf:next_budy=new"])
    assert "it has no parameter 'next_budy': " in error.value.why
    # Of the words that are near, a parameter's name alone is said.
    assert error.value.why.endswith(", but: next_buddy")
    # Where macros put names together only the module knows.
    for text, refused in (("", True), ("#define P(what) module_param(a_##what)\nP(word)", False)):
        (tmp_path / "Kbuild").write_text("obj-m := it.o\n")
        (tmp_path / "it.c").write_text(text)
        with pytest.raises(SaakmError) if refused else nullcontext():
            schedulers.chosen([f"{tmp_path}:a_word=1"])


def test_what_is_refused_leaves_no_directory(tmp_path):
    spec = experiment.Bench(workloads=("hackbench:process-pipes-1",), schedulers=("fair",))
    for wrong in (
        {"topology": "none"},
        {"features": "NEXT_BUDDY"},
        {"cpus": 2, "topology": "1s2c"},
    ):
        with pytest.raises(SaakmError):
            conduct(spec, VmOptions(**wrong), tmp_path / "out", resume=False)
        assert not (tmp_path / "out").exists()


def test_features_that_the_kernel_has_not_are_refused_with_those_it_has():
    there = ["PLACE_LAG", "NO_NEXT_BUDDY"]
    features.refuse_unknown(["NEXT_BUDDY", "NO_PLACE_LAG"], there)
    with pytest.raises(SaakmError, match="no scheduler feature NO_SUCH") as error:
        features.refuse_unknown(["NO_SUCH"], there)
    assert "PLACE_LAG NO_NEXT_BUDDY" in error.value.why and error.value.status == 2


def test_the_columns_of_a_scheduler_with_settings_stand_together():
    names = ["eevdf", "fair", "eevdf:next_buddy=new", "scx_fifo", "fair:NEXT_BUDDY", "fifo"]
    figure = Figure("w", "t", "", "s", "lower", "time", values={name: [1.0] for name in names})
    assert schedulers_of([figure], "fair") == [
        "fair", "fair:NEXT_BUDDY", "scx_fifo", "eevdf", "eevdf:next_buddy=new", "fifo",
    ]  # fmt: skip
    assert schedulers_of([figure], "eevdf")[:2] == ["eevdf", "fair"]


def test_the_columns_are_in_the_order_that_was_asked_for(tmp_path):
    asked = ["rr:slice_us=9", "rr:slice_us=20", "rr:slice_us=5"]
    (variant,) = workload(tmp_path).variants
    frame = Bench(Place(), {"w": workload(tmp_path)}, False, False)._frame
    records = [
        replace(frame(Run(variant, Scheduler(name, (), 8, ""), number)), value=1.0)
        for number in (1, 2)
        for name in sorted(asked)
    ]
    assert schedulers_of(figures(records, asked)) == asked
    assert schedulers_of(figures(records)) == sorted(asked)
    assert schedulers_of(figures(records, asked), "rr:slice_us=5") == [asked[2], *asked[:2]]


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


def test_a_table_has_a_row_for_each_match(tmp_path):
    text = MINIMAL.replace('name = "v"', TABLE + "points = [4]")
    (variant,) = workload(tmp_path, text).variants
    rows = metric.rows_of(variant, "short=1.5 0.25\nlong=1,200\nother\n", counts=False)
    assert [(r.table, r.label, r.value, r.stddev) for r in rows] == [
        ("waits", "short-4", 1.5, 0.25),
        ("waits", "long-4", 1200, None),
    ]
    assert {row.meaning for row in metric.rows_of(variant, "a=1", counts=True)} == {"cost"}
    with pytest.raises(SaakmError, match="printed no figure"):
        metric.rows_of(variant, "nothing", counts=False)


def test_a_row_of_a_rate_of_nothing_is_a_failure(tmp_path):
    text = MINIMAL.replace('name = "v"', TABLE.replace("$' }", '$\', better = "higher" }'))
    (variant,) = workload(tmp_path, text).variants
    with pytest.raises(SaakmError, match="got nothing done"):
        metric.rows_of(variant, "a=0", counts=False)


def test_missing_packages_are_named():
    assert packages.missing(["dpkg", "no-such-package-here"]) == ["no-such-package-here"]
    assert packages.missing([]) == []


# --- the order ---


def test_every_round_runs_each_scheduler_once_in_an_order_by_seed():
    variants = workloads.choose(["perf-sched"], KNOWN)
    third = Scheduler("vtime", (), 8, "")
    runs = plan(variants, [FAIR, FIFO, third], 5, True, 1)
    assert len(runs) == 2 * 6 * 3
    rounds = [runs[n : n + 3] for n in range(0, len(runs), 3)]
    for group in rounds:
        assert (
            len({run.scheduler.name for run in group}) == 3
            and len({run.round for run in group}) == 1
        )
    orders = {tuple(run.scheduler.name for run in group) for group in rounds}
    assert len(orders) > 1
    assert runs == plan(variants, [FAIR, FIFO, third], 5, True, 1)
    assert runs != plan(variants, [FAIR, FIFO, third], 5, True, 2)
    # Alone it runs as among others.
    assert plan(variants[1:], [FAIR, FIFO, third], 5, True, 1) == runs[18:]


# --- an interrupted bench ---


class Place:
    """A machine that does what the test says."""

    kernel, machine, python_path = "k", Shape(on="guest", cpus=4), "/x"
    trace_there = ""
    linux = Linux(release="6.12.9", preemption="PREEMPT")

    @property
    def instructions(self):
        """Each run takes 50 millions, if it does nothing 10; the first finds cold caches."""
        nothing = sum("true" in text for text in self.ran)
        return (50 * len(self.ran) - 40 * nothing + (25 if nothing else 0)) * 10**6

    def __init__(self, results=()):
        self.results, self.boots, self.ran, self.running = list(results), 0, [], False
        self.used = []

    def need(self, workload):
        pass

    def check(self, variant):
        pass

    def use(self, scheduler):
        self.used.append(scheduler.parameters)

    def boot(self):
        self.boots, self.running = self.boots + 1, True

    def close(self):
        self.running = False

    def ejected(self):
        return []

    def said(self):
        return ""

    def run(self, text, timeout):
        if features.FILE in text:
            return self.feature(text)
        self.ran.append(text)
        result = self.results.pop(0) if self.results else said()
        if isinstance(result, Exception):
            self.running = False
            raise result
        return result

    features = ["PLACE_LAG", "NO_NEXT_BUDDY", "RUN_TO_PARITY"]

    def feature(self, text):
        """As the kernel's file: it says how all are set, and takes one at a time."""
        if not text.startswith("cat "):
            new = re.findall(r"echo (\w+) >", text)
            stems = [name.removeprefix("NO_") for name in new]
            kept = [n for n in self.features if n.removeprefix("NO_") not in stems]
            self.features = kept + new
            self.ran.append(f"features {' '.join(new)}")
        return Result(0, " ".join(self.features), "", 0)


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


def bench(tmp_path, place, runs_of=FAIR, rounds=2):
    one = workload(tmp_path)
    known = {"w": one}
    kept = store.Store(tmp_path / "out")
    todo = Bench(place, known, False, False)
    runs = todo.todo(plan(one.variants, [runs_of], rounds, False, 1), kept.done())
    kept.begin(resume=True)
    do_all(todo, runs, kept.append, Progress())
    return todo, store.read(kept.path)


def test_features_are_set_for_a_run_and_set_back(tmp_path):
    place = Place([said(status=1), said()])
    buddy = Scheduler("fair:NEXT_BUDDY", (), 0, "", features=("NEXT_BUDDY", "NO_RUN_TO_PARITY"))
    _, records = bench(tmp_path, place, buddy)
    steps = [text if text.startswith("features") else "run" for text in place.ran]
    # Also after a run that failed.
    assert steps == [
        "features NEXT_BUDDY NO_RUN_TO_PARITY", "run", "features NO_NEXT_BUDDY RUN_TO_PARITY",
    ] * 2  # fmt: skip
    assert [record.scheduler for record in records] == ["fair:NEXT_BUDDY"] * 2


def test_a_policy_is_used_with_its_parameters(tmp_path):
    place = Place([said(number=8)] * 2)
    one = Scheduler("rr:slice_us=5", ("in", "rr"), 8, "b", policy="rr", parameters=("slice_us=5",))
    bench(tmp_path, place, one)
    assert place.used == [("slice_us=5",)] * 2


def test_a_loaded_policy_of_others_is_not_loaded_anew(monkeypatch):
    place = object.__new__(OnHost)
    place._loaded = {}
    with pytest.raises(SaakmError, match="'rr' cannot be loaded with slice_us=5"):
        place.use(Scheduler("x", (), 8, "", policy="rr", parameters=("slice_us=5",)))
    place.use(Scheduler("x", (), 8, "", policy="rr"))
    done = []
    place._loaded = {"rr": ()}
    monkeypatch.setattr(OnHost, "_saakmctl", lambda self, *words: done.append(words))
    with pytest.raises(SaakmError, match="no parameter 'slice_us'"):
        place.use(Scheduler("x", (), 8, "", policy="rr", parameters=("slice_us=5",)))
    assert done == [("unload", "rr"), ("load", "rr", "slice_us=5")]


class Insmod:
    """A guest, or what `saakmctl` does: a module that takes no parameter but `good`."""

    def __init__(self):
        self.done = []

    def unload(self, name):
        self.done.append(("unload", name))

    def load(self, name, *parameters):
        self.done.append(("load", name, *parameters))
        if parameters not in ((), ("good",)):
            raise SaakmError("cannot load", "Invalid argument", "")


@pytest.mark.parametrize("kind", [InGuest, OnHost])
def test_a_policy_that_refused_its_parameters_is_loaded_with_others(kind, monkeypatch, tmp_path):
    """In a run after that, which shall neither end the command nor go without the policy."""
    place, kernel = object.__new__(kind), Insmod()
    place._loaded, place._modules, place._guest = {"rr": ()}, {"rr": "rr"}, kernel
    monkeypatch.setattr(InGuest, "_running", kernel)
    monkeypatch.setattr(OnHost, "_saakmctl", lambda _, verb, *words: getattr(kernel, verb)(*words))
    monkeypatch.setattr("saakm.lab.bench.on_host._PARAMETERS", str(tmp_path))
    (tmp_path / "good").touch()

    def use(*parameters):
        place.use(Scheduler("x", (), 8, "", policy="rr", parameters=parameters))

    for _ in range(2):
        with pytest.raises(SaakmError, match="cannot load"):
            use("bad")
    use()
    use("good")
    assert kernel.done == [
        ("unload", "rr"), ("load", "rr", "bad"), ("load", "rr", "bad"), ("load", "rr"),
        ("unload", "rr"), ("load", "rr", "good"),
    ]  # fmt: skip


def test_what_is_done_is_not_done_again(tmp_path):
    first, second = Place(), Place()
    bench(tmp_path, first, rounds=2)
    _, records = bench(tmp_path, second, rounds=3)
    assert (len(first.ran), len(second.ran), len(records)) == (2, 1, 3)
    assert sorted(record.round for record in store.runs(records)) == [1, 2, 3]


def test_a_resumed_run_is_warmed_up_again_and_a_finished_one_not(tmp_path):
    one = workload(tmp_path)
    todo = Bench(Place(), {"w": one}, False, False)
    runs = plan(one.variants, [FAIR], 2, True, 1)
    frames = [todo._frame(run) for run in runs]
    keys = [frame.key for frame in frames]
    assert [run.round for run in todo.todo(runs, set(keys[:2]))] == [0, 2]
    assert todo.todo(runs, set(keys[1:])) == []


@pytest.mark.parametrize(("boot_each", "boots"), [(False, 1), (True, 3)])
def test_input_is_prepared_once_a_boot(tmp_path, boot_each, boots):
    one = workload(tmp_path, MINIMAL.replace("[[variant]]", 'setup = "prepare it"\n[[variant]]'))
    place = Place()
    todo = Bench(place, {"w": one}, False, boot_each)
    do_all(todo, plan(one.variants, [FAIR], 3, False, 1), lambda record: None, Progress())
    assert place.boots == boots
    assert sum("prepare it" in text for text in place.ran) == boots
    assert sum("saakm.guest.timed" in text for text in place.ran) == 3


def test_rows_are_kept_and_become_figures(tmp_path):
    one = workload(tmp_path, MINIMAL.replace('name = "v"', TABLE + "points = [2, 4]"))
    place = Place([said(output=f"long={n} 0.{n}") for n in (1, 2, 3, 4)])
    kept = store.Store(tmp_path / "out")
    kept.begin(resume=False)
    todo = Bench(place, {"w": one}, False, False)
    do_all(todo, plan(one.variants, [FAIR], 2, False, 1), kept.append, Progress())
    first, second = figures(store.runs(store.read(kept.path)))
    assert (first.name, second.name) == ("w-v waits long-2", "w-v waits long-4")
    assert first.values == {"fair": [1, 2]} and second.values == {"fair": [3, 4]}
    assert second.stddev("fair") == pytest.approx(math.sqrt((0.3**2 + 0.4**2) / 2))


def test_our_own_programs_lie_in_the_directory_of_the_run(tmp_path):
    one = workload(tmp_path, MINIMAL.replace("packages", 'programs = ["schbench"]\npackages'))
    place = Place()
    todo = Bench(place, {"w": one}, False, False)
    do_all(todo, plan(one.variants, [FAIR], 2, False, 1), lambda record: None, Progress())
    linked = [text for text in place.ran if "ln -sfn" in text]
    assert len(linked) == 1 and place.ran.index(linked[0]) == 0
    program = shlex.split(linked[0].splitlines()[-1])[2]
    assert Path(program).name.startswith("schbench-") and os.access(program, os.X_OK)


def test_a_workload_with_a_file_system_is_for_guests_alone():
    (variant,) = workloads.choose(["dbench:loadfile-xfs-4"], KNOWN)
    text = script.setup(variant, {})
    assert "mkfs.xfs" in text
    for option in ("CONFIG_XFS_FS", "CONFIG_VIRTIO_BLK"):
        assert f"without {option}=y; --config features and --kernel 7.3 have it" in text
    with pytest.raises(SaakmError, match="loadfile-xfs-4 is for a guest"):
        OnHost.check(None, variant)
    (other,) = workloads.choose(["dbench:loadfile-tmpfs-4"], KNOWN)
    OnHost.check(None, other)
    assert "mkfs" not in script.setup(other, {})


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


def test_results_that_are_none_are_refused_and_stay(tmp_path):
    file = tmp_path / store.FILE
    file.write_bytes(b"\xff\xfe\n")
    store.Store(tmp_path).begin(resume=True)
    with pytest.raises(SaakmError, match="has no results"):
        store.Store(tmp_path).done()
    assert file.read_bytes() == b"\xff\xfe\n"
    file.unlink()
    file.mkdir()
    with pytest.raises(SaakmError, match="is no file"):
        store.Store(tmp_path).begin(resume=True)


def test_what_another_command_installs_meanwhile_is_not_installed_again(monkeypatch):
    """apt-get itself fails while another one is at work."""
    missing, commands = iter([["memcached"], []]), []
    monkeypatch.setattr(packages, "missing", lambda _: next(missing))
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "run_logged", lambda command, *_, **__: commands.append(command))
    packages.ensure(["memcached"])
    assert not commands and next(missing, None) is None
