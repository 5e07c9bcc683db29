# SPDX-License-Identifier: GPL-2.0
"""Runs a command in the guest and leaves what the kernel traced meanwhile in /run/saakm.

The events are on since the boot, see commands/trace.py: here recording is only
switched on and off. The system's own Python runs this, with nothing installed:
it must not import more of saakm.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from saakm.base.procfs import parse_table

TRACEFS = Path("/sys/kernel/tracing")
SHARED = Path("/run/saakm")
ROOT = SHARED / "root"  # the command itself writes its number there, if it is started by a script
EVENTS = SHARED / "events"
# The policy `user` carries decisions out by this function alone; see saakm/trace/decisions.py.
PROBE = "r:saakm_probes/saakm_decided saakm_move_task_if pid=p->pid:s32 error=$retval:s32"


def write(name: str, value: object) -> None:
    (TRACEFS / name).write_text(f"{value}\n")


def prepare(megabytes: int) -> None:
    write("tracing_on", 0)
    write("current_tracer", "nop")
    # A buffer that is full keeps its beginning and counts what came later.
    write("options/overwrite", 0)
    write("options/record-tgid", 1)
    write("trace_clock", "boot")
    write("buffer_size_kb", megabytes * 1024 // (os.cpu_count() or 1))
    write("trace", "")


def keep_events() -> None:
    """Those that are on since the boot: trace-cmd switches all off when it has extracted a recording."""
    if EVENTS.exists():
        write("set_event", EVENTS.read_text())
    else:
        EVENTS.write_text((TRACEFS / "set_event").read_text())


def watch_decisions() -> None:
    if not (TRACEFS / "events/saakm_probes").exists():
        write("kprobe_events", PROBE)
    write("events/saakm_probes/saakm_decided/enable", 1)


def root_of(child: int) -> int:
    return int(ROOT.read_text()) if ROOT.exists() else child


def policy_row(name: str) -> dict[str, int]:
    """The policy's counters; none without SaaKM or without the policy."""
    table = Path("/proc/saakm/policies")
    rows = parse_table(table.read_text()) if table.exists() else []
    row = next((row for row in rows if row["name"] == name), {})
    return {key: int(row[key]) for key in ("id", "new", "terminated", "switches") if key in row}


def buffer_stats() -> dict[str, int]:
    """Sums up those of all CPUs."""
    total = {"entries": 0, "overrun": 0, "dropped events": 0}
    for file in TRACEFS.glob("per_cpu/cpu*/stats"):
        for line in file.read_text().splitlines():
            key, _, value = line.partition(": ")
            if key in total:
                total[key] += int(value)
    return total


def settle(policy: str) -> None:
    """Who was waited for has not left its CPU by then: its last switches shall be seen as well as counted.

    If the command leaves some running, it takes a second.
    """
    for _ in range(100):
        row = policy_row(policy)
        if row.get("new") == row.get("terminated"):
            return
        time.sleep(0.01)


def main() -> None:
    policy, megabytes, directory, *command = sys.argv[1:]
    prepare(int(megabytes))
    keep_events()
    if policy == "user":
        watch_decisions()
    del os.environ["PYTHONPATH"]  # ours, not the command's
    ROOT.unlink(missing_ok=True)
    before = policy_row(policy)
    write("tracing_on", 1)
    child = subprocess.Popen(command, cwd=directory if os.path.isdir(directory) else None)
    status = child.wait()
    settle(policy)
    write("tracing_on", 0)
    after = policy_row(policy)
    stats = buffer_stats()
    saved = (TRACEFS / "saved_tgids").read_text()
    result = {
        "status": status,
        "pid": root_of(child.pid),
        "starter": child.pid if ROOT.exists() else 0,
        "policy": {key: after[key] - before.get(key, 0) for key in after if key != "id"},
        "policy_id": after.get("id", 0),
        "entries": stats["entries"],
        "lost": stats["overrun"] + stats["dropped events"],
        "cpus": (os.cpu_count() or 1),
        "release": platform.release(),
        "tgids": {int(pid): int(tgid) for pid, tgid in map(str.split, saved.splitlines())},
    }
    subprocess.run(
        ["trace-cmd", "extract", "-o", str(SHARED / "trace.dat")],
        stdout=subprocess.DEVNULL,
        check=True,
        cwd="/tmp",
    )
    (SHARED / "recorded.json").write_text(json.dumps(result))
    os.sync()  # the host reads it


main()
