# SPDX-License-Identifier: GPL-2.0
"""Runs a command in the guest and prints, as JSON, what the kernel counted meanwhile.

Two witnesses that know nothing of each other: the policy's own row in
/proc/saakm/policies, and what the kernel has always counted (forks, and the
context switches of a process with all its descendants). The system's own
Python runs this, with nothing installed: it must not import more of saakm.
"""

import json
import os
import resource
import subprocess
import sys
import time

from saakm.base.procfs import parse_table


def forks() -> int:
    with open("/proc/stat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes "))


def policy_row(name: str) -> dict[str, int]:
    """The policy's counters; none without SaaKM or without the policy."""
    if not os.path.exists("/proc/saakm/policies"):
        return {}
    with open("/proc/saakm/policies") as file:
        rows = parse_table(file.read())
    row = next((row for row in rows if row["name"] == name), {})
    return {key: int(row[key]) for key in ("new", "terminated", "switches") if key in row}


def main() -> None:
    policy, *command = sys.argv[1:]
    before, forked = policy_row(policy), forks()
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    forked, after = forks() - forked, policy_row(policy)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "status": done.returncode,
        "output": done.stdout + done.stderr,
        "seconds": seconds,
        "forks": forked,
        "switches": usage.ru_nvcsw + usage.ru_nivcsw,
        "policy": {key: after[key] - before.get(key, 0) for key in after},
    }
    print(json.dumps(result))


main()
