# SPDX-License-Identifier: GPL-2.0
"""What operations cost in a simulation, which by themselves take no simulated time.

benchmarks/sim-costs/measured.json comes of what saakm cost has measured in guests:

    PYTHONPATH=src python -m saakm.sim.costs benchmarks/sim-costs/measured.json

Of fifo's round trip through a pipe a profile is kept (saakm cost --where), which has the kernel's
functions: two wakeups are try_to_wake_up() and all that it calls, two switches __schedule(). Where
another policy's round trip differs, both parts do in proportion. A yield is sched_yield() less its
switch; joining or leaving is half of `setattr`; a fork is `fork` less two wakeups and two switches,
and includes the exit. System calls, copying, user space are not the scheduler's, and a workload says
itself how long a thread runs. What an agent computes is assumed: see `source` in the file.
"""

import json
import sys
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from ..base.files import write_text
from ..builder.agents import POLICY
from ..model.cost_rows import FunctionRow, Row
from ..model.fair_class import FAIR
from ..model.schema import fit, parse_json, plain, read_json
from ..model.sim_costs import Agents, CostFile, Migration, Operations

_RESULTS = paths.REPO / "benchmarks" / "results"
MEASURED = paths.REPO / "benchmarks" / "sim-costs" / "measured.json"
_COMMAND = "PYTHONPATH=src python -m saakm.sim.costs benchmarks/sim-costs/measured.json"
_WHAT = "a table of costs"
_HINT = f"{MEASURED} is one; or lines NAME INSTRUCTIONS, as wakeup 500, and rate 1000"
_BASE = "fifo"
_NOT_POLICIES = (FAIR, "sched_fifo")
# As the counted time of guests has it: 1,000 million instructions a second.
_RATE = 1000
# A thread that was moved reads a first-level cache anew, line by line.
_LINES = 32 * 1024 // 64
_NS_LLC, _NS_MEMORY = 10.27, 122.0
_FAR_TO_NEAR = 2.1  # 21 to 10, as the distances between nodes in vm/topology.py
_SOURCE = (
    f"{_LINES} lines (32 KiB of first-level data cache), fetched one by one: of the same core, none; "
    f"from the shared last-level cache in {_NS_LLC} ns each, from memory of the node in {_NS_MEMORY:g} ns "
    "(AMD EPYC 7742: AnandTech, 'AMD Rome Second Generation EPYC Review', 2019, memory "
    f"subsystem: latency), from another node {_FAR_TO_NEAR} times as long (its distance, 21 to 10). "
    "A thread with a larger working set loses more: Linux takes 500,000 ns for the time that one "
    "stays cache-hot (sysctl_sched_migration_cost in kernel/sched/fair.c)"
)

# policies/user/README.md: a round trip through a pipe is two events and two decisions, in a round each.
_AGENT_PIPE = 16_437
_AGENTS = Agents(
    round=2000,
    event=700,
    decision=700,
    source="assumed: together about what a decision of the agent fifo takes more than the policy fifo in "
    f"a round trip through a pipe ({_AGENT_PIPE:,} instructions, policies/user/README.md), less a switch to "
    "the agent. Nobody has measured which part of that is a round's, with its system call, an event's, "
    "a decision's; rustland takes more",
)


def text_for(file: Path, policy: str, rate: int | None = None) -> str:
    """What the program reads: a JSON file's costs of this policy, or the lines as they are.

    With a `rate`, in instructions a us, a CPU executes them faster or slower than the file says. Fetching
    lines of caches takes as long as before.
    """
    if file.suffix != ".json":
        if rate:
            raise SaakmError(
                f"--rate says nothing about {file}",
                "a table of lines has a rate of its own, and does not say which costs are memory's",
                f"change its line `rate`, or take a table like {MEASURED}",
            )
        return _plain_text(file)
    costs = read_json(file, CostFile, _WHAT, _HINT)
    rate = rate or costs.rate
    rows = dict(costs.of(policy).named)
    for level in ("smt", "llc", "node", "far"):
        rows[f"migration_{level}"] = getattr(costs.migration, level) * rate // costs.rate
    if policy == POLICY:
        for what in ("round", "event", "decision"):
            rows[f"agent_{what}"] = getattr(costs.agents, what)
    return _lines({**rows, "rate": rate})


def _lines(rows: dict[str, int]) -> str:
    return "".join(f"{name} {value}\n" for name, value in rows.items())


def _plain_text(file: Path) -> str:
    """Of lines the program itself knows which are right, and where one is not."""
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise SaakmError(f"{file} is not {_WHAT}", str(error), _HINT) from error


# --- how the table is made ---


def derive() -> CostFile:
    rows = fit(parse_json((_RESULTS / "operations.json").read_text()), list[Row])
    functions = fit(parse_json((_RESULTS / "where.json").read_text()), list[FunctionRow])
    measured: dict[str, dict[str, float]] = {}
    for row in rows:
        measured.setdefault(row.scheduler, {})[row.operation] = row.instructions
    parts = {
        row.function: row.with_callees / 2
        for row in functions
        if (row.scheduler, row.operation) == (_BASE, "pipe")
    }
    base = parts["try_to_wake_up"], parts["__schedule"], measured[_BASE]["pipe"]
    return CostFile(
        command=_COMMAND,
        measured="benchmarks/results/operations.json (saakm cost) and benchmarks/results/where.json "
        f"(saakm cost --where --op pipe --schedulers {_BASE})",
        rate=_RATE,
        migration=_migration(),
        agents=_AGENTS,
        policies={
            name: _operations(found, *base)
            for name, found in measured.items()
            if name not in _NOT_POLICIES and not name.startswith("scx_")
        },
        others=_BASE,
    )


def _operations(
    found: dict[str, float], wakeup: float, switch: float, base_pipe: float
) -> Operations:
    both = wakeup + switch
    scale = (both + (found["pipe"] - base_pipe) / 2) / both
    wakeup, switch = wakeup * scale, switch * scale
    return Operations(
        wakeup=round(wakeup),
        switch=round(switch),
        tick=round(found["tick"]),
        yield_=max(round(found["yield"] - switch), 0),
        fork=max(round(found["fork"] - 2 * (wakeup + switch)), 0),
        setattr=round(found["setattr"] / 2),
    )


def _migration() -> Migration:
    memory = _LINES * _NS_MEMORY * _RATE / 1000
    return Migration(
        smt=0,
        llc=round(_LINES * _NS_LLC * _RATE / 1000),
        node=round(memory),
        far=round(memory * _FAR_TO_NEAR),
        source=_SOURCE,
    )


def written() -> str:
    return json.dumps(plain(derive()), indent=1) + "\n"


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), written())
