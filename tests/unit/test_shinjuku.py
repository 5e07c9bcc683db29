# SPDX-License-Identifier: GPL-2.0
"""The rules of the policy shinjuku, to the microsecond, in a machine without costs; and a version with a fault."""

import json
import subprocess

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

SHINJUKU = paths.POLICIES / "shinjuku"
CENTRAL = ("shinjuku.mode=central",)


def build_one(source):
    return build([read_module(source)], Recipe(Kind.SANITIZE))


@pytest.fixture(scope="module")
def shinjuku():
    return build_one(SHINJUKU)


def run(simulator, directory, text, *settings, cpus=4, ns=2_000_000):
    """A machine of one cache, whose costs are nil; the groups by name."""
    file = directory / "program"
    file.write_text(text)
    machine = [f"cpus={cpus}", f"llc={cpus}", f"node={cpus}", "smt=1", "check=1", "costs=free"]
    command = [simulator, *machine, f"for={ns}", *settings, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["warnings"] == []
    return {group["name"]: group for group in result["groups"]}


HOGS = """\
saakm-program 1
group hog 2 0 main 0 all none
program hog
loop forever
run 1000000
end
end
"""


def test_two_hogs_alternate_every_10_us(shinjuku, tmp_path):
    slices = 10_000
    hog = run(shinjuku, tmp_path, HOGS, "shinjuku.slice_us=10", cpus=1, ns=slices * 10_000)["hog"]
    assert hog["preemptions"] == slices
    assert hog["waits"]["max_ns"] == 10_000


# CPU 3 is held for 1 ms, which is less than from one balancing to the next. Then it takes whoever
# is first in the longest queue, that of CPU 1.
QUEUES = """\
saakm-program 1
group holds 1 0 main 0 3 none
group other 1 0 main 0 0 none
group two 2 100000 main 0 2 none
group three 3 100000 main 0 1 none
program holds
run 1000000
end
program other
loop forever
run 1000000
end
end
program two
set_cpus 2-3
loop forever
run 1000000
end
end
program three
set_cpus 1,3
loop forever
run 1000000
end
end
"""


def test_a_cpu_that_runs_dry_takes_from_the_longest_queue(shinjuku, tmp_path):
    groups = run(shinjuku, tmp_path, QUEUES)
    assert groups["three"]["run_ns"] > 2_800_000 > 2_000_000 > groups["two"]["run_ns"]


def waits_of_short_ones(simulator, tmp_path, *settings):
    """Half of what the machine can serve; us."""
    text = to_text(registry.load("bimodal:load=50", 4))
    groups = run(simulator, tmp_path, text, *settings, ns=200_000_000)
    return groups["short"]["marks"]["short"]["p99_ns"] / 1000


def test_short_requests_do_not_wait_for_long_ones(shinjuku, tmp_path):
    """Three of four CPUs are left with a dispatcher: it takes shorter slices to be better all the same."""
    fifo = waits_of_short_ones(build_one(paths.POLICIES / "fifo"), tmp_path)
    assert waits_of_short_ones(shinjuku, tmp_path) < fifo / 4
    assert waits_of_short_ones(shinjuku, tmp_path, "shinjuku.slice_us=5", *CENTRAL) < fifo / 1.2
