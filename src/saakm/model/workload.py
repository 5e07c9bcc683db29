# SPDX-License-Identifier: GPL-2.0
"""A workload: workloads/NAME.toml. workloads/README.md says what such a file may hold."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ..base import paths
from .schema import Strict, check_memory, plain, read_toml, refusal

DIRECTORY = paths.REPO / "workloads"
_WHAT = "a workload"
_HINT = f"{DIRECTORY}/README.md says what such a file holds"
ELAPSED = "time"  # as a metric: the seconds that the command took

Better = Literal["lower", "higher"]
Meaning = Literal["cost", "time", "behaviour"]
Pick = Literal["last", "sum", "mean", "max"]
# A float that is no number is in no range.
Scale = Annotated[float, Meta(gt=0, le=1e12)]
Timeout = Annotated[float, Meta(gt=0, le=1e6)]
# They stand in comma lists, and before colons.
Name = Annotated[str, Meta(pattern=r"^[^\s,:]+\Z")]
# Debian's rule: nothing else may get among the words of an apt-get that root runs.
Package = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9+.-]+\Z")]


class Figure(Strict, frozen=True, kw_only=True):
    """How the figure is found in what a command prints."""

    metric: str = ELAPSED
    pick: Pick = "last"
    scale: Scale = 1.0  # what the program prints, times this, is in `unit`
    unit: str = "s"
    better: Better = "lower"
    meaning: Meaning = "time"
    timeout: Timeout = 120.0

    def __post_init__(self) -> None:
        if self.metric != ELAPSED and _groups(self.metric) != 1:
            raise ValueError(f"the pattern '{self.metric}' needs one group, which is the figure")


class Variant(Figure, frozen=True, kw_only=True):
    """One command and the one figure that it yields."""

    workload: str
    family: str
    point: str  # of the family, as a number of groups or of clients; may be empty
    command: str
    setup: str
    what: str

    @property
    def name(self) -> str:
        return f"{self.family}-{self.point}" if self.point else self.family

    @property
    def definition(self) -> str:
        """Figures of another definition are of another workload."""
        return hashlib.sha256(json.dumps(plain(self), sort_keys=True).encode()).hexdigest()[:12]


class Workload(Strict, frozen=True, kw_only=True):
    name: str
    what: str
    packages: tuple[str, ...]
    input: str
    variants: tuple[Variant, ...]
    memory: str = ""  # the guest's, if the usual is too little
    paper: str = ""  # its name in the paper's Table II


class _Entry(Strict, frozen=True, kw_only=True):
    """A variant as it is written, or several: one for each of its points. What is not set is the file's."""

    name: Name
    command: str
    points: Annotated[tuple[int | str, ...], Meta(min_length=1)] = ("",)
    what: str = ""
    metric: str | UnsetType = UNSET
    pick: Pick | UnsetType = UNSET
    scale: Scale | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    better: Better | UnsetType = UNSET
    meaning: Meaning | UnsetType = UNSET
    timeout: Timeout | UnsetType = UNSET


class _File(Figure, frozen=True, kw_only=True):
    name: Name
    what: str
    packages: tuple[Package, ...]
    input: str
    variant: Annotated[tuple[_Entry, ...], Meta(min_length=1)]
    setup: str = ""
    memory: str = ""
    paper: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory:
            check_memory(self.memory)
        names = [variant.name for variant in self.variants]
        if len(set(names)) < len(names):
            raise ValueError("two variants have the same name")
        if wrong := [name for name in names if re.search(r"[\s,:]", name)]:
            raise ValueError(f"`points`: '{wrong[0]}' cannot stand in a comma list")

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(
            self._variant(entry, str(point)) for entry in self.variant for point in entry.points
        )

    def _variant(self, entry: _Entry, point: str) -> Variant:
        figure = {
            name: own if (own := getattr(entry, name)) is not UNSET else getattr(self, name)
            for name in Figure.__struct_fields__
        }
        return Variant(
            workload=self.name,
            family=entry.name,
            point=point,
            command=entry.command.replace("{point}", point).strip(),
            setup=self.setup.strip(),
            what=entry.what,
            **figure,
        )


def load_all(directory: Path = DIRECTORY) -> dict[str, Workload]:
    found = [read(path) for path in sorted(directory.glob("*.toml"))]
    return {workload.name: workload for workload in found}


def read(path: Path) -> Workload:
    file = read_toml(path, _File, _WHAT, _HINT)
    if file.name != path.stem:
        raise refusal(path, _WHAT, f"it is called '{file.name}', its file '{path.stem}'", _HINT)
    return Workload(
        name=file.name,
        what=file.what,
        packages=file.packages,
        input=file.input,
        variants=file.variants,
        memory=file.memory,
        paper=file.paper,
    )


def _groups(pattern: str) -> int:
    try:
        return re.compile(pattern, re.M).groups
    except re.error as error:
        raise ValueError(f"'{pattern}' is not a pattern: {error}") from error
