# SPDX-License-Identifier: GPL-2.0
"""Agents of the policy user never fault: who would schedule the thread that brings their pages?

The guest has little memory, and a program that wants more than there is: what is not locked is
swapped. Threads come and go, so that what a scheduler knows of them grows.
"""

import shlex

import pytest

from saakm.builder import agents

from .support import load_policy, policies, run_ok

SWAP_MB = 32
pytestmark = [pytest.mark.kernel("base"), pytest.mark.append("mem=320M")]

# Fields 10 and 12 of each thread's, small faults and great ones.
FAULTS = "cat /proc/{}/task/*/stat | sed 's/.*) //' | awk '{{ n += $8 + $10 }} END {{ print n }}'"
SWAPPED = "awk '/^pswp/ { n += $2 } END { print n }' /proc/vmstat"
# All of it, and some of what others have.
WANTED = f"$(awk '/^MemAvailable/ {{ print int($2 / 1024) + {SWAP_MB // 2} }}' /proc/meminfo)"


def start(guest, agent: str, cpu: int) -> int:
    """Its pid, once it schedules this CPU."""
    command = shlex.join([*agents.parse(agent).command(), "--cpus", str(cpu)])
    said = f"/tmp/said.{cpu}"
    return int(
        run_ok(
            guest,
            f"{command} >{said} 2>&1 & until grep -q schedules {said}; do"
            f" [ -e /proc/$! ] || {{ cat {said} >&2; exit 1; }}; busybox usleep 10000; done;"
            " echo $!",
        )
    )


def load(program, cpu: int, goes_on: str) -> str:
    """For a shell in the guest."""
    return f"""
        while {goes_on}; do
            taskset -c {cpu} saakmctl exec user -- hackbench -g 1 -l 5 -p >/dev/null || exit 1
            taskset -c {cpu} {program("storm")} user fork 20 || exit 2
            echo 3 >/proc/sys/vm/drop_caches
        done & load{cpu}=$!"""


def check(guest, program, goes_on: str, timeout: float) -> None:
    """`goes_on`: a condition for a shell."""
    guest.load("swapdisk", f"megabytes={SWAP_MB}")
    run_ok(guest, "mkswap /dev/swapdisk && swapon /dev/swapdisk")
    load_policy(guest, "user")
    pids = {agent: start(guest, agent, cpu) for cpu, agent in enumerate(agents.OURS)}

    def faults() -> dict[str, int]:
        return {agent: int(run_ok(guest, FAULTS.format(pid))) for agent, pid in pids.items()}

    before, cpus = faults(), range(len(pids))
    loads = "".join(load(program, cpu, goes_on) for cpu in cpus)
    ends = " && ".join(f"wait $load{cpu}" for cpu in cpus)
    run_ok(
        guest,
        f"""taskset -c {len(pids)} {program("pressure")} {WANTED} & pressure=$!
        {loads}
        {ends} && kill $pressure""",
        timeout=timeout,
    )
    new = {agent: n - before[agent] for agent, n in faults().items()}
    swapped = int(run_ok(guest, SWAPPED))
    dump = run_ok(guest, "saakmctl dump user")
    print(f"page faults: {new}, while {swapped} pages were swapped\n{dump}")
    run_ok(guest, f"kill {' '.join(map(str, pids.values()))}; swapoff /dev/swapdisk")
    assert swapped >= 5000
    assert not any(new.values()), new
    assert policies(guest)["user"].state == "active"


def test_agents_do_not_fault(guest, program):
    check(guest, program, f"[ $({SWAPPED}) -lt 5000 ]", 250)


# In the host's time: counted ones take an hour.
@pytest.mark.threads
@pytest.mark.long
@pytest.mark.limit(3600)
def test_agents_do_not_fault_in_ten_minutes(guest, program):
    ends = "read -r now _ </proc/uptime; end=${end:-$((${now%.*} + 600))}; [ ${now%.*} -lt $end ]"
    check(guest, program, ends, 3000)
