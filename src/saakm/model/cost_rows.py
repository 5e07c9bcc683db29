# SPDX-License-Identifier: GPL-2.0
"""What saakm cost keeps: figures, one a row, and baselines of them."""

from .schema import SCHEMA, Finite, Kept, Positive, Word


class Row(Kept, frozen=True):
    """Instructions of an operation under a scheduler: the mean of some seeds."""

    scheduler: Word
    operation: Word
    instructions: Positive
    spread: Finite  # between the seeds, as a part of their mean
    cpus: int
    seeds: list[int]
    values: list[Finite]  # of each seed
    loaded: list[str] = []
    runnable: int = 0
    switches: bool = False
    scale: int = 100
    bystanders: int = 0
    features: list[str] = []
    kernel: str = ""  # its version
    preemption: str = ""  # its preemption model
    patched: bool = True  # it has SaaKM's class
    schema: int = SCHEMA

    @property
    def besides(self) -> list[str]:
        """What was loaded, but for the policy that was measured."""
        own = self.scheduler.partition(":")[0]
        return [name for name in self.loaded if name != own]

    @property
    def key(self) -> tuple[object, ...]:
        """What two rows have in common that can be compared."""
        return (
            self.scheduler,
            self.operation,
            self.cpus,
            tuple(self.loaded),
            self.runnable,
            self.switches,
            self.scale,
            self.bystanders,
            tuple(self.features),
        )


class FunctionRow(Kept, frozen=True, kw_only=True):
    """What one function takes of an operation: of the kernel, or of a program in user space."""

    scheduler: Word
    operation: Word
    function: str
    instructions: Finite
    with_callees: Finite
    kernel: str = ""  # its version
    preemption: str = ""  # its preemption model
    schema: int = SCHEMA


class BaselineFile(Kept, frozen=True, kw_only=True):
    """Figures of one run, and of which kernel, compiler and QEMU they are."""

    rows: list[Row]
    kernel: str = ""
    compiler: str = ""
    qemu: str = ""
    preemption: str = "PREEMPT"  # what files have been of that do not say it
    patched: bool = True
    schema: int = SCHEMA

    @property
    def identity(self) -> dict[str, str]:
        noted = {"kernel": self.kernel, "compiler": self.compiler, "qemu": self.qemu}
        return {name: value for name, value in noted.items() if value}
