# SPDX-License-Identifier: GPL-2.0
"""What does not fit is refused with file and key; what was kept earlier is read."""

import json

import pytest
from rich.console import Console

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.lab.bench import store
from saakm.lab.cost import baseline, printed, sections
from saakm.lab.report import inputs
from saakm.model import experiment, workload
from saakm.model.schema import SCHEMA

RESULTS = paths.REPO / "benchmarks" / "results"
VARIANT = """[[variant]]
name = "v"
command = "run"
points = [1, 4]"""
WORKLOAD = """
name = "w"
what = "does something"
packages = ["nginx"]
input = "small"
scale = 2
[[variant]]
name = "v"
command = "run"
points = [1, 4]
"""
COST = '[cost]\nop = ["pipe"]\ncpus = 2'
EXPERIMENT = """
what = "it tells something"
[cost]
op = ["pipe"]
cpus = 2
"""


def refusal(read, path, text):
    path.write_text(text)
    with pytest.raises(SaakmError) as error:
        read(path)
    assert str(path) in error.value.what
    return error.value.why


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (('["nginx"]', '"nginx"'), "packages"),
        (("scale = 2", 'scale = "2"'), "scale"),
        (("[1, 4]", "[[1]]"), "variant[0].points[0]"),
        (('command = "run"', "command = 1"), "variant[0].command"),
        (('name = "v"', 'name = "v"\nunit = 1'), "variant[0].unit"),
        (("scale = 2", 'better = "more"'), "better"),
        (("scale = 2", 'metric = "["'), "is not a pattern"),
        (('name = "v"', 'name = "v"\nmetric = "no group"'), "needs one group"),
        (("scale = 2", "sclae = 2"), "sclae"),
        (("points = [1, 4]", "points = [1, 1]"), "same name"),
        (("points = [1, 4]", "points = []"), "variant[0].points"),
        (("points = [1, 4]", "points = ['1,2']"), "`points`"),
        ((VARIANT, "variant = []"), "`variant`"),
        (('name = "v"', 'name = ""'), "variant[0].name"),
        (('name = "v"', 'name = "a,b"'), "variant[0].name"),
        (('name = "v"', 'name = "a:b"'), "variant[0].name"),
        (("scale = 2", "scale = nan"), "scale"),
        (("scale = 2", "timeout = 0.0"), "timeout"),
        (("scale = 2", "timeout = -inf"), "timeout"),
        (("scale = 2", 'memory = "lots"'), "`memory`: 'lots'"),
        (("nginx", "-oDPkg::Pre-Invoke::=id"), "packages[0]"),
        (("nginx", "nginx\\n"), "packages[0]"),
    ],
)
def test_a_workload_of_wrong_types(tmp_path, change, key):
    assert key in refusal(workload.read, tmp_path / "w.toml", WORKLOAD.replace(*change))


def test_a_workload_has_types(tmp_path):
    (tmp_path / "w.toml").write_text(WORKLOAD)
    one = workload.read(tmp_path / "w.toml")
    assert one.packages == ("nginx",) and [v.point for v in one.variants] == ["1", "4"]
    assert {(type(v.scale), type(v.timeout)) for v in one.variants} == {(float, float)}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (('["pipe"]', '"pipe"'), "cost.op"),
        (("cpus = 2", 'cpus = "2"'), "cost.cpus"),
        (("cpus = 2", "cpu = 2"), "cpu"),
        (("[cost]", "[bench]"), "op"),
        (('what = "it tells something"', ""), "what"),
        (("[cost]", "[bench]\n[cost]"), "one of [cost], [bench], [scale] and [placement]"),
        (
            ('[cost]\nop = ["pipe"]\ncpus = 2', ""),
            "one of [cost], [bench], [scale] and [placement]",
        ),
        (("cpus = 2", 'axis = "cpus"\nwhere = true'), "an axis stands alone"),
        (("cpus = 2", 'axis = "cpus"\nrunnable = 4'), "an axis stands alone"),
        (("cpus = 2", "values = [1, 2]"), "values are of an axis"),
        (("cpus = 2", "cpus = 0"), "cost.cpus"),
        (("cpus = 2", "cpus = 65"), "cost.cpus"),
        (("cpus = 2", "seeds = 0"), "cost.seeds"),
        (("cpus = 2", "seeds = 1000000000000"), "cost.seeds"),
        (("cpus = 2", "scale = 0"), "cost.scale"),
        (("cpus = 2", "runnable = -5"), "cost.runnable"),
        (("cpus = 2", "seed = -5"), "cost.seed"),
        (('["pipe"]', '["pipe", "pipe"]'), "`op` names 'pipe' twice"),
        ((COST, "[bench]\nrounds = 0"), "bench.rounds"),
        ((COST, "[bench]\nseed = -7"), "bench.seed"),
        ((COST, '[bench]\nmemory = "1"'), "`memory`: 1 is too little memory"),
        ((COST, '[bench]\nmemory = ""'), "`memory`: '' is not a memory size"),
        ((COST, '[bench]\nmemory = "lots"'), "`memory`: 'lots' is not a memory size"),
        ((COST, "[placement]\nschedulers = ['rr']"), "workloads"),
        ((COST, "[placement]\nworkloads = ['w']\nschedulers = []"), "placement.schedulers"),
        ((COST, "[placement]\nworkloads = ['w']\nschedulers = ['a', 'a']"), "names 'a' twice"),
        ((COST, "[placement]\nworkloads = ['w']\nschedulers = ['a']\nseed = 0"), "placement.seed"),
        ((COST, "[placement]\nworkloads = ['w']\nschedulers = ['a']\nvllc = 4"), "placement.vllc"),
        (
            (COST, "[placement]\nworkloads = ['w']\nschedulers = ['a']\nbuffer = 0"),
            "placement.buffer",
        ),
        ((COST, "[placement]\nworkloads = ['w']\nschedulers = ['a']\nmemory = '1'"), "`memory`"),
        ((COST, '[bench]\nschedulers = ["fifo", "fifo"]'), "`schedulers` names 'fifo' twice"),
    ],
)
def test_an_experiment_of_wrong_types(tmp_path, change, key):
    assert key in refusal(experiment.read, tmp_path / "x.toml", EXPERIMENT.replace(*change))


@pytest.mark.parametrize("name", experiment.names())
def test_our_experiments_can_be_read(name):
    assert experiment.read(experiment.DIRECTORY / f"{name}.toml").what


def test_results_of_earlier_days_are_read():
    """They have no schema: the first one did not say so."""
    lines = store.read(RESULTS / "applications")
    runs = store.runs(lines)
    assert len(runs) > 100 and all(run.machine.cpus == 4 for run in runs)
    assert inputs.read(RESULTS.glob("*.json")).cost_runs


def test_a_run_of_wrong_types(tmp_path):
    line = (RESULTS / "applications" / store.FILE).read_text().splitlines()[1]
    wrong = json.loads(line) | {"round": "1"}
    text = f"{line}\n{json.dumps(wrong)}\n"
    why = refusal(store.read, tmp_path / store.FILE, text)
    assert why.startswith("line 2") and "`round`" in why


def test_a_later_version_says_so(tmp_path):
    line = json.loads((RESULTS / "applications" / store.FILE).read_text().splitlines()[1])
    later = line | {"schema": SCHEMA + 1, "machine": "in another form"}
    assert "later version" in refusal(store.read, tmp_path / store.FILE, json.dumps(later))


def test_a_baseline_of_wrong_types(tmp_path):
    content = json.loads((paths.REPO / "benchmarks" / "cost-base.json").read_text())
    content["rows"][3]["seeds"] = 1
    why = refusal(baseline.read, tmp_path / "b.json", json.dumps(content))
    assert "`rows[3].seeds`" in why


def rows_with(**more):
    row = json.loads((RESULTS / "operations.json").read_text())[0]
    return [row, row | more]


def read_costs(path):
    return inputs.read([path])


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"operation": ""}, "[1].operation"),
        ({"instructions": float("nan")}, "[1].instructions"),
        ({"instructions": float("inf")}, "[1].instructions"),
        ({"instructions": 0}, "[1].instructions"),
        ({"spread": float("nan")}, "[1].spread"),
        ({"values": [float("-inf")]}, "[1].values[0]"),
        ({"schema": SCHEMA + 1}, "later version"),
    ],
)
def test_costs_that_are_none(tmp_path, more, key):
    rows = rows_with(**more)
    assert key in refusal(read_costs, tmp_path / "c.json", json.dumps(rows))
    assert key in refusal(baseline.read, tmp_path / "b.json", json.dumps({"rows": rows}))


def test_a_later_version_says_so_of_a_file_of_rows(tmp_path):
    text = json.dumps({"rows": rows_with(), "schema": SCHEMA + 8})
    assert "later version" in refusal(read_costs, tmp_path / "c.json", text)
    assert "later version" in refusal(baseline.read, tmp_path / "b.json", text)


def test_an_operation_of_a_later_version_is_shown_last(tmp_path, capsys):
    file = tmp_path / "c.json"
    file.write_text(json.dumps(rows_with(operation="swim")[::-1]))
    rows = read_costs(file).costs
    assert list(printed.by_operation(rows))[-1] == "swim"
    printed.show(rows, Console())
    assert "swim: this version does not know it" in capsys.readouterr().out
    assert "`swim`: this version" in "".join(sections.section("C", rows, tmp_path / "x.svg"))


@pytest.mark.parametrize(
    ("read", "name"),
    [(read_costs, "c.json"), (baseline.read, "b.json"), (store.read, store.FILE)],
)
def test_what_is_nested_too_deeply(tmp_path, read, name):
    assert "nested too deeply" in refusal(read, tmp_path / name, "[" * 100_000)


def test_a_toml_that_is_nested_too_deeply(tmp_path):
    deep = "x = " + "[" * 100_000
    assert "nested too deeply" in refusal(workload.read, tmp_path / "w.toml", deep)
