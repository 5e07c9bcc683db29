# SPDX-License-Identifier: GPL-2.0
"""The options of saakm dev that only --sim has, and those that it does not take."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args

import typer

from ..base.errors import SaakmError
from ..sim.asked import Asked
from ..vm.options import VmOptions
from . import sim_options, under

_PANEL = "With --sim"
# What a simulated machine has of a VM's options.
_ALSO_SIMULATED = ("cpus", "topology", "seed", "timeout")


def _simulated(option: Any) -> Any:
    """The same option as of saakm sim, in a panel of its own."""
    found = copy.copy(get_args(option)[1])
    found.rich_help_panel = _PANEL
    return found


def _of_both() -> Any:
    found = copy.copy(get_args(under.AgentOption)[1])
    found.help = f"{found.help.removesuffix(', or any other.')}; without --sim, or any other."
    return found


AgentOption = Annotated[list[str] | None, _of_both()]
Load = Annotated[list[str] | None, _simulated(sim_options.Load)]
Param = Annotated[list[str] | None, _simulated(sim_options.Param)]
Set = Annotated[list[str] | None, _simulated(sim_options.Set)]
Sanitize = Annotated[bool, _simulated(sim_options.Sanitize)]
Check = Annotated[bool, _simulated(sim_options.Check)]
Interleave = Annotated[int, _simulated(sim_options.Interleave)]
Free = Annotated[bool, _simulated(sim_options.Free)]
EachFor = Annotated[
    str,
    typer.Option(
        "--each-for",
        help="Simulated time of each run at most, as 500ms; a workload may end before.",
        show_default="as of saakm sim --for",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Choices:
    """What was given of these."""

    load: Sequence[str]
    param: Sequence[str]
    set: Sequence[str]
    sanitize: bool
    check: bool
    interleave: int
    free: bool
    each_for: str

    def refuse_in_guest(self) -> None:
        for field in fields(self):
            if getattr(self, field.name):
                name = field.name.replace("_", "-")
                raise SaakmError(
                    f"--{name} has no effect in a guest",
                    "it is about a simulation",
                    f"add --sim, or leave out --{name}",
                )

    def asked(self, policy: str, agent: str | None, workload: str, vm: VmOptions) -> Asked:
        _refuse_in_simulation(vm)
        return Asked(
            policy=policy,
            besides=self.load,
            topology=vm.shape,
            workload=workload,
            seed=vm.seed,
            simulated=self.each_for,
            params=self.param,
            settings=self.set,
            free=self.free,
            sanitize=self.sanitize,
            check=self.check,
            interleave=self.interleave,
            agent=agent,
        )


def _refuse_in_simulation(vm: VmOptions) -> None:
    vm.refuse_two_shapes()
    usual: Mapping[str, Any] = {field.name: field.default for field in fields(VmOptions)}
    for name, value in usual.items():
        if name not in _ALSO_SIMULATED and getattr(vm, name) not in (value, []):
            raise SaakmError(
                f"--{name} has no effect with --sim",
                "it is about a virtual machine, and none is booted",
                f"leave out --{name}, or --sim",
            )
