# SPDX-License-Identifier: GPL-2.0
"""What a simulator prints at its end: the line of JSON, as types."""

from .schema import SCHEMA, Kept

FORM = 1  # of the line; another one would have another meaning


class Distribution(Kept, frozen=True, kw_only=True):
    """Is of `count` times. The percentiles come from a histogram of relative error <= 1 %."""

    count: int = 0
    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    p50_ns: int = 0
    p90_ns: int = 0
    p99_ns: int = 0
    p999_ns: int = 0


class Ejection(Kept, frozen=True, kw_only=True):
    kind: str
    reason: str
    at_ns: int


class Policy(Kept, frozen=True, kw_only=True):
    name: str
    id: int
    threads: int
    ejected: Ejection | None = None


class Group(Kept, frozen=True, kw_only=True):
    """The threads of one group of the workload, together."""

    name: str
    policy: str
    threads: int
    run_ns: int
    switches: int
    preemptions: int
    migrations: int
    iterations: int
    waits: Distribution  # from runnable to running
    marks: dict[str, Distribution] = {}


class Migrations(Kept, frozen=True, kw_only=True):
    """By the nearest thing that the two CPUs share: a core, a cache, a node, or none of these."""

    smt: int = 0
    llc: int = 0
    node: int = 0
    far: int = 0

    @property
    def total(self) -> int:
        return self.smt + self.llc + self.node + self.far


class Deciding(Kept, frozen=True, kw_only=True):
    """An agent: a thread that decides for a set of CPUs. What it did before the run began counts."""

    cpus: str
    starts: int  # more than one: it has ended, as its policy was ejected
    rounds: int
    events: int
    decisions: int
    run_ns: int
    switches: int


class Simulation(Kept, frozen=True, kw_only=True):
    form: int
    seed: int
    cpus: int
    end_ns: int
    interrupted: bool
    events: int
    switches: int
    wakeups: int
    ticks: int
    forks: int
    migrations: Migrations
    idle_ns: int
    cost_ns: int
    hash: str  # of all switches and transitions
    policies: list[Policy] = []
    groups: list[Group] = []
    agents: list[Deciding] = []
    warnings: list[str] = []
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.form != FORM:
            raise ValueError(f"`form` is {self.form}, and this version reads form {FORM}")

    @property
    def ejected(self) -> list[Policy]:
        return [policy for policy in self.policies if policy.ejected]
