# SPDX-License-Identifier: GPL-2.0
"""Scenarios in a guest: real threads under the real kernel, and what its tracepoints tell of them.

The guest's time is counted in instructions, one a nanosecond, so that a run repeats.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...trace.events import SAAKM_EVENTS, SCHED_EVENTS, enabled_at_boot, parse_events
from ...vm.guest import Guest
from .scenario import Scenario
from .story import Story, Window, tell

# For the kernel, when it boots.
ARGUMENTS = (enabled_at_boot(SCHED_EVENTS + SAAKM_EVENTS), "noautogroup")
_TRACING = "/sys/kernel/tracing"
# The counter of its CPUs is the guest's time itself, and its clock has nanoseconds.
_PREPARE = f"""
cd {_TRACING} || exit 1
echo 0 >tracing_on && echo x86-tsc >trace_clock && echo 0 >options/overwrite &&
echo 16384 >buffer_size_kb && echo >trace || exit 1
# The kernel's own threads, which take the CPU from a policy's, keep to the last CPU where they can.
last=$(($(nproc --all) - 1))
for thread in $(pgrep -P 2) 2; do taskset -pc $last $thread; done >/dev/null 2>&1
printf '%x' $((1 << last)) >/sys/devices/virtual/workqueue/cpumask 2>/dev/null
echo 3600 >/proc/sys/vm/stat_interval 2>/dev/null
cp /run/saakm/player /run/saakm/scenario.txt /tmp/ && chmod +x /tmp/player || exit 1
"""
_RECORD = """
echo 1 >tracing_on
{command} >/tmp/played 2>/tmp/complaint
status=$?
echo 0 >tracing_on
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do [ "$(cat $cpu)" = 1 ] || echo 1 >$cpu; done
cat trace >/run/saakm/scenario.trace
cat per_cpu/cpu*/stats | awk '/^(overrun|dropped events)/ {{ lost += $NF }} END {{ print "lost", lost }}'
cat /tmp/played; cat /tmp/complaint >&2
exit $status
"""


@dataclass(frozen=True)
class Played:
    """`pids`: number of the first thread; `refused`: system calls of threads."""

    story: Story
    refused: tuple[str, ...]
    trace: str


def play(guest: Guest, player: Path, scenario: Scenario, first_pid: int) -> Played:
    """Loads what it needs, and unloads it."""
    (guest.exchange / "player").write_bytes(player.read_bytes())
    (guest.exchange / "scenario.txt").write_text(scenario.text)
    loaded = []
    try:
        for name in scenario.policies:
            guest.load(name, *(scenario.params if name == scenario.policy else ()))
            loaded.append(name)
        printed = guest.run(
            _PREPARE + _RECORD.format(command=_command(scenario, first_pid))
        ).check()
    finally:
        for name in reversed(loaded):
            guest.unload(name)
    return _read(scenario, printed.stdout, (guest.exchange / "scenario.trace").read_text())


def _command(scenario: Scenario, first_pid: int) -> str:
    words = ["/tmp/player", f"main={scenario.policy}", f"for={scenario.for_ns}", f"pid={first_pid}"]
    words += [f"at={one.at_ns}:{one.verb}:{one.whom}" for one in scenario.actions]
    return shlex.join([*words, "/tmp/scenario.txt"])


def _read(scenario: Scenario, printed: str, trace: str) -> Played:
    lost = re.search(r"^lost (\d+)$", printed, re.M)
    begin = re.search(r"^begin \d+ (\d+)$", printed, re.M)
    if not begin or not lost or int(lost[1]):
        raise SaakmError(
            f"the scenario '{scenario.name}' was not recorded whole",
            f"the guest said: {printed.strip()[-400:]}",
            "a shorter one, or a larger buffer: src/saakm/lab/agreement/in_guest.py",
        )
    threads = re.findall(r"^thread (\d+) (\S+) (\d+)$", printed, re.M)
    names = {int(pid): f"{group[:15]}/{number}" for pid, group, number in threads}
    begin_ns = int(begin[1])
    events = parse_events(trace.splitlines())
    story = tell(events, names, Window(begin_ns, scenario.from_ns, scenario.for_ns))
    return Played(story, tuple(re.findall(r"^refused .*$", printed, re.M)), trace)
