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
    starter: int = 0  # of what started it, and whoever decides in user space; 0: nobody


class Gaps(Kept, frozen=True, kw_only=True):
    """A CPU idled, or ran whoever decides, though the thread of the command that it ran next waited."""

    starts: int  # how often a CPU began to run a thread of the command
    gaps: int  # before how many of these there was one
    us_p50: float
    us_p90: float
    us_p99: float
    us_max: float
    # Of the CPU time that the command's threads had, and what they lost so, a CPU a thread:
    idle_percent: float  # how much CPUs idled,
    agent_percent: float  # and how much more they had whoever decides meanwhile


class Decisions(Kept, frozen=True, kw_only=True):
    """Of an agent, about all threads of the policy."""

    decisions: int  # that were carried out
    undecided: int  # how often a thread of the command got a CPU without one
    per_second: float
    us_p50: float  # from the event that asks to the decision carried out
    us_p99: float
    us_max: float
    run_us_p50: float  # from there until the thread has its CPU
    run_us_p99: float


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
    scheduler: str = ""  # with its agent
    topology: str = ""
    command: str = ""  # or workload
    is_counted: bool = False  # time is the number of executed instructions
    gaps: Gaps | None = None
    decisions: Decisions | None = None
    schema: int = SCHEMA
