# SPDX-License-Identifier: GPL-2.0
"""What saakm bench keeps: a line for each run, and one before them that says where they ran."""

import json
from typing import Literal

from .placement import Placement
from .schema import SCHEMA, Kept, plain
from .workload import Better, Meaning

# What two runs have in common that need not be done twice.
_KEY = (
    "workload",
    "variant",
    "definition",
    "scheduler",
    "build",
    "round",
    "traced",
    "kernel",
    "machine",
)


class Shape(Kept, frozen=True, kw_only=True, omit_defaults=True):
    """Describes the machine: figures of another one cannot be compared."""

    on: Literal["guest", "host"]
    cpus: int | None
    accel: str | None = None
    topology: str | None = None
    memory: str | None = None
    deterministic: bool | None = None
    append: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None  # of the fair class, as they were set
    name: str | None = None  # of a host
    vllc: tuple[str, ...] | None = None  # its virtual caches, where it counts where threads ran

    @property
    def emulated(self) -> bool:
        return (self.accel or "").startswith("tcg")


class Host(Kept, frozen=True, kw_only=True):
    """The machine that emulates, or is measured itself."""

    kernel: str
    cpus: int | None
    cpu: str
    load: float


class Linux(Kept, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel is, in words; its hash is in the records besides."""

    release: str = ""  # as 6.12.117; empty in results that do not say it
    preemption: str = ""  # its preemption model
    patched: bool = True  # it has SaaKM's class

    def __str__(self) -> str:
        return f"Linux {self.release}, {self.preemption}" if self.release else ""


class Percentiles(Kept, frozen=True, kw_only=True, omit_defaults=True, rename={"p99_9": "p99.9"}):
    """Holds percentiles of `n` waits for a CPU, in microseconds; none if there was no wait."""

    n: int
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None


class Latency(Kept, frozen=True, kw_only=True):
    wakeup_us: Percentiles  # from the wakeup until the thread runs
    queue_us: Percentiles  # ready and not running, whatever came before
    from_s: float  # of a long run only the end is kept
    complete: bool


class EnvironmentRecord(Kept, frozen=True, kw_only=True, tag="environment", tag_field="kind"):
    when: str
    command: str
    kernel: str
    config: str | None
    commit: str
    machine: Shape
    schedulers: tuple[str, ...]
    seed: int
    qemu: str | None
    host: Host
    linux: Linux = Linux()
    schema: int = SCHEMA


class Row(Kept, frozen=True, kw_only=True, omit_defaults=True):
    """One of several figures of a run."""

    table: str
    label: str
    value: float
    unit: str
    better: Better
    meaning: Meaning
    stddev: float | None = None  # of what the program has measured within the run


class RunRecord(Kept, frozen=True, kw_only=True, tag="run", tag_field="kind"):
    workload: str
    variant: str
    family: str
    point: str
    definition: str
    scheduler: str
    build: str
    round: int
    traced: bool
    kernel: str
    machine: Shape
    unit: str
    better: Better
    meaning: Meaning
    when: str = ""
    value: float | None = None  # of no run that failed
    error: str | None = None
    seconds: float | None = None
    user: float | None = None
    system: float | None = None
    switches: int = 0  # context switches of its processes
    involuntary: int = 0
    executed: float | None = None  # millions of instructions, where they are counted
    latency: Latency | None = None
    placement: Placement | None = None
    rows: tuple[Row, ...] = ()  # of a workload with tables
    splats: tuple[str, ...] = ()
    linux: Linux = Linux()
    schema: int = SCHEMA

    @property
    def key(self) -> str:
        return json.dumps([plain(getattr(self, name)) for name in _KEY], sort_keys=True)


Record = RunRecord | EnvironmentRecord
