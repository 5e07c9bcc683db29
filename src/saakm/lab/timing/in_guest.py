# SPDX-License-Identifier: GPL-2.0
"""One file of rt-app in a guest: the real rt-app, Debian's, under the real kernel.

The guest's time is counted in instructions, so that a run repeats. All its CPUs share that time and
run by turns; guest/timing.c says what that means for rt-app's loops.
"""

import re

from ...base.errors import SaakmError
from ...base.paths import GUEST_FILES
from ...builder.programs import compile_library
from ...trace.events import enabled_at_boot, parse_events
from ...vm.guest import Guest
from ...vm.machine import Machine
from ...vm.topology import Topology
from .case import Case
from .figures import Run, read

PACKAGES = ("rt-app",)
_EVENTS = ("sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_process_fork")
# For the kernel, when it boots.
ARGUMENTS = (enabled_at_boot(_EVENTS), "noautogroup")
_TIMEOUT = 900.0
_TRIES = 3
_PREPARE = """
cd /sys/kernel/tracing || exit 1
echo 0 >tracing_on && echo mono >trace_clock && echo 0 >options/overwrite &&
echo 16384 >buffer_size_kb && echo >trace || exit 1
# The kernel's own threads, which take the CPU from a policy's, keep to the last CPU where they can.
last=$(($(nproc --all) - 1))
for thread in $(pgrep -P 2) 2; do taskset -pc $last $thread; done >/dev/null 2>&1
printf '%x' $((1 << last)) >/sys/devices/virtual/workqueue/cpumask 2>/dev/null
echo 3600 >/proc/sys/vm/stat_interval 2>/dev/null
cp /run/saakm/timing.so /run/saakm/rt-app.json /tmp/ && cd /tmp || exit 1
"""
# The number of rt-app's first thread, which follows that of the main thread, decides where fifo puts it.
_RECORD = """
until true & wait; [ $((($! + 2) % {cpus})) = {first} ]; do :; done
echo 1 >/sys/kernel/tracing/tracing_on
LD_PRELOAD=/tmp/timing.so saakmctl exec {policy} -- rt-app rt-app.json >/tmp/played 2>&1
status=$?
cd /sys/kernel/tracing
echo 0 >tracing_on
cat trace >/run/saakm/rt-app.trace
cat per_cpu/cpu*/stats | awk '/^(overrun|dropped events)/ {{ lost += $NF }} END {{ print "lost", lost }}'
[ $status = 0 ] || cat /tmp/played >&2
exit $status
"""


def guest_machine(topology: Topology) -> Machine:
    return Machine(topology, deterministic=True, append=("no_timer_check", *ARGUMENTS))


def play(guest: Guest, case: Case, policy: str, first_pid: int) -> tuple[Run, str]:
    """Loads the policy, and unloads it. With the trace of the run."""
    library = compile_library(GUEST_FILES / "timing.c")
    (guest.exchange / "timing.so").write_bytes(library.read_bytes())
    (guest.exchange / "rt-app.json").write_text(case.for_rtapp)
    cpus = case.topology.cpus
    guest.load(policy)
    try:
        # The number of a thread may go to one of the kernel's own that is born meanwhile.
        for _ in range(_TRIES):
            trace = _record(guest, case, policy, first_pid % cpus)
            run = understood(trace, case)
            if run.first_pid % cpus == first_pid % cpus:
                break
        else:
            raise SaakmError(
                f"{case.name} began with thread {run.first_pid}, {_TRIES} times with a wrong one",
                "other processes of the guest are forked all the time",
                "run it once more",
            )
    finally:
        guest.unload(policy)
    return run, trace


def _record(guest: Guest, case: Case, policy: str, first: int) -> str:
    command = _RECORD.format(cpus=case.topology.cpus, first=first, policy=policy)
    printed = guest.run(_PREPARE + command, _TIMEOUT).check().stdout
    lost = re.search(r"^lost (\d+)$", printed, re.M)
    if not lost or int(lost[1]):
        raise SaakmError(
            f"{case.name} was not recorded whole",
            "the guest's buffer for events was full",
            "a shorter duration, or a larger buffer: src/saakm/lab/timing/in_guest.py",
        )
    return (guest.exchange / "rt-app.trace").read_text(errors="replace")


def understood(trace: str, case: Case) -> Run:
    return read(list(parse_events(trace.splitlines())), "rt-app", case.duration_ns)
