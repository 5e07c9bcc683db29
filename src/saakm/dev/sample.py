# SPDX-License-Identifier: GPL-2.0
"""How a running guest stands: asked with one small script, told as a Snapshot."""

import re
from collections import Counter
from dataclasses import dataclass, field

from ..base.procfs import parse_ejected, parse_table, went_to_fair
from ..trace.events import parse_events
from ..trace.timeline import Timeline
from ..vm.guest import Guest

# Few, so that watching costs little; on since the boot, as for saakm trace.
EVENTS = ("sched_switch", "sched_waking", "sched_migrate_task")
_WINDOW_SECONDS = 0.05
_MARK = "=== "
_SCRIPT = f"""
cd /sys/kernel/tracing
echo >trace; echo 1 >tracing_on; sleep {_WINDOW_SECONDS}; echo 0 >tracing_on
for file in /proc/saakm/policies /proc/saakm/ejected /sys/kernel/saakm/violations \\
	/sys/kernel/debug/saakm/runqueues /proc/uptime /tmp/saakm-rounds /sys/kernel/tracing/trace; do
	echo "{_MARK}$file"
	cat $file 2>/dev/null
done
"""
_CPU = re.compile(r"cpu (\d+): (\d+) runnable, curr (.*)/(\d+), server")
_THREAD = re.compile(r"  .*/\d+ policy (\S+) (\w+) for")


@dataclass
class Cpu:
    running: str
    ready: int = 0
    switches_rate: float = 0.0  # of all classes, in the sampled window
    migrations_rate: float = 0.0  # of threads that come


@dataclass
class Snapshot:
    """Describes the guest; rates are per second of the guest's time."""

    uptime: float
    switches: int  # of the policy, since it was loaded
    threads: int
    state: str  # of the policy: active, ejected, or gone
    cpus: list[Cpu]
    ejected: list[dict[str, str]]
    violations: int
    migrations_rate: float
    wakeup_us: dict[int, float]  # by percentile
    rounds: list[tuple[int, float]] = field(default_factory=list)  # the workload's: status, seconds
    round_versions: list[int] = field(default_factory=list)  # under which each of them ended
    policy_id: int | None = None  # of this version: none has another's
    switches_rate: float | None = None  # None in the first sample of a version: not known yet


def prepare(guest: Guest) -> None:
    guest.run(
        "cd /sys/kernel/tracing; echo 0 >tracing_on; echo 0 >options/overwrite; echo mono >trace_clock"
    ).check()


def take(guest: Guest, policy: str, before: Snapshot | None) -> Snapshot:
    parts = _parts(guest.run(_SCRIPT).stdout)
    rows = parse_table(parts.get("policies", ""))
    row = next((row for row in rows if row["name"] == policy and row["state"] == "active"), None)
    row = row or next((row for row in rows if row["name"] == policy), {})
    cpus = _cpus(parts.get("runqueues", ""))
    timeline = Timeline(policy_id=0, cpus=len(cpus))
    switches: Counter[int] = Counter()
    for event in parse_events(parts.get("trace", "").splitlines()):
        timeline.add(event)
        switches[event.cpu] += event.name == "sched_switch"
    timeline.finish()
    window = max((timeline.end_ns - timeline.begin_ns) / 1e9, _WINDOW_SECONDS)
    for number, cpu in enumerate(cpus):
        cpu.switches_rate = switches[number] / window
        came = sum(count for (_, to), count in timeline.migrations.items() if to == number)
        cpu.migrations_rate = came / window
    now = Snapshot(
        uptime=float(parts["uptime"].split()[0]),
        switches=int(row.get("switches", 0)),
        threads=int(row.get("threads", 0)),
        state=str(row.get("state", "gone")),
        cpus=cpus,
        ejected=[end for end in parse_ejected(parts.get("ejected", "")) if went_to_fair(end)],
        violations=int(parts.get("violations", "0").strip() or 0),
        migrations_rate=sum(timeline.migrations.values()) / window,
        wakeup_us={p: timeline.percentile_us(p) for p in (50, 99)} if timeline.latencies_ns else {},
        policy_id=int(row["id"]) if row else None,
    )
    for status, seconds, version in _rounds(parts.get("saakm-rounds", "")):
        now.rounds.append((status, seconds))
        now.round_versions.append(version)
    now.switches_rate = _switches_rate(before, now)
    return now


def _switches_rate(before: Snapshot | None, now: Snapshot) -> float | None:
    """Each version counts its own: two samples of different ones say nothing about a rate."""
    if not before or now.policy_id is None or now.policy_id != before.policy_id:
        return None
    seconds = now.uptime - before.uptime
    return (now.switches - before.switches) / seconds if seconds > 0 else None


def _parts(text: str) -> dict[str, str]:
    """What each file held, by its name."""
    parts = {}
    for part in text.split(_MARK)[1:]:
        path, _, content = part.partition("\n")
        parts[path.rpartition("/")[2]] = content
    return parts


def _cpus(text: str) -> list[Cpu]:
    cpus: list[Cpu] = []
    for line in text.splitlines():
        if match := _CPU.match(line):
            name, pid = match[3], match[4]
            cpus.append(Cpu("idle" if pid == "0" else f"{name} {pid}"))
        elif cpus and (match := _THREAD.match(line)) and match[2] == "READY":
            cpus[-1].ready += 1
    return cpus


def _rounds(text: str) -> list[tuple[int, float, int]]:
    found = []
    for line in text.splitlines():
        status, begin, end, version = line.split()
        found.append((int(status), float(end) - float(begin), int(version)))
    return found
