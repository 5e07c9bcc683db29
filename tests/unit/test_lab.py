# SPDX-License-Identifier: GPL-2.0
"""saakm lab without a guest: what it knows, what it refuses, and what it does not do again."""

import json
import re

import pytest
from test_cli import saakm

from saakm.base.errors import SaakmError
from saakm.commands import lab as command
from saakm.model import experiment

GOOD = 'what = "it tells something"\n[cost]\nop = ["pipe"]\nschedulers = ["fifo"]\n'
PLACEMENT = (
    'what = "it tells something"\n[placement]\nworkloads = ["hackbench:process-pipes-9"]\n'
    'schedulers = ["rr"]\n'
)
BENCH = 'what = "it tells something"\n[bench]\nworkloads = ["hackbench"]\nschedulers = ["fifo"]\n'


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file)

    return write


def test_the_list_has_each_experiment_of_the_checkout():
    shown = saakm("lab", "--list").stdout
    found = json.loads(saakm("lab", "--list", "--json").stdout)
    assert list(found) == experiment.names() and found["where"]["cost"]["where"] is True
    rows = [re.findall(r"\w[\w-]*", line)[:2] for line in shown.splitlines()]
    for name, one in found.items():
        words = {"bench": "applications", "scale": "simulator"}
        kinds = [words.get(key, key) for key in one if key != "what" and one[key]]
        assert len(kinds) == 1 and [name, *kinds] in rows
        command._refuse_unknown(experiment.DIRECTORY / name, experiment.read(command._file(name)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD.replace("[cost]", "[costs]"), "costs"),
        (GOOD.replace('"pipe"', '"pip"'), "no operation 'pip'"),
        (GOOD.replace('"fifo"', '"fif"'), "no scheduler 'fif'"),
        (GOOD + 'axis = "cpu"\n', "no axis 'cpu'"),
        (GOOD + 'axis = "cpus"\nvalues = [128]\n', "[128] cannot be measured"),
        (GOOD + 'load = ["./nosuch"]\n', "nosuch is not a policy's directory"),
        (GOOD.replace('"pipe"', '"pipe2"') + "cpus = 1\n", "it needs 2 CPUs"),
        (BENCH.replace("hackbench", "hackbenc"), "no workload 'hackbenc'"),
        (BENCH.replace("hackbench", "hackbench:x"), "no variant 'x'"),
        (BENCH.replace("fifo", "fif"), "no scheduler 'fif'"),
        (BENCH + 'topology = "4"\n', "not a topology"),
        (BENCH + 'memory = "lots"\n', "lots"),
        (BENCH + 'config = "fast"\n', "no kernel configuration 'fast'"),
        (BENCH + "rounds = 1.5\n", "bench.rounds"),
        (PLACEMENT.replace("hackbench", "hackbenc"), "no workload 'hackbenc'"),
        (PLACEMENT.replace("pipes-9", "x-9"), "no variant 'process-x-9'"),
        (PLACEMENT.replace("rr", "rrr"), "no scheduler 'rrr'"),
        (PLACEMENT + 'topology = "8"\n', "not a topology"),
        (PLACEMENT + 'vllc = "4"\n', "'4' cuts no cache"),
        (PLACEMENT + 'config = "fast"\n', "no kernel configuration 'fast'"),
        (PLACEMENT + 'kernel = "7.3"\n', "'rr'"),
        (PLACEMENT + 'kernel = "nosuch"\n', "nosuch"),
        (PLACEMENT.replace("rr", "fair:NEXT_BUDDY"), "features"),
    ],
)
def test_a_wrong_file_is_refused_before_the_first_is_done(write, tmp_path, text, why):
    """With the file and what is wrong in it, however late it comes."""
    wrong = write("wrong.toml", text)
    done = saakm("lab", write("good.toml", GOOD), wrong, "--out", str(tmp_path / "out"))
    assert done.returncode == 1 and f"{wrong} is not an experiment" in done.stderr
    assert why in done.stderr and "lab/README.md" in done.stderr
    assert not (tmp_path / "out").exists()


def test_names_that_are_none(write):
    done = saakm("lab")
    assert done.returncode == 1 and "no experiment is named" in done.stderr
    done = saakm("lab", "operation")
    assert done.returncode == 1 and "no experiment 'operation'" in done.stderr
    assert "operations" in done.stderr
    done = saakm("lab", write("a/x.toml", GOOD), write("b/x.toml", BENCH))
    assert done.returncode == 1 and "two experiments are called 'x'" in done.stderr


def test_what_is_there_is_not_done_again(write, tmp_path, monkeypatch, capsys):
    """Only what is missing is measured."""
    there, missing = write("there.toml", GOOD), write("missing.toml", GOOD)
    kept = tmp_path / "there.json"
    kept.write_text("as it was")
    prepared = []
    monkeypatch.setattr(command.conduct_cost, "prepare", lambda spec: prepared.append(spec))
    monkeypatch.setattr(command.conduct_cost, "rows", lambda course: [])
    command.lab([there, missing], out=tmp_path, as_json=True)
    said = capsys.readouterr()
    assert kept.read_text() == "as it was" and len(prepared) == 1
    assert json.loads((tmp_path / "missing.json").read_text()) == []
    assert json.loads(said.out) == [str(kept), str(tmp_path / "missing.json")]
    assert f"{kept} is there already" in said.err


def test_runs_that_fail_are_an_error_after_all_others(write, tmp_path, monkeypatch, capsys):
    """And what the kernel complained of is told."""

    class Done:
        failures, splats = ["hackbench x fifo: ended with status 1"], ["BUG: it hurts"]

    files = [write("b.toml", BENCH), write("c.toml", GOOD)]
    monkeypatch.setattr(command.bench, "conduct", lambda *_, **__: Done)
    monkeypatch.setattr(command.conduct_cost, "prepare", lambda spec: None)
    monkeypatch.setattr(command.conduct_cost, "rows", lambda course: [])
    with pytest.raises(SaakmError, match="1 runs failed") as error:
        command.lab(files, out=tmp_path)
    assert "ended with status 1" in error.value.why
    said = capsys.readouterr()
    assert "BUG: it hurts" in said.err and (tmp_path / "c.json").exists()
    assert said.out.splitlines() == [str(tmp_path / "b"), str(tmp_path / "c.json")]


@pytest.mark.parametrize(
    ("kind", "text", "kept"),
    [
        ("_placement", PLACEMENT, "runs that ended are kept"),
        ("_cost", GOOD, "nothing of it is kept"),
    ],
)
def test_who_interrupts_is_told_what_is_kept(
    write, tmp_path, monkeypatch, capsys, kind, text, kept
):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, kind, interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.lab([write("x.toml", text)], out=tmp_path / "out")
    assert f"x was interrupted: {kept}" in capsys.readouterr().err
