# SPDX-License-Identifier: GPL-2.0
"""An experiment: lab/NAME.toml says what is measured, under what, and how often."""

from pathlib import Path

from ..base import paths
from .schema import Strict, read_toml

DIRECTORY = paths.REPO / "lab"
HINT = f"{DIRECTORY}/README.md says what such a file holds"


class Cost(Strict, frozen=True, kw_only=True):
    """Holds what the options of saakm cost say. What is empty has their default."""

    op: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    axis: str = ""
    values: tuple[int, ...] = ()
    cpus: int = 2
    seed: int = 1
    seeds: int = 1
    runnable: int = 0
    load: tuple[str, ...] = ()
    switches: bool = False
    scale: int = 100
    where: bool = False

    def __post_init__(self) -> None:
        if self.axis and (self.where or self.runnable):
            raise ValueError("an axis stands alone: it varies what runnable and where fix")
        if self.values and not self.axis:
            raise ValueError("values are of an axis, and none is named")

    @property
    def all_seeds(self) -> list[int]:
        return list(range(self.seed, self.seed + self.seeds))


class Bench(Strict, frozen=True, kw_only=True):
    """Holds what the options of saakm bench say."""

    workloads: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    rounds: int = 5
    warm_up: bool = True
    latency: bool = False
    boot_each: bool = False
    deterministic: bool = False
    topology: str | None = None
    memory: str | None = None
    config: str = "base"
    seed: int = 1


class Experiment(Strict, frozen=True, kw_only=True):
    what: str
    cost: Cost | None = None
    bench: Bench | None = None

    def __post_init__(self) -> None:
        if (self.cost is None) == (self.bench is None):
            raise ValueError("it needs one of [cost] and [bench]")


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.toml"))


def read(path: Path) -> Experiment:
    return read_toml(path, Experiment, "an experiment", HINT)
