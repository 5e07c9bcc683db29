# SPDX-License-Identifier: GPL-2.0
"""The options that all commands share which boot a guest."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..base import cache
from ..base.errors import BadInput, SaakmError
from ..base.sizes import megabytes
from ..builder import given, kconfig, unpatched
from ..model.experiment import SEED
from . import features
from .accel import check_accel, choose_accel
from .machine import TCG, Machine, default_memory
from .qemu import find_qemu
from .topology import parse_topology

_PANEL = "Machine"
_USUAL = "1s4c"


def named(context: typer.Context, param: typer.CallbackParam, value: str) -> str:
    """A variable of a script that is not set means ours to nobody, who then measures it."""
    source = context.get_parameter_source(param.name or "")
    if source and source.name == "COMMANDLINE" and not value.strip(", "):
        raise typer.BadParameter("it is empty; leave the option out for what is usual")
    return value


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, **more)


KERNEL = _option(
    "--kernel",
    help="One that is not ours: a vmlinux in its build directory, or a series that is fetched and "
    f"built, unpatched ({', '.join(unpatched.series())}).",
    show_default=False,
    callback=named,
)
FEATURES = _option(
    "--features",
    help="Comma list of the fair class's own features (sched/features in debugfs), as "
    "NEXT_BUDDY,NO_RUN_TO_PARITY.",
    show_default=False,
    callback=named,
)


def _some_seconds(value: float) -> float:
    if not value > 0:  # nan neither
        raise typer.BadParameter(f"{value:g} is not a number of seconds above 0")
    return value


@dataclass(frozen=True)
class VmOptions:
    """What the user asked of the machine."""

    cpus: Annotated[int | None, _option("--cpus", help="Number of CPUs, on one socket.")] = None
    topology: Annotated[
        str | None,
        _option(
            "--topology",
            help="Machine: 1s4c (1 socket, 4 cores); 2s4c2t (2 sockets x 4 cores x 2 threads = 16 CPUs); "
            "1s2l4c (1 socket x 2 LLCs x 4 cores each = 8 CPUs).",
        ),
    ] = None
    memory: Annotated[str | None, _option("--memory", help="Size, as 1G or 512M.")] = None
    deterministic: Annotated[
        bool,
        _option(
            "--deterministic", help="Time is the number of executed instructions: measures cost."
        ),
    ] = False
    seed: Annotated[
        int,
        _option(
            "--seed",
            min=SEED.ge,
            max=SEED.le,
            help="Another seed, another run; it repeats with run --exact.",
        ),
    ] = 1
    accel: Annotated[
        str,
        _option(
            "--accel",
            help="auto, kvm, tcg (emulation), or tcg,thread=single: slower, and needed by what patches "
            "much code under load (sched_ext, core scheduling) if QEMU is older than 8.1.",
        ),
    ] = "auto"
    config: Annotated[
        str,
        _option(
            "--config",
            help="Kernel: base (to measure), features (as base, with --features and XFS), "
            "debug (to test), kcsan (data races).",
        ),
    ] = "base"
    kernel: Annotated[str, KERNEL] = ""
    features: Annotated[str, FEATURES] = ""
    append: Annotated[
        list[str] | None, _option("--append", help="A kernel argument; may be repeated.")
    ] = None
    timeout: Annotated[
        float,
        _option(
            "--timeout",
            help="Seconds after which a command counts as hung.",
            callback=_some_seconds,
        ),
    ] = 300.0

    def check(self) -> None:
        """Refuses what can be refused at once, before a kernel is built for minutes."""
        cache.refuse_hidden()
        find_qemu(may_fetch=False)
        self.refuse_two_shapes()
        parse_topology(self.shape)
        kconfig.fragments(self.config)
        if self.kernel:
            self._refuse_two_kernels()
            given.check(self.kernel)
        if self.set_features and not self.kernel:
            features.refuse_without_ours(self.config)
        check_accel(self.accel)
        megabytes(self.memory or "1G")

    @property
    def set_features(self) -> tuple[str, ...]:
        return features.parse(self.features)

    def _refuse_two_kernels(self) -> None:
        if self.config != "base":
            raise BadInput(
                "--kernel and --config exclude each other",
                f"--config {self.config} is a kernel of ours, and --kernel names another",
                "leave out one of them",
            )

    def refuse_two_shapes(self) -> None:
        if self.cpus is not None and self.topology is not None:
            raise SaakmError(
                "--cpus and --topology exclude each other",
                f"--topology {self.topology} already says how many CPUs there are",
                "leave out one of them",
            )

    @property
    def shape(self) -> str:
        """The topology's name."""
        return self.topology or (_USUAL if self.cpus is None else f"1s{self.cpus}c")

    def machine(self, vmlinux: Path, patches_code: bool = False) -> Machine:
        """Describes the machine for this kernel. `patches_code`: see choose_accel()."""
        counted = self.deterministic
        return Machine(
            topology=parse_topology(self.shape),
            memory=self.memory or default_memory(self.config),
            accel=TCG if counted else choose_accel(self.accel, vmlinux, patches_code),
            deterministic=counted,
            seed=self.seed,
            append=tuple(self.append or ()),
        )


# Where a policy is what it is about, the kernel is ours.
OUR_KERNEL = ("kernel", "features")


def with_vm_options(*without: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command these options; it takes them as one parameter, `vm`.

    `without`: names of those that make no sense there; of --timeout it is where the user, or each
    workload, says how long it takes.
    """
    ours = dict(inspect.signature(VmOptions).parameters)
    for name in without:
        del ours[name]
    return functools.partial(_with, ours)


def _with(ours: Mapping[str, inspect.Parameter], command: Callable[..., Any]) -> Callable[..., Any]:
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "vm"]

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        vm = VmOptions(**{name: values.pop(name) for name in ours})
        return command(vm=vm, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [p.replace(kind=keyword) for p in ours.values()]
    signature = inspect.Signature([p.replace(kind=keyword) for p in own] + shared)
    setattr(wrapper, "__signature__", signature)  # noqa: B010 - typeshed does not know it
    return wrapper
