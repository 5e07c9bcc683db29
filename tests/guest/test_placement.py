# SPDX-License-Identifier: GPL-2.0
"""saakm lab with [placement] for real: what must hold of threads of which it is known."""

import functools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.lab.placement import conduct
from saakm.lab.placement.machine import Machine
from saakm.model.workload import load_all
from saakm.trace.cut import cut
from saakm.vm.options import VmOptions
from saakm.vm.topology import parse_topology

from .test_bench import runs

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]

# CONFIG_HZ and rr's own slice, which ends with a tick; a shorter one has a timer.
TICK_US, SLICE_US, SHORT, SHORT_US = 4000, 4000, "rr:slice_us=2000", 2000
SCHEDULERS = ("fair", "rr", SHORT)
# Each hog has some 100 ms. Who starts those that are bound binds itself, and they stay there.
WORKLOAD = """
name = "hogs"
what = "count"
packages = []
input = "two that share a CPU, three that have two"
timeout = 60
setup = "echo 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' >hog"
[[variant]]
name = "bound"
command = "exec taskset -c 3 sh -c '. ./hog & . ./hog & wait'"
[[variant]]
name = "free"
command = "sh hog & sh hog & sh hog & wait"
"""
EXPERIMENT = """
what = "Where hogs run"
[placement]
workloads = ["hogs"]
schedulers = ["fair", "rr", "rr:slice_us=2000"]
topology = "1s4c"
vllc = "2-2"
seeds = 1
seed = 3
unrecorded = {unrecorded}
buffer = 4
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Runs the experiment in this process, with the workload above beside the checkout's."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w/hogs.toml").write_text(WORKLOAD)
    monkeypatch.setattr(conduct, "load_all", functools.partial(load_all, tmp_path / "w"))

    def run(unrecorded):
        file = tmp_path / "hogs.toml"
        file.write_text(EXPERIMENT.format(unrecorded=str(unrecorded).lower()))
        args = ["lab", str(file), "--out", str(tmp_path / "out"), "--json"]
        done = CliRunner().invoke(app, args)
        assert done.exit_code == 0, (done.output, done.exception)
        (directory,) = map(Path, json.loads(done.stdout))
        found = {(one["variant"], one["scheduler"]): one for one in runs(directory)}
        return directory, found

    return run


def test_what_holds_of_hogs(lab):
    directory, found = lab(unrecorded=False)
    assert set(found) == {(v, s) for v in ("bound", "free") for s in SCHEDULERS}
    for (variant, _), run in found.items():
        one = run["placement"]
        assert not run["error"] and run["round"] == 3 and run["machine"]["vllc"] == ["0-1", "2-3"]
        assert one["threads"] == (3 if variant == "bound" else 4)
        assert 0 < one["cpu_s"] <= one["life_s"] <= one["threads"] * one["seconds"]
        assert sum(one["by_vllc"].values()) == pytest.approx(one["cpu_s"])
        assert one["residency"] <= 1 and set(one["migrations"]) == {"vllc", "llc"}
        # The kernel counts switches of those that were waited for, without their last ones.
        assert abs(run["switches"] - one["turns"]) <= 2 * one["threads"]
        assert abs(run["involuntary"] - one["preempted"]) <= one["threads"]
    for scheduler in SCHEDULERS:
        bound = found["bound", scheduler]["placement"]
        # Whoever starts them may move with each of its three execs, and when it binds itself.
        assert sum(bound["migrations"].values()) <= 4 and bound["residency"] > 0.98
        assert bound["by_vllc"]["2-3"] > 0.98 * bound["cpu_s"] and bound["preempted"] > 10
    assert abs(found["bound", "rr"]["placement"]["turn_us_p50"] - SLICE_US) <= TICK_US + 100
    assert abs(found["bound", SHORT]["placement"]["turn_us_p50"] - SHORT_US) < 50

    kept = (directory / "runs.jsonl").read_text()
    assert lab(unrecorded=False)[1] == found and (directory / "runs.jsonl").read_text() == kept
    shown = CliRunner().invoke(app, ["report", "--placement", str(directory)])
    assert shown.exit_code == 0, shown.output
    assert "hogs bound, on 1s4c with the vLLCs 0-1 and 2-3, 1 seed:" in shown.stdout
    assert "| residency, % |" in shown.stdout and "recording" not in shown.stdout


# As the script that starts one from crates.io: it is there while its command runs.
STARTS = ("sh", "-c", 'echo is up; touch /tmp/"$0"; "$@"; s=$?; rm /tmp/"$0"; exit $s')


def test_a_scheduler_stays_until_another_is_kept():
    vm = VmOptions(topology="1s2c", deterministic=True, config="base")
    place = Machine(vm, {}, False, cut(parse_topology("1s2c"), "1-1"), [])
    there = lambda: place.run("cd /tmp && ls", 60).stdout.split()  # noqa: E731
    try:
        place.boot()
        place.keep(())
        place.keep((*STARTS, "one"))
        place.keep((*STARTS, "one"))
        assert "one" in there()
        place.keep((*STARTS, "two"))
        assert "two" in there() and "one" not in there()
        with pytest.raises(SaakmError) as error:  # neither is one of sched_ext
            place.check_kept()
        assert "is up" in error.value.why and not {"one", "two"} & {*there()}
        place.keep((*STARTS, "two"))
        assert "two" in there()
        place.keep(())
        assert not {"one", "two"} & {*there()}
        place.check_kept()

        with pytest.raises(SaakmError) as error:
            place.keep(("sh", "-c", "echo no BTF; exit 3", "x"))
        assert "no BTF" in error.value.why and place.running
        place.keep((*STARTS, "one"))
        # What it was found to be in the end is said, too: `ejects` ends with another status.
        place.keep((*STARTS[:2], '"$@"; echo was ejected; exit 1', "ejects"))
        with pytest.raises(SaakmError) as error:
            place.keep(())
        assert "was ejected" in error.value.why
    finally:
        place.close()
