# SPDX-License-Identifier: GPL-2.0
"""Where the threads of a workload ran, and for how long at a time, in one run."""

from .schema import Kept


class Placement(Kept, frozen=True, kw_only=True):
    """Counts of the threads that descend from the command; times are the guest's.

    A turn is the time from the switch to a thread until the switch from it. It is a migration if it
    begins on another CPU than the thread's last one ended on.
    """

    threads: int  # that had a CPU
    life_s: float  # of all together: each from the begin of its first turn to the end of its last
    cpu_s: float
    turns: int
    migrations: dict[str, int]  # by what both CPUs have in common: see trace/cut.py
    moves: int  # sched_migrate_task, those on the way to a CPU included
    residency: (
        float  # 0 to 1: of its CPU time, what a thread had in the virtual cache that gave most
    )
    by_vllc: dict[str, float]  # CPU time by virtual cache, seconds
    turn_us_mean: float  # of those that ended while it was recorded
    turn_us_p50: float
    turn_us_p99: float
    preempted: int  # turns that ended though the thread was runnable
    wakeups: int
    wakeups_on_idle: int  # of these, whose CPU idled
    seconds: float = 0.0  # of the run that was recorded
    executed: float = 0.0  # and its millions of instructions
    events: int = 0  # recorded, anybody's
