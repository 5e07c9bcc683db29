# SPDX-License-Identifier: GPL-2.0
"""A policy that overwrites the flags of its events keeps no CPU from others by that."""

import json
import subprocess

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe

FORGER = paths.REPO / "tests/unit/modules/forger"

# The other one waits when the mover, which has the CPU, goes from fifo to a policy behind it.
LEAVES = """\
saakm-program 1
group mover 1 0 saakm:fifo 0 all none
group other 1 0 saakm:fifo 0 all none
program mover
run 5000000
set_policy saakm:forger
run 500000000
end
program other
run 1000
sleep 1000000
run 30000000
end
"""


def test_who_leaves_a_policy_leaves_it_the_cpu(tmp_path):
    modules = [read_module(paths.POLICIES / "fifo"), read_module(FORGER)]
    program = build(modules, Recipe(Kind.SANITIZE))
    file = tmp_path / "program"
    file.write_text(LEAVES)
    given = ["cpus=1", "seed=1", "for=1000000000", "check=1"]
    done = subprocess.run([program, *given, file], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (other,) = (one for one in json.loads(done.stdout)["groups"] if one["name"] == "other")
    assert other["waits"]["max_ns"] == 4_000_000  # until the mover leaves, not until it sleeps
