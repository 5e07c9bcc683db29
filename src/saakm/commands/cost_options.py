# SPDX-License-Identifier: GPL-2.0
"""The options of saakm cost."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..builder import agents
from ..builder.peers import CRATES, OURS
from ..lab.cost.axes import AXES
from ..lab.cost.baseline import NOISE, RATIO_NOISE, RATIO_TOLERANCE, REBUILT_TOLERANCE, TOLERANCE
from ..lab.cost.operations import OPERATIONS
from ..model.experiment import CPUS, RUNNABLE, SCALE, SEED, SEEDS
from ..vm.options import FEATURES, KERNEL
from .under import AgentOption


def _limits(usual: float, noise: dict[str, float]) -> str:
    others = ", ".join(f"{name} {part * 100:.0f}" for name, part in noise.items())
    return f"{usual * 100:.0f} % ({others})"


Op = Annotated[
    str, typer.Option("--op", help=f"Comma list: {', '.join(OPERATIONS)}.", show_default="all")
]
Schedulers = Annotated[
    str,
    typer.Option(
        "--schedulers",
        show_default="fair, sched_fifo, scx_fifo, all policies",
        help=f"Comma list: fair, sched_fifo, policies, {', '.join(agents.SCHEDULERS)}, {', '.join(OURS)}; "
        f"{', '.join(CRATES)}, which are built from crates.io, with options as 'NAME --OPTION'. POLICY:PARAMETER=VALUE loads a "
        "policy with parameters.",
    ),
]
Agent = AgentOption
Axis = Annotated[str, typer.Option("--axis", help=f"Measure along one of: {', '.join(AXES)}.")]
Values = Annotated[str, typer.Option("--values", help="Comma list of numbers: where on the axis.")]
Cpus = Annotated[int, typer.Option("--cpus", min=CPUS.ge, max=CPUS.le, help="Of the machine.")]
Seed = Annotated[int, typer.Option("--seed", min=SEED.ge, max=SEED.le, help="The first seed.")]
Seeds = Annotated[
    int,
    typer.Option("--seeds", min=SEEDS.ge, max=SEEDS.le, help="Replicates, each with another seed."),
]
Runnable = Annotated[
    int,
    typer.Option(
        "--runnable",
        min=RUNNABLE.ge,
        max=RUNNABLE.le,
        help="More runnable threads on the CPU; for yield and crowd.",
    ),
]
Load = Annotated[
    list[str] | None,
    typer.Option("--load", help="Policies to load besides, without threads; may be repeated."),
]
Switches = Annotated[
    bool, typer.Option("--switches", help="With the checks of /sys/kernel/saakm on.")
]
Scale = Annotated[
    int,
    typer.Option(
        "--scale", min=SCALE.ge, max=SCALE.le, help="Per cent of the usual number of rounds."
    ),
]
Kernel = Annotated[str, KERNEL]
Features = Annotated[str, FEATURES]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        help="Measure what this file has, and fail at a regression of more than "
        f"{_limits(TOLERANCE, NOISE)} in counts, and of more than "
        f"{_limits(RATIO_TOLERANCE, RATIO_NOISE)} in ratios to SCHED_FIFO's. If the file is of "
        "another build, compiler or QEMU, only ratios are compared; if of another build or "
        f"compiler, at least {REBUILT_TOLERANCE * 100:.0f} % are allowed. A kernel of another "
        "series or preemption model is refused.",
    ),
]
WriteBaseline = Annotated[Path | None, typer.Option("--write-baseline", help="Write such a file.")]
Svg = Annotated[Path | None, typer.Option("--svg", help="Draw a picture.")]
Png = Annotated[Path | None, typer.Option("--png", help="Draw a picture.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", help="Write tables, and pictures beside them.")
]
Where = Annotated[
    bool,
    typer.Option("--where", help="Also count by function, in one boot each, slower."),
]
Flame = Annotated[
    Path | None, typer.Option("--flame", help="Write the same as a flame graph (SVG).")
]
Top = Annotated[int, typer.Option("--top", min=1, help="Functions to show.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@dataclass(frozen=True)
class Output:
    json: bool
    top: int
    svg: Path | None
    png: Path | None
    markdown: Path | None
    flame: Path | None

    @property
    def pictures(self) -> list[Path]:
        return [path for path in (self.svg, self.png) if path]
