# SPDX-License-Identifier: GPL-2.0
"""The class's search for an idle CPU comes to all CPUs of a machine that has more than it looks at."""

import json
import subprocess
from pathlib import Path

from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Recipe

FAR = Path(__file__).parent / "data" / "far"
# All are forked on CPU 526: from 528 on steps of 16 end at CPU 0.
PROGRAM = """\
saakm-program 1
group p 1 100000000 rt:10 0 526 none
group k 0 0 main 0 all none
program p
loop 1000
fork k 1
run 100000
end
end
program k
sleep 1000000
run 5000000000
end
"""


def test_no_cpu_is_out_of_sight(tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    simulator = build([read_module(FAR)], Recipe(nr_cpus=1024))
    machine = ["cpus=1024", "smt=2", "llc=128", "node=128", "for=1000000000"]
    done = subprocess.run(
        [simulator, *machine, program], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.strip().splitlines()[-1])
    # 61 % if the CPUs below 512 are never asked about.
    assert result["idle_ns"] < 0.4 * 1024 * 10**9
