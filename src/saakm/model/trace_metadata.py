# SPDX-License-Identifier: GPL-2.0
"""What saakm trace keeps beside the events."""

from .schema import SCHEMA, Kept


class Recorded(Kept, frozen=True, kw_only=True):
    """What guest/record.py says of a recording."""

    status: int  # of the command
    policy_id: int  # 0: none of SaaKM's
    policy: dict[str, int]  # its counters, as far as they grew
    cpus: int
    release: str  # of the kernel
    entries: int
    lost: int
    tgids: dict[int, int]  # processes by thread
    pid: int = 0  # of the command; 0: not known


class Summary(Kept, frozen=True, kw_only=True):
    """What was recorded, and the kernel's own counters to compare it with."""

    policy: str
    seconds: float
    events: int
    lost: int
    threads: int
    switches: int  # sched_switch to one of the threads
    kernel_switches: int | None  # the policy's own count
    migrations: int
    wakeups: int
    wakeup_us_p50: float
    wakeup_us_p99: float
    calls: dict[str, int]
    bytes: dict[str, int]  # by file
    pid: int = 0  # of the command; 0: not known
    kernel: str = ""  # its version
    preemption: str = ""  # its preemption model
    schema: int = SCHEMA
