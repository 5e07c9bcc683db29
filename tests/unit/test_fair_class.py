# SPDX-License-Identifier: GPL-2.0
"""Old results call the kernel's fair class `eevdf`, which is a policy's name now."""

import json
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.builder.about import About
from saakm.builder.kernel import Kernel
from saakm.builder.names import NO_POLICY
from saakm.builder.policies import find_policy
from saakm.lab.bench import store
from saakm.lab.bench.figures import figures, schedulers
from saakm.lab.cost import baseline
from saakm.lab.cost.target import Target
from saakm.lab.report import inputs
from saakm.model import fair_class
from saakm.model.schema import SCHEMA, plain

RESULTS = paths.REPO / "benchmarks" / "results"
FUNCTION = {"operation": "pipe", "function": "f", "instructions": 1, "with_callees": 1}


def cost_row(scheduler, **more):
    """A row without `schema` unless `more` has one."""
    row = json.loads((RESULTS / "operations.json").read_text())[0]
    del row["schema"]
    return row | {"scheduler": scheduler} | more


def bench_lines(**more):
    """An environment and runs of two schedulers, as the first schema has them."""
    lines = (RESULTS / "applications" / store.FILE).read_text().splitlines()
    environment, run = (json.loads(line) for line in lines[:2])
    environment |= {
        "schedulers": ["eevdf", "fifo"],
        "command": "saakm bench --out eevdf --schedulers eevdf,fifo --rounds 1",
    }
    run |= {"round": 1, "value": 2.0, "error": None, "better": "lower", "traced": False}
    runs = [
        run | {"scheduler": name, "build": build} for name, build in (("eevdf", ""), ("fifo", "b"))
    ]
    return [line | more for line in (environment, *runs)]


def write(path, content):
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in content)
        if path.suffix == ".jsonl"
        else json.dumps(content)
    )
    return path


def test_old_costs_are_of_fair_and_a_note_says_so(tmp_path, capsys):
    rows = [cost_row("eevdf"), cost_row("eevdf", operation="yield", schema=1), cost_row("fifo")]
    file = write(tmp_path / "costs.json", rows)
    before = file.read_text()
    assert [row.scheduler for row in inputs.read([file]).costs] == ["fair", "fair", "fifo"]
    assert {row.schema for row in inputs.read([file]).costs} == {SCHEMA}
    note = capsys.readouterr().err
    assert (
        note.count("\n") == 1
    )  # once a file, however many rows it has and however often it is read
    assert str(file) in note and "'eevdf'" in note and "'fair'" in note
    assert file.read_text() == before


def test_an_old_baseline_is_of_fair(tmp_path, capsys):
    file = write(tmp_path / "base.json", {"kernel": "6.12", "rows": [cost_row("eevdf", schema=1)]})
    assert baseline.read(file).schedulers == ["fair"]
    assert str(file) in capsys.readouterr().err


def test_old_functions_are_of_fair(tmp_path, capsys):
    file = write(tmp_path / "where.json", [FUNCTION | {"scheduler": "eevdf"}])
    assert [one.scheduler for one in inputs.read([file]).profiles["where"]] == ["fair"]
    assert str(file) in capsys.readouterr().err


def test_old_runs_are_of_fair(tmp_path, capsys):
    file = write(tmp_path / store.FILE, bench_lines())
    found = inputs.read([tmp_path])
    assert found.base == "fair" and schedulers(found.figures) == ["fair", "fifo"]
    (environment,) = found.environments
    assert environment.command == "saakm bench --out eevdf --schedulers fair,fifo --rounds 1"
    note = capsys.readouterr().err
    assert str(file) in note and note.count("\n") == 1


def test_old_runs_need_not_be_repeated_under_the_new_name(tmp_path):
    write(tmp_path / store.FILE, bench_lines())
    done = store.Store(tmp_path).done()
    of_fair = [key for key in done if '"fair"' in key]
    assert len(done) == 2 and len(of_fair) == 1 and not any('"eevdf"' in key for key in done)


def test_a_new_file_has_the_policy(tmp_path, capsys):
    """Old and new runs may be in one file: bench --resume adds to it."""
    costs = [cost_row("eevdf", schema=SCHEMA), cost_row("fair", schema=SCHEMA)]
    files = [
        write(tmp_path / "costs.json", costs),
        write(tmp_path / "where.json", [FUNCTION | {"scheduler": "eevdf", "schema": SCHEMA}]),
        write(tmp_path / store.FILE, bench_lines(schema=SCHEMA)),
    ]
    found = inputs.read(files)
    assert [row.scheduler for row in found.costs] == ["eevdf", "fair"]
    assert [one.scheduler for one in found.profiles["where"]] == ["eevdf"]
    assert found.base == "eevdf" and schedulers(found.figures) == ["eevdf", "fifo"]
    assert not capsys.readouterr().err


def test_a_file_that_was_gone_on_with_has_both(tmp_path):
    old, new = bench_lines(), bench_lines(schema=SCHEMA)
    new[1]["build"] = "sources"
    write(tmp_path / store.FILE, [*old, *new])
    records = store.runs(store.read(tmp_path))
    assert [record.scheduler for record in records] == ["fair", "fifo", "eevdf"]
    assert schedulers(figures(records)) == ["fair", "eevdf", "fifo"]


def test_what_is_written_today_keeps_its_names(tmp_path, capsys):
    rows = [cost_row(name, schema=SCHEMA) for name in ("eevdf", "fair")]
    read = inputs.read([write(tmp_path / "costs.json", rows)]).costs
    about = About("6.12.117", "gcc 12", "PREEMPT", True, {})
    target = Target(Kernel("base", Path("/build"), ""), about, "10.0")
    baseline.write(tmp_path / "base.json", target, read)
    assert baseline.read(tmp_path / "base.json").schedulers == ["eevdf", "fair"]
    assert {row["schema"] for row in plain(read)} == {SCHEMA}
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("--schedulers eevdf", "--schedulers fair"),
        ("--schedulers=rr,eevdf,fifo", "--schedulers=rr,fair,fifo"),
        ("--schedulers rr,./eevdf2 eevdf", "--schedulers rr,./eevdf2 eevdf"),
        ("--schedulers ./eevdf,rr", "--schedulers ./eevdf,rr"),
    ],
)
def test_the_command_of_old_results(tmp_path, before, after):
    row = {"schedulers": ["eevdf"], "command": f"saakm bench {before}"}
    found = fair_class.renamed(row, tmp_path / before.replace("/", "_"))
    assert found["command"] == f"saakm bench {after}"


@pytest.mark.parametrize(
    "content", [None, 3, "eevdf", ["eevdf"], [None], {"rows": [3]}, {"rows": 3}]
)
def test_what_are_no_rows_is_left_to_others(tmp_path, capsys, content):
    assert fair_class.renamed(content, tmp_path) == content
    assert not capsys.readouterr().err


def test_no_result_of_ours_is_of_an_old_name(capsys):
    ours = [paths.REPO / "benchmarks" / "cost-base.json", *RESULTS.glob("*.json")]
    inputs.read([*ours, RESULTS / "applications"])
    assert not capsys.readouterr().err


def test_fair_is_no_policy_and_eevdf_may_be():
    assert all(find_policy(word) is None for word in ("none", "fair"))
    assert "eevdf" not in NO_POLICY
