# SPDX-License-Identifier: GPL-2.0
"""What is measured. The code of each operation is in guest/cost."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...base.errors import BadInput
from ...builder import agents, peers
from ...builder.about import About
from ...builder.parameters import check_word
from ...builder.policies import module_name, own_policies, policies
from ...model.fair_class import FAIR

# These need no module of ours.
CLASSES = (FAIR, "sched_fifo")
# These never elect a thread of low priority while one of higher priority is runnable.
STRICT = ("sched_fifo", "prio")


@dataclass(frozen=True)
class Operation:
    what: str
    cpus: int = 1  # at least
    runnable: bool = False  # says something with more runnable threads
    idle: bool = False  # is told by how long a CPU was idle
    named: bool = False  # is measured only where it is named: not every scheduler ends it
    strict: bool = False  # does so under STRICT alone: elsewhere their work would be counted


# In the order in which a guest runs them.
OPERATIONS = {
    "pipe": Operation(
        "round trip through two pipes between processes on one CPU: two wakeups, two switches",
        runnable=True,
        strict=True,
    ),
    "pipe2": Operation("the same between two CPUs, instructions of both", cpus=2),
    "futex": Operation("round trip through two futexes between threads on one CPU"),
    "eventfd": Operation("round trip through two eventfds between processes on one CPU"),
    "yield": Operation("sched_yield() between two threads, or more with --runnable", runnable=True),
    "sleep": Operation(
        "a sleep until a timer on an otherwise idle CPU: "
        "block, go idle, wake up, less the idling itself",
        idle=True,
    ),
    "newidle": Operation(
        "the part of it until the CPU is idle: block, find nothing to run", idle=True
    ),
    "tick": Operation("a timer tick that interrupts a running thread"),
    "slice": Operation(
        "the end of a time slice: an interrupt, and a switch to a thread that was preempted before",
        named=True,
    ),
    "fork": Operation("fork, exit and wait; each byte of a copied page counts as an instruction"),
    "exec": Operation("a static program replaces itself, including its start"),
    "setattr": Operation(
        "sched_setattr() out of the scheduler and in again; "
        "fair and sched_ext: to another policy of the same class and back"
    ),
    "migration": Operation("sched_setaffinity() to the other CPU and back", cpus=2),
    "crowd": Operation(
        "two threads, or more with --runnable, wake up all at once: "
        "for each a wakeup, a switch and a block",
        runnable=True,
    ),
}


def meaning(name: str) -> str:
    """Also of an operation of a later version, in what it has kept."""
    return OPERATIONS[name].what if name in OPERATIONS else "this version does not know it"


def chosen_operations(names: Sequence[str], cpus: int) -> list[str]:
    """Returns them in the usual order; all that the machine has CPUs for where none is named."""
    if not names:
        return [
            name
            for name, operation in OPERATIONS.items()
            if operation.cpus <= cpus and not operation.named
        ]
    for name in names:
        if name not in OPERATIONS:
            raise BadInput(
                f"there is no operation '{name}'",
                f"there are {', '.join(OPERATIONS)}",
                "saakm cost --op NAME[,NAME]",
            )
        if OPERATIONS[name].cpus > cpus:
            raise BadInput(
                f"{name} cannot be measured on {cpus} CPU",
                f"it needs {OPERATIONS[name].cpus} CPUs",
                f"add --cpus {OPERATIONS[name].cpus}",
            )
    return [name for name in OPERATIONS if name in names]


def measurable_operations(names: list[str], about: About, wanted: bool) -> list[str]:
    """Those that this kernel tells enough for. `wanted`: the user has named them."""
    lacking = [name for name in names if OPERATIONS[name].idle and not about.tells_idle]
    if not lacking:
        return names
    why = f"{about} does not tell to the nanosecond how long a CPU was idle"
    if wanted:
        raise BadInput(
            f"{', '.join(lacking)} cannot be measured on this kernel",
            f"{why}: its /proc/timer_list has no idle_sleeptime",
            f"leave out {', '.join(lacking)}",
        )
    print(f"saakm: {why}: {', '.join(lacking)} left out", file=sys.stderr)
    return [name for name in names if name not in lacking]


def is_policy(name: str) -> bool:
    return peers.apart(name)[0] not in (*CLASSES, *peers.OURS, *peers.CRATES)


def apart(scheduler: str) -> tuple[str, list[str]]:
    """Without agent and options, and the parameters that it is loaded with: lavd:virt_llc=1-1."""
    peer, options = peers.apart(scheduler)
    if options:
        return peer, []
    name, *parameters = agents.apart(scheduler)[0].split(":")
    return name, parameters


def chosen_schedulers(
    wanted: Sequence[str], patched: bool, more: Iterable[str] = (), has_ext: bool = True
) -> list[str]:
    """All that are at hand where none is named. `more`: policies that are known besides."""
    ours = [*CLASSES, *(["scx_fifo"] if has_ext else []), *(policies() if patched else [])]
    own = [module_name(path) for path in own_policies()]
    known = [*dict.fromkeys([*ours, *peers.OURS, *peers.CRATES, *own, *more])]
    known += agents.SCHEDULERS if patched else ()
    names = list(wanted) or ours
    for name in names:
        if agents.apart(name)[1]:
            agents.chosen(name)  # refuses one that there is not
        plain, settings = apart(name)
        if plain not in known:
            raise BadInput(
                f"there is no scheduler '{plain}' to measure",
                f"there are {', '.join(known)}",
                "saakm cost --schedulers NAME[,NAME]; a policy elsewhere by its directory, and "
                "POLICY:PARAMETER=VALUE loads it with a parameter",
            )
        _check_settings(name, plain, settings)
    return names


def _check_settings(scheduler: str, name: str, settings: list[str]) -> None:
    if settings and not is_policy(name):
        raise BadInput(
            f"{name} has no settings here",
            f"'{scheduler}' names some, and only policies take them",
            f"leave them out: {name}; --features sets those of fair",
        )
    check_word(name, settings)


def refuse_runnable(operations: list[str], schedulers: list[str]) -> None:
    """More runnable threads must not run in between, unless that is the operation."""
    for name in operations:
        if not can_be_crowded(name, schedulers):
            raise BadInput(
                f"--runnable says nothing about {name}",
                "a scheduler may let the other threads run in between, and their work would be "
                f"counted ({', '.join(STRICT)} do not: pipe can be measured under these)",
                "saakm cost --op yield,crowd --runnable N",
            )


def can_be_crowded(operation: str, schedulers: list[str]) -> bool:
    kind = OPERATIONS[operation]
    return kind.runnable and (not kind.strict or set(schedulers) <= set(STRICT))
