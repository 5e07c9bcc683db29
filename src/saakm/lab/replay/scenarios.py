# SPDX-License-Identifier: GPL-2.0
"""What threads of fair do while its calls are recorded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    """`groups`: as guest/mixture/main.c takes them. `features`: what is written to sched/features."""

    name: str
    about: str
    groups: tuple[str, ...]
    features: tuple[str, ...] = ()


# Those who sleep make most picks; two who would take all of the CPU are in most scenarios.
_SLEEPERS = "5*run=20-300,sleep=20-900"
_HOGS = "2*run=20000"
_RING = "6*run=5-40,ring=2"
_SHORT = "2*slice=100,run=20-60,sleep=100-700"
_LONG = "2*slice=20000,run=20000"
_USUAL = (_SLEEPERS, _SHORT, _RING, _HOGS)
_MIXED = (
    "4*run=10-300,sleep=10-600,renice=10,reslice=10,repolicy=10",
    "2*run=10-60,fork=0-2,exec=0-1,sleep=0-300",
    "2*run=30-100,yield=0-4,nice=-5-5",
    "8*run=1-20,toss=5",
    _SHORT,
    _HOGS,
)

_ALL = (
    Scenario(
        "weights",
        "nice -20 to 19, asleep and busy",
        ("8*nice=-20-19,run=10-200,sleep=10-400", "3*nice=-5-5,run=9000"),
    ),
    Scenario(
        "slices",
        "slices of 0.1 to 20 ms, by sched_setattr()",
        ("4*run=50-400,sleep=50-900,reslice=30", _SHORT, _LONG),
    ),
    Scenario(
        "sleepers",
        "short sleeps, from which threads come with credit or a debt",
        ("8*run=5-300,sleep=5-600", _HOGS),
    ),
    Scenario(
        "fork",
        "children that run, end, and are waited for",
        ("3*run=10-100,fork=1-4,sleep=0-300", _HOGS),
    ),
    Scenario(
        "exec",
        "children that are another program",
        ("3*run=10-100,exec=1-2,sleep=0-300", _HOGS),
    ),
    Scenario("yield", "sched_yield() among others", ("3*run=100-400,yield=1-8", _SLEEPERS)),
    Scenario(
        "nice-changes",
        "nice of running and of runnable threads changes",
        ("6*run=20-300,sleep=0-500,renice=30", _HOGS),
    ),
    Scenario(
        "short-slices",
        "slices of 0.1 ms among 20 ms",
        ("4*slice=100,run=20-150,sleep=30-500", "3*slice=20000,run=20000"),
    ),
    Scenario(
        "delayed",
        "who sleeps with a debt, and is woken soon",
        ("6*run=300-1500,sleep=1-300", _SLEEPERS),
    ),
    Scenario(
        "policies",
        "SCHED_BATCH and SCHED_IDLE, and changes of them",
        (
            "3*policy=3,run=30-500,sleep=10-500",
            "2*policy=5,run=30-500,sleep=10-500",
            "3*run=30-300,sleep=10-900,repolicy=30",
        ),
    ),
    Scenario(
        "moves",
        "threads that their affinity sends to other CPUs, running and asleep",
        ("6*run=20-300,sleep=0-500,move=30", "2*run=300-1500,sleep=1-300,move=20", _HOGS),
    ),
    Scenario("pipes", "messages to anybody, as hackbench's", ("20*run=1-9,toss=14", _RING)),
    Scenario("mixed", "all of that", _MIXED),
    Scenario("no-parity", "as NO_RUN_TO_PARITY", _USUAL, ("NO_RUN_TO_PARITY",)),
    Scenario("next-buddy", "as NEXT_BUDDY", _USUAL, ("NEXT_BUDDY",)),
    Scenario("no-preempt-short", "as NO_PREEMPT_SHORT", _USUAL, ("NO_PREEMPT_SHORT",)),
    Scenario("no-delay", "as NO_DELAY_DEQUEUE", _USUAL, ("NO_DELAY_DEQUEUE",)),
    Scenario("no-delay-zero", "as NO_DELAY_ZERO", _USUAL, ("NO_DELAY_ZERO",)),
    Scenario("no-lag", "as NO_PLACE_LAG", _USUAL, ("NO_PLACE_LAG",)),
    Scenario("no-wakeup", "as NO_WAKEUP_PREEMPTION", _USUAL, ("NO_WAKEUP_PREEMPTION",)),
    Scenario("mixed-buddy", "`mixed` with both", _MIXED, ("NEXT_BUDDY", "NO_RUN_TO_PARITY")),
)
SCENARIOS = {scenario.name: scenario for scenario in _ALL}
