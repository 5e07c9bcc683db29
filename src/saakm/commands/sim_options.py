# SPDX-License-Identifier: GPL-2.0
"""The options of saakm sim."""

from pathlib import Path
from typing import Annotated

import typer

from ..builder.agents import DEFAULT, OURS, POLICY, SCHEDULERS
from ..model.experiment import SEED
from ..sim.asked import USUAL_TIME
from ..sim.kinds import Compiler
from ..sim.machine import NR_CPUS

Policy = Annotated[
    str,
    typer.Argument(
        help=f"A policy's name or directory; {', '.join(SCHEDULERS)}.", show_default=False
    ),
]
# A list, as under.AgentOption is.
AgentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="<str>",
        help=f"Of {POLICY}: who decides, with its options, as 'fifo --slice-us 1000': one of {', '.join(OURS)}, "
        "or the directory of a project of cargo's.",
        show_default=DEFAULT,
    ),
]
Load = Annotated[
    list[str] | None,
    typer.Option("--load", help="Another policy to load besides; may be repeated."),
]
Topology = Annotated[
    str,
    typer.Option(
        "--topology",
        help="Machine: 1s4c (1 socket, 4 cores); 8s64c2t (8 sockets x 64 cores x 2 threads = 1,024 "
        f"CPUs); at most {NR_CPUS[-1]:,} CPUs.",
    ),
]
Workload = Annotated[
    str,
    typer.Option(
        "--workload",
        help="NAME[:KEY=VALUE,...] of --list, or a file: a program's text, rt-app's JSON, or a recording of "
        "saakm trace, trace-cmd or perf sched record (RECORDING:only=NAME: threads of that name).",
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=SEED.ge, max=SEED.le, help="The same seed repeats every event."),
]
For = Annotated[
    str,
    typer.Option(
        "--for",
        help="Simulated time at most, as 500ms; a workload may end before.",
        show_default=f"{USUAL_TIME}, or the duration that an rt-app file names",
    ),
]
List = Annotated[bool, typer.Option("--list", help="Show the workloads.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Elsewhere = Annotated[
    bool,
    typer.Option(
        "--agent-elsewhere",
        hidden=True,
        help="Run nothing: print what a test must know that starts the simulator and is the agent.",
    ),
]
Sanitize = Annotated[
    bool,
    typer.Option(
        "--sanitize", help="Find wrong uses of memory, overflows and the like (ASan, UBSan)."
    ),
]
Check = Annotated[
    bool,
    typer.Option("--check", help="After each event compare the class's books with one another."),
]
CompilerOption = Annotated[
    Compiler | None,
    typer.Option(
        "--compiler", help="Compile with it; no result depends on it.", show_default="gcc"
    ),
]
Interleave = Annotated[
    int,
    typer.Option(
        "--interleave", min=0, max=10**6,
        help="Find races: 1 in N operations on locks lets other CPUs run first, as 10; 0: none.",
    ),
]  # fmt: skip
Free = Annotated[
    bool, typer.Option("--free", help="Scheduling takes no simulated time, whatever it does.")
]
Costs = Annotated[
    Path | None,
    typer.Option(
        "--costs",
        help="What a wakeup, switch, tick costs: a file like benchmarks/sim-costs/measured.json.",
        show_default="that file",
    ),
]
Rate = Annotated[
    int | None,
    typer.Option(
        "--rate", min=1, max=10**6,
        help="Instructions that a CPU executes in a us: costs are instructions, but for those of caches.",
        show_default="the file's, 1000",
    ),
]  # fmt: skip
Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        help="A parameter of the policy's module, as slice_us=2000, or rr.slice_us=2000 of one that "
        "is loaded besides; may be repeated.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A file of /sys/kernel/saakm, as handler_limit_ms=500; may be repeated."
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        help="Write a Perfetto trace: a file NAME.perfetto-trace, or a directory, for pictures, too.",
    ),
]
Coverage = Annotated[
    Path | None,
    typer.Option(
        "--coverage", help="Count which lines and branches run; HTML goes to this directory."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Keep the result, the kernel's messages and the inputs there."),
]
