# SPDX-License-Identifier: GPL-2.0
"""What operations cost in a simulation: the file that saakm sim reads."""

from typing import Annotated

from msgspec import Meta

from .schema import SCHEMA, Strict, Word, plain

Cost = Annotated[int, Meta(ge=0, le=10**12)]


class Operations(Strict, frozen=True, kw_only=True, rename={"yield_": "yield"}):
    """In instructions, of the kernel's side of each."""

    wakeup: Cost  # of a thread, on the CPU that wakes it
    switch: Cost  # from one thread to another, or to idle
    tick: Cost
    yield_: Cost = 0  # besides the switch
    fork: Cost = 0  # besides wakeups and switches
    exit: Cost = 0
    setattr: Cost = 0

    @property
    def named(self) -> dict[str, int]:
        return dict(plain(self))


class Migration(Strict, frozen=True, kw_only=True):
    """In instructions that take as long as what a thread that was moved waits for its data."""

    smt: Cost
    llc: Cost
    node: Cost
    far: Cost
    source: Word


class Agents(Strict, frozen=True, kw_only=True):
    """In instructions, of an agent's program and its system calls."""

    round: Cost
    event: Cost
    decision: Cost
    source: Word


class CostFile(Strict, frozen=True, kw_only=True):
    command: Word  # that made the file
    measured: Word  # what it is made of
    rate: Annotated[int, Meta(ge=1, le=10**6)]  # instructions in a ns, in 1/1000
    migration: Migration
    agents: Agents
    policies: dict[str, Operations]
    others: Word  # the one whose costs a policy has that was not measured
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.others not in self.policies:
            raise ValueError(f"`others` is '{self.others}', which `policies` does not have")

    def of(self, policy: str) -> Operations:
        return self.policies.get(policy, self.policies[self.others])
