# SPDX-License-Identifier: GPL-2.0
"""Storms that are larger than one thread's calls: pids run out, cpusets change."""

import pytest

from .support import POLICIES, emptied, load_in_mode, load_policy, run_ok

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

PIDS = 900
CGROUPS = "/sys/fs/cgroup"
# Two groups whose CPUs change all the time, and threads that move between them.
# $1: how often
CPUSETS = f"""
	for i in $(seq $1); do
		for group in one two; do
			first=$((i % 4)); last=$((first + (i + ${{#group}}) % (4 - first)))
			echo $first-$last >{CGROUPS}/$group/cpuset.cpus || exit 1
		done
		for pid in $(head -n 4 {CGROUPS}/one/cgroup.procs); do echo $pid >{CGROUPS}/two/cgroup.procs; done 2>/dev/null
		for pid in $(head -n 4 {CGROUPS}/two/cgroup.procs); do echo $pid >{CGROUPS}/one/cgroup.procs; done 2>/dev/null
		busybox usleep 5000
	done; true
"""


@pytest.mark.limit(600)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_fork_bomb(guest, program, tally, policy):
    """Until there are no pids: forks fail, nothing else does, and all of it dies of one signal."""
    # Behind two hundred others that fork a thread may wait for longer than the watchdog's limit.
    load_policy(guest, policy, "timeout_ms=0")
    limit = run_ok(guest, "cat /proc/sys/kernel/pid_max").strip()
    run_ok(guest, f"echo {PIDS} >/proc/sys/kernel/pid_max")
    try:
        out = run_ok(guest, f"{program('bomb')} {policy} 500", timeout=550)
    finally:
        run_ok(guest, f"echo {limit} >/proc/sys/kernel/pid_max")
    forks, refusals = map(int, out.split())
    assert forks > PIDS / 3
    emptied(guest, policy)
    tally("forks of fork bombs, up to the limit of pids", forks)
    tally("forks refused at the limit of pids", refusals)


@pytest.fixture
def cpusets(guest):
    run_ok(guest, f"cd {CGROUPS} && mkdir one two")
    run_ok(guest, f"cd {CGROUPS} && echo 0-3 >one/cpuset.cpus && echo 0-3 >two/cpuset.cpus")
    yield
    run_ok(guest, f"cd {CGROUPS} && rmdir one two")


@pytest.mark.threads
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_cpusets(guest, program, cpusets, tally, policy, request):
    count = 400 if request.config.getoption("--long") else 40
    name = load_in_mode(guest, policy)
    run_ok(guest, f"cat >/tmp/cpusets.sh <<'END'\n{CPUSETS}\nEND")
    crowd = f"{program('crowd')} -P -p {name} -n 16 -l 100 -e saakm 'sh /tmp/cpusets.sh {count}'"
    run_ok(guest, f"sh -c 'echo $$ >{CGROUPS}/one/cgroup.procs; exec {crowd}'", timeout=280)
    tally("changes of cpusets under running threads", 2 * count)
