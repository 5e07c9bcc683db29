# SPDX-License-Identifier: GPL-2.0
"""Two queues that cores share, and who holds locks: what the API has for policies such as lavd."""

import json
import re
import subprocess

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

DUMP = "read=/sys/kernel/debug/saakm/dump"
SECONDS = paths.REPO / "tests/unit/modules/seconds"
LOCKER = paths.GUEST_MODULES / "locker"


@pytest.fixture(scope="module")
def build_one():
    return lambda source: build([read_module(source)], Recipe(Kind.SANITIZE))


@pytest.fixture(scope="module")
def seconds(build_one):
    return build_one(SECONDS)


@pytest.fixture(scope="module")
def locker(build_one):
    return build_one(LOCKER)


def run(simulator, tmp_path, text, *settings, cpus=4, ns=50_000_000):
    file = tmp_path / "program"
    file.write_text(text)
    command = [simulator, f"cpus={cpus}", f"for={ns}", "check=1", *settings, DUMP, file]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def dumped(done, pattern):
    """The dump is JSON, whose lines are quoted."""
    found = re.search(pattern, done.stderr)
    assert found, done.stderr
    return list(map(int, found.groups()))


@pytest.mark.parametrize("workload", ["hackbench", "churn", "herd"])
@pytest.mark.parametrize("interleave", [0, 3])
def test_threads_of_both_queues_run(seconds, tmp_path, workload, interleave):
    text = to_text(registry.load(workload, 4))
    done = run(seconds, tmp_path, text, *([f"interleave={interleave}"] if interleave else []))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == []
    first, second, wrong = dumped(done, r"took (\d+) (\d+), wrong (\d+)")
    assert first > 20 and second > 20 and wrong == 0


# A thread wakes 7 others, one after the other, while three of four CPUs idle.
HERD = """\
saakm-program 1
semaphore bell 7 0
group ringer 1 0 rt:10 0 0 none
group sleeper 7 0 main 0 all none
program ringer
loop forever
sleep 3000000
loop 7
send bell[loop] 1 now
end
end
end
program sleeper
loop forever
receive bell[self] 1
run 1000000
end
end
"""


def test_idle_cpus_are_called_for_either_queue(seconds, tmp_path):
    """Seven threads of 1 ms each on four CPUs: none waits for more than a turn."""
    done = run(seconds, tmp_path, HERD, "costs=free", ns=300_000_000)
    groups = {group["name"]: group for group in json.loads(done.stdout)["groups"]}
    assert groups["sleeper"]["waits"]["max_ns"] <= 1_100_000, groups["sleeper"]["waits"]


@pytest.mark.parametrize("how", ["third", "unrefilled"])
def test_what_a_core_cannot_share(seconds, tmp_path, how):
    done = run(seconds, tmp_path, to_text(registry.load("hackbench", 4)), f"seconds.how={how}")
    assert done.returncode == 2 and "EINVAL" in done.stderr, done.stderr


def test_what_is_not_sorted_has_no_keys(seconds, tmp_path):
    done = run(seconds, tmp_path, HERD, "seconds.how=unsorted")
    said = "saakm_take_before: the queue is not a sorted one that cores of this policy share"
    assert said in done.stderr
    assert dumped(done, r"took (\d+) (\d+), wrong (\d+)") == [0, 0, 0]


# A has the mutex for 5 ms; B waits for it, and sleeps with it; C never waits.
LOCKS = """\
saakm-program 1
mutex m 1
mutex own 1
group a 1 0 main 0 0 none
group b 1 0 main 0 1 none
group c 1 0 main 0 2 none
program a
lock m
run 5000000
unlock m
end
program b
sleep 1000000
lock m
sleep 1000000
unlock m
sleep 1000000
end
program c
lock own
sleep 1000000
unlock own
end
"""


def test_who_waited_for_a_lock_holds_it(locker, tmp_path):
    """One sleep of B is with it; A's lock was free, and so was C's."""
    done = run(locker, tmp_path, LOCKS, "costs=free")
    assert done.returncode == 0, done.stderr
    assert dumped(done, r"(\d+) sleeps, (\d+) with a lock")[1] == 1


def test_it_is_not_noted_for_policies_that_do_not_ask(build_one, locker, tmp_path):
    """The same module without the flag."""
    source = tmp_path / "locker"
    source.mkdir()
    for name in ("Kbuild", "locker.c"):
        text = (LOCKER / name).read_text()
        source.joinpath(name).write_text(text.replace(".flags = SAAKM_POLICY_LOCKS, ", ""))
    done = run(build_one(source), tmp_path, LOCKS, "costs=free")
    assert dumped(done, r"(\d+) sleeps, (\d+) with a lock")[1] == 0
