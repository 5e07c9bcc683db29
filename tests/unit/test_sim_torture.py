# SPDX-License-Identifier: GPL-2.0
"""The built-in workload `torture`: shipped policies stand it, and a policy that is broken does not."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

POLICIES = ("fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", "lavd")
CENTRAL = "shinjuku.mode=central"
CPUS = (4, 2, 3, 8, 1)  # by seed
SEEDS = range(1, 6)
# What threads ask for and cannot have, as others change the machine meanwhile.
EXPECTED = re.compile(
    r"was refused: -|keeps its policy: sched_setattr: (no policy has the id|policy \w+ was ejected)"
)


@pytest.fixture(scope="module")
def simulators():
    built: dict[tuple[Path, ...], Path] = {}

    def simulator(*sources: Path) -> Path:
        if sources not in built:
            modules = [read_module(source) for source in sources]
            built[sources] = build(modules, Recipe(Kind.SANITIZE))
        return built[sources]

    return simulator


def torture(
    simulator: Path, directory: Path, seed: int, *settings: str
) -> subprocess.CompletedProcess[str]:
    """Seeds differ in what is going on besides, too."""
    cpus = CPUS[seed % len(CPUS)]
    options = ("", "hotplug=0", "modules=0", "threads=20", "hotplug=1ms,modules=5ms")[seed // 2 % 5]
    file = directory / f"{cpus}-{options}"
    file.write_text(to_text(registry.load(f"torture:{options}", cpus)))
    machine = [f"cpus={cpus}", f"seed={seed}", f"interleave={(3, 20, 100)[seed % 3]}"]
    command = [simulator, *machine, "for=40000000", "check=1", *settings, file]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What is no matter of course."""
    assert done.stdout, done.stderr
    return [one for one in json.loads(done.stdout)["warnings"] if not EXPECTED.search(one)]


@pytest.mark.parametrize("names", [*[(one,) for one in POLICIES], ("rr", "vtime")], ids="+".join)
def test_it_finds_nothing_and_repeats(simulators, tmp_path, names):
    simulator = simulators(*(paths.POLICIES / name for name in names))
    for seed in SEEDS:
        first, again = (torture(simulator, tmp_path, seed) for _ in range(2))
        assert (first.returncode, said(first)) == (0, []), f"seed {seed}: {first.stderr}"
        assert (first.stdout, first.stderr) == (again.stdout, again.stderr)


def test_it_finds_nothing_in_a_dispatcher(simulators, tmp_path):
    """It goes from one CPU to another, and home, also while that one goes offline."""
    simulator = simulators(paths.POLICIES / "shinjuku")
    for seed in range(1, 23):
        if CPUS[seed % len(CPUS)] > 1:
            done = torture(simulator, tmp_path, seed, CENTRAL)
            assert (done.returncode, said(done)) == (0, []), f"seed {seed}: {done.stderr}"


def test_everything_is_done(simulators, tmp_path):
    """Whom it is to trouble comes into each of its groups, and its policy is ejected and loaded again."""
    done = json.loads(torture(simulators(paths.POLICIES / "rr"), tmp_path, 1).stdout)
    assert {one["name"] for one in done["groups"] if one["switches"]} == {
        "worker", "taker", "urgent", "bell", "parent", "victim", "child", "leaf",
        "cgroups", "modules", "hypervisor",
        *(["hotplug"] if done["cpus"] > 1 else []),
    }  # fmt: skip


# --- a policy that is wrong ---

CENSUS = Path(__file__).parent / "data" / "census"
PLANTED = {
    "a thread that ends stays in the list": "\tlist_del(&t->node);\n",
    "it leaves the list without the lock": "\tguard(raw_spinlock)(&all_lock);\t/* leaves the list */\n",
}


def first_fault(simulator: Path, directory: Path) -> subprocess.CompletedProcess[str] | None:
    return next(
        (done for seed in range(1, 41) if (done := torture(simulator, directory, seed)).returncode),
        None,
    )


def test_a_policy_with_a_list_of_its_own_stands_it(simulators, tmp_path):
    fault = first_fault(simulators(CENSUS), tmp_path)
    assert fault is None, fault.stderr


@pytest.mark.parametrize("line", PLANTED.values(), ids=PLANTED)
def test_without_one_line_it_does_not(simulators, tmp_path, line):
    broken = shutil.copytree(CENSUS, tmp_path / "census")
    source = broken / "census.c"
    text = source.read_text()
    assert text.count(line) == 1
    source.write_text(text.replace(line, ""))
    fault = first_fault(simulators(broken), tmp_path)
    assert fault and re.search(r"list|AddressSanitizer|crash", fault.stderr)
