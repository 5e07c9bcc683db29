# SPDX-License-Identifier: GPL-2.0
"""One file of rt-app in the simulator."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ...base.errors import SaakmError
from ...builder.policies import find_policy
from ...sim.build import build
from ...sim.costs import MEASURED, text_for
from ...sim.kbuild import read_module
from ...sim.kinds import Compiler, Kind, Recipe
from ...sim.machine import nr_cpus
from ...sim.run import run
from ...sim.scenario import Scenario
from ...trace.events import parse_events
from ...workload.program import CpuList, Group, Object, Op, Policy, Program, Ref, Time
from ...workload.program_text import to_text
from .case import Case
from .figures import Foreign, Run, read

TICK_NS = 4_000_000
RTAPP = "rt-app"
_TRIES = 3
# What rt-app and its system calls execute besides its loops, before it sleeps, and to wake others.
_STEPS_NS = dict.fromkeys(("sleep", "timer", "wait", "meet"), 3_300)
_STEPS_NS |= dict.fromkeys(("signal", "broadcast"), 1_800)
# Of these loops `run` does whole ones: "calibration" is 8000.
LOOP_NS = 8_000
# Until a CPU that idles has a thread that another one has woken (in the simulator's own: 1 us).
_IPI_NS = 4_000
_START = "rt-app.start"
# Instructions of pthread_create(), and of a thread before it comes to the barrier.
FORK = 56_000
_FIRST_STEPS_NS = 60_000


def simulate(
    case: Case, policy: str, phase_ns: int | None = None, foreign: Sequence[Foreign] = ()
) -> Run:
    """`phase_ns`: how long after a tick the first thread begins.

    `foreign`: when threads of the kernel's own come between, of which the simulator knows nothing.
    """
    costs, start_ns = _costs(policy), 0
    found = _first(case, policy)
    if phase_ns is None:
        return found
    # Where ticks come decides a little how long the start takes.
    for _ in range(_TRIES):
        takes_ns = found.begin_ns - start_ns
        start_ns = (phase_ns - takes_ns) % TICK_NS
        program = as_started(case.program, start_ns, costs["tick"])
        found = _run(case, _disturbed(program, foreign, start_ns, takes_ns), policy, costs)
        if found.begin_ns - start_ns == takes_ns:
            break
    return found


@cache
def _first(case: Case, policy: str) -> Run:
    costs = _costs(policy)
    return _run(case, as_started(case.program, 0, costs["tick"]), policy, costs)


def _run(case: Case, program: Program, policy: str, costs: dict[str, int]) -> Run:
    source = find_policy(policy)
    if not source:
        raise SaakmError(f"there is no policy '{policy}'", "the simulator has none", "name another")
    recipe = Recipe(Kind.PLAIN, Compiler.GCC, nr_cpus(case.topology))
    scenario = Scenario(
        topology=case.topology,
        program=to_text(program),
        seed=1,
        end_ns=case.duration_ns + 2 * TICK_NS,
        ipi_ns=_IPI_NS,
        costs="".join(f"{name} {value}\n" for name, value in costs.items()),
    )
    with tempfile.TemporaryDirectory(prefix="saakm-timing-") as scratch:
        file = Path(scratch) / "events"
        run(build([read_module(source)], recipe), scenario, file)
        with file.open(errors="replace") as lines:
            return read(list(parse_events(lines)), RTAPP, case.duration_ns)


def as_started(program: Program, start_ns: int, tick_ns: int) -> Program:
    """As rt-app does it: a thread under the policy forks all others, which inherit that, and meet at a barrier."""
    forks = tuple(Op("fork", (group.name, group.instances)) for group in program.groups)
    rtapp = Group(RTAPP, (*forks, Op("join", ("all",))), start_ns=start_ns)
    groups = [_forked(group, tick_ns) for group in program.groups]
    barrier = Object("barrier", _START, 1, program.threads)
    return replace(program, groups=(rtapp, *groups), objects=(*program.objects, barrier))


def _forked(group: Group, tick_ns: int) -> Group:
    before = [Op("run", (Time("fixed", (_FIRST_STEPS_NS,)),))]
    if group.policy != Policy("main"):
        before.append(Op("set_policy", (group.policy,)))
    if group.nice:
        before.append(Op("set_nice", (group.nice,)))
    before += [Op("barrier", (Ref(_START),)), *_delay(group)]
    if group.cpus.ranges:
        before.append(Op("set_cpus", (group.cpus,)))
    ops = (*before, *_with_own_steps(group.ops, tick_ns))
    return replace(group, instances=0, start_ns=0, inherit=True, ops=ops)


def _with_own_steps(ops: Iterable[Op], tick_ns: int) -> list[Op]:
    """Steps come before a mutex is locked: while rt-app holds it there are next to none."""
    found: list[Op] = []
    locked: int | None = None
    for op in ops:
        if op.name in _STEPS_NS:
            steps = _run_for(_STEPS_NS[op.name], op.line)
            found.insert(len(found) if locked is None else locked, steps)
        if op.name in ("lock", "unlock"):
            locked = len(found) if op.name == "lock" else None
        match op:
            case Op("run", (Time("fixed", (ns,)),)):
                found.append(_run_for(_without_ticks(ns // LOOP_NS * LOOP_NS, tick_ns), op.line))
            case _:
                found.append(op)
    return found


def _run_for(ns: int, line: int) -> Op:
    return Op("run", (Time("fixed", (ns,)),), line)


def _without_ticks(ns: int, tick_ns: int) -> int:
    """In the guest ticks are part of a run (guest/timing.c), here they come on top."""
    return ns - ns * tick_ns // TICK_NS


def _delay(group: Group) -> list[Op]:
    """All timers of rt-app count from its beginning, and a delay is theirs, too."""
    delay = Time("fixed", (group.start_ns,))
    timers = {op.operands[0]: op for op in group.ops if op.name == "timer"}
    found = [Op("timer", (timer, Time("fixed", (0,)), "relative")) for timer in timers]
    found += [Op("timer", (timer, delay, "absolute")) for timer in timers]
    return found if timers else [Op("sleep", (delay,))]


def _disturbed(
    program: Program, foreign: Sequence[Foreign], start_ns: int, takes_ns: int
) -> Program:
    """Beside it a fair thread on each CPU, which has it when threads of the kernel's own had it."""
    groups, timers = list(program.groups), []
    for cpu in sorted({one.cpu for one in foreign}):
        name = f"foreign{cpu}"
        ops, at_ns = list[Op](), 0
        for one in foreign:
            if one.cpu == cpu:
                due_ns = takes_ns + one.at_ns
                wait = Time("fixed", (due_ns - at_ns,))
                ops.append(Op("timer", (Ref(name), wait, "absolute")))
                ops.append(Op("run", (Time("fixed", (one.for_ns,)),)))
                at_ns = due_ns
        timers.append(Object("timer", name))
        only = CpuList(((cpu, cpu),))
        groups.insert(
            0, Group(name, tuple(ops), start_ns=start_ns, policy=Policy("fair"), cpus=only)
        )
    return replace(program, groups=tuple(groups), objects=(*program.objects, *timers))


def _costs(policy: str) -> dict[str, int]:
    """As measured, but a fork makes a thread, and no process; and QEMU has no caches."""
    lines = (line.split() for line in text_for(MEASURED, policy).splitlines())
    rows = {name: int(value) for name, value in lines}
    rows |= {name: 0 for name in rows if name.startswith("migration_")}
    return rows | {"fork": FORK}
