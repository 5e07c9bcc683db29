# SPDX-License-Identifier: GPL-2.0
"""What trace-cmd and perf record in a guest is a workload of the simulator."""

import json
import shlex
import shutil
from collections import Counter

import pytest
from call import saakm

from saakm.workload import registry
from saakm.workload.errors import BadWorkload

from .support import run_ok

pytestmark = [pytest.mark.kernel("base"), pytest.mark.fast, pytest.mark.limit(60)]

EVENTS = " ".join(
    f"-e sched_{name}"
    for name in ("switch", "waking", "wakeup_new", "process_fork", "process_exec")
)
HACKBENCH = "hackbench -g 1 -l 10"
TOO_MUCH = "hackbench -g 1 -l 300"  # for a buffer of a page
THREADS = 41  # of hackbench -g 1, its parent included
needs_perf = pytest.mark.skipif(not shutil.which("perf"), reason="apt-get install linux-perf")


def record(guest, command, file):
    """On a file system of the guest's own: its exchange takes no mapped files."""
    run_ok(guest, f"cd /tmp && {command} >/dev/null 2>&1 && cp {file} /run/saakm/ && rm {file}")
    return guest.exchange / file


def beside_a_stopped(recorder):
    """TOO_MUCH, while nobody reads the buffer, however fast that were; and some more events."""
    line = f"pkill -STOP -x {recorder}; {TOO_MUCH}; pkill -CONT -x {recorder}; {HACKBENCH}"
    return f"sh -c {shlex.quote(line)}"


def replayed(file):
    """Groups of the result, and the program that ran."""
    done = saakm("sim", "rr", "--free", "--json", "--workload", file, "--for", "1h")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["groups"], registry.load(str(file), 4)


def check_hackbench(file):
    groups, program = replayed(file)
    assert len(program.groups) == THREADS and all(
        g.name.startswith("hackbench") for g in program.groups
    )
    ops = Counter(op.name for group in program.groups for op in group.ops)
    assert ops["fork"] == THREADS - 1 and ops["send"] == ops["receive"] > THREADS
    computed = {
        group.name: sum(op.operands[0].numbers[0] for op in group.ops if op.name == "run")
        for group in program.groups
    }
    assert {group["name"]: group["run_ns"] for group in groups} == computed
    assert min(computed.values()) > 0


def test_trace_cmd(guest):
    check_hackbench(
        record(guest, f"trace-cmd record -b 4000 -o t.dat {EVENTS} {HACKBENCH}", "t.dat")
    )


def test_a_pipeline(guest):
    """Its processes are the command's, and nobody else's."""
    line = "sh -c 'seq 3000 | sort -n | wc -l'"
    file = record(guest, f"trace-cmd record -b 4000 -o t.dat {EVENTS} {line}", "t.dat")
    groups, program = replayed(file)
    assert {"seq", "sort", "wc"} <= {group["name"].rpartition("-")[0] for group in groups}
    assert len(groups) == 4 and sum(o.name == "exec" for g in program.groups for o in g.ops) == 4


def test_what_trace_cmd_lost_is_refused(guest):
    lossy = f"trace-cmd record -b 4 -o t.dat {EVENTS} {beside_a_stopped('trace-cmd')}"
    with pytest.raises(BadWorkload, match="events of CPU . are lost"):
        registry.load(str(record(guest, lossy, "t.dat")), 4)


@needs_perf
def test_perf(guest):
    check_hackbench(record(guest, f"perf sched record -m 4M -o p.data {HACKBENCH}", "p.data"))


@needs_perf
def test_what_perf_lost_is_refused(guest):
    lossy = f"perf sched record -m 1 -o p.data {beside_a_stopped('perf')}"
    with pytest.raises(BadWorkload, match="events are lost"):
        registry.load(str(record(guest, lossy, "p.data")), 4)
