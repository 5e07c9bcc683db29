# SPDX-License-Identifier: GPL-2.0
"""An experiment: lab/NAME.toml says what is measured, under what, and how often."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from ..base import paths
from .schema import Strict, check_memory, read_toml

DIRECTORY = paths.REPO / "lab"
HINT = f"{DIRECTORY}/README.md says what such a file holds"

# What the options of the same names take, too.
CPUS = Meta(ge=1, le=64)
SEED = Meta(ge=0, le=(1 << 32) - 1)
SEEDS = Meta(ge=1, le=1000)
RUNNABLE = Meta(ge=0, le=10000)
SCALE = Meta(ge=1, le=10000)
POINT = Meta(pattern=r"^[1-9][0-9]{0,5}\Z")
ROUNDS = Meta(ge=1, le=10000)
SIMULATED_CPUS = Meta(ge=4, le=4096)
NOT_EMPTY = Meta(min_length=1)


class Cost(Strict, frozen=True, kw_only=True):
    """Holds what the options of saakm cost say. What is empty has their default."""

    op: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    axis: str = ""
    values: tuple[int, ...] = ()
    cpus: Annotated[int, CPUS] = 2
    seed: Annotated[int, SEED] = 1
    seeds: Annotated[int, SEEDS] = 1
    runnable: Annotated[int, RUNNABLE] = 0
    load: tuple[str, ...] = ()
    switches: bool = False
    features: tuple[str, ...] = ()
    scale: Annotated[int, SCALE] = 100
    where: bool = False

    def __post_init__(self) -> None:
        if self.axis and (self.where or self.runnable):
            raise ValueError("an axis stands alone: it varies what runnable and where fix")
        if self.values and not self.axis:
            raise ValueError("values are of an axis, and none is named")
        for name in ("op", "schedulers", "load", "features"):
            _refuse_twice(name, getattr(self, name))

    @property
    def all_seeds(self) -> list[int]:
        return list(range(self.seed, self.seed + self.seeds))


class Bench(Strict, frozen=True, kw_only=True):
    """Holds what the options of saakm bench say."""

    workloads: tuple[str, ...] = ()
    points: tuple[Annotated[str, POINT], ...] = ()
    schedulers: tuple[str, ...] = ()
    rounds: Annotated[int, ROUNDS] = 5
    warm_up: bool = True
    latency: bool = False
    boot_each: bool = False
    deterministic: bool = False
    topology: str | None = None
    memory: str | None = None
    config: str = "base"
    seed: Annotated[int, SEED] = 1

    def __post_init__(self) -> None:
        _refuse_twice("schedulers", self.schedulers)
        _refuse_twice("workloads", self.workloads)
        _refuse_twice("points", self.points)
        if self.memory is not None:
            check_memory(self.memory)


class Placement(Strict, frozen=True, kw_only=True):
    """Where threads run. What Bench has, too, means the same; time is always counted."""

    workloads: Annotated[tuple[str, ...], NOT_EMPTY]
    schedulers: Annotated[tuple[str, ...], NOT_EMPTY]
    topology: str = "1s8c"
    vllc: str | tuple[str, ...] = ""
    memory: str | None = None
    seed: Annotated[int, Meta(ge=1, le=SEED.le)] = 1
    seeds: Annotated[int, SEEDS] = 3
    config: str = "base"
    kernel: str = ""
    warm_up: bool = True
    unrecorded: bool = True
    buffer: Annotated[int, Meta(ge=1, le=1024)] = 16

    def __post_init__(self) -> None:
        _refuse_twice("workloads", self.workloads)
        _refuse_twice("schedulers", self.schedulers)
        if self.memory is not None:
            check_memory(self.memory)

    @property
    def all_seeds(self) -> list[int]:
        return list(range(self.seed, self.seed + self.seeds))


class Scale(Strict, frozen=True, kw_only=True):
    """Simulated machines: `cpus` with `threads_a_cpu`, and `threads` on `on_cpus`."""

    policies: Annotated[tuple[str, ...], NOT_EMPTY]
    cpus: tuple[Annotated[int, SIMULATED_CPUS], ...] = ()
    threads_a_cpu: Annotated[int, Meta(ge=1, le=48)] = 10
    threads: tuple[Annotated[int, Meta(ge=1, le=200_000)], ...] = ()
    on_cpus: Annotated[int, SIMULATED_CPUS] = 1024
    rounds: Annotated[int, ROUNDS] = 3
    seed: Annotated[int, SEED] = 1

    def __post_init__(self) -> None:
        _refuse_twice("policies", self.policies)
        if not self.cpus and not self.threads:
            raise ValueError("it needs `cpus` or `threads`")
        if wrong := [n for n in (*self.cpus, self.on_cpus) if n & (n - 1)]:
            raise ValueError(f"{wrong[0]} CPUs: it is no power of two")


class Experiment(Strict, frozen=True, kw_only=True):
    what: str
    cost: Cost | None = None
    bench: Bench | None = None
    scale: Scale | None = None
    placement: Placement | None = None

    def __post_init__(self) -> None:
        kinds = (self.cost, self.bench, self.scale, self.placement)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("it needs one of [cost], [bench], [scale] and [placement]")


def _refuse_twice(key: str, words: Sequence[str]) -> None:
    if twice := [word for word in dict.fromkeys(words) if words.count(word) > 1]:
        raise ValueError(f"`{key}` names '{twice[0]}' twice")


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.toml"))


def read(path: Path) -> Experiment:
    return read_toml(path, Experiment, "an experiment", HINT)
