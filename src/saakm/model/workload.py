# SPDX-License-Identifier: GPL-2.0
"""A workload: workloads/NAME.toml. workloads/README.md says what such a file may hold."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ..base import paths
from ..base.files import hash_files
from .schema import Strict, check_memory, plain, read_toml, refusal

DIRECTORY = paths.REPO / "workloads"
_WHAT = "a workload"
_HINT = f"{DIRECTORY}/README.md says what such a file holds"
ELAPSED = "time"  # as a metric: the seconds that the command took

Better = Literal["lower", "higher"]
Meaning = Literal["cost", "time", "behaviour"]
Filesystem = Literal["", "xfs"]
Pick = Literal["last", "sum", "mean", "max"]
# A float that is no number is in no range.
Scale = Annotated[float, Meta(gt=0, le=1e12)]
Timeout = Annotated[float, Meta(gt=0, le=1e6)]
# They stand in comma lists, and before colons.
Name = Annotated[str, Meta(pattern=r"^[^\s,:]+\Z")]
# Debian's rule: nothing else may get among the words of an apt-get that root runs.
Package = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9+.-]+\Z")]
# A directory of src/saakm/guest/; its name becomes part of paths.
Program = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*\Z")]
_GROUPS = {"value", "row", "stddev"}


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


class Table(Strict, frozen=True, kw_only=True):
    """Several figures of one run: a row for each match of a pattern with the groups `value`, and, as it
    likes, `row` (what stands before the point) and `stddev` (of what was measured within the run)."""

    name: str
    metric: str
    unit: str = "s"
    better: Better = "lower"
    meaning: Meaning = "time"

    def __post_init__(self) -> None:
        named = set(_compiled(self.metric).groupindex)
        if "value" not in named or named - _GROUPS:
            raise ValueError(
                f"the pattern '{self.metric}' of a table needs a group (?P<value>...), and may have "
                "(?P<row>...) and (?P<stddev>...)"
            )


class Variant(Figure, frozen=True, kw_only=True):
    """One command and what it yields: one figure, or those of its tables."""

    workload: str
    family: str
    point: str  # of the family, as a number of groups or of clients; may be empty
    command: str
    setup: str
    what: str
    tables: tuple[Table, ...] = ()
    programs: tuple[str, ...] = ()
    filesystem: Filesystem = ""

    @property
    def name(self) -> str:
        return f"{self.family}-{self.point}" if self.point else self.family

    @property
    def definition(self) -> str:
        """Figures of another definition are of another workload."""
        about = plain(self)
        # Without them it is what it was before there were any.
        for name in ("tables", "programs", "filesystem"):
            if not about[name]:
                del about[name]
        if self.programs:
            about["programs"] = [_of_sources(name) for name in self.programs]
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]


class Workload(Strict, frozen=True, kw_only=True):
    name: str
    what: str
    packages: tuple[str, ...]
    input: str
    variants: tuple[Variant, ...]
    memory: str = ""  # the guest's, if the usual is too little
    paper: str = ""  # its name in the paper's Table II

    @property
    def has_disk(self) -> bool:
        return any(variant.filesystem for variant in self.variants)


class _Entry(Strict, frozen=True, kw_only=True):
    """A variant as it is written, or several: one for each of its points. What is not set is the file's."""

    name: Name
    command: str
    points: Annotated[tuple[int | str, ...], Meta(min_length=1)] = ("",)
    what: str = ""
    tables: tuple[Table, ...] = ()
    filesystem: Filesystem = ""
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
    programs: tuple[Program, ...] = ()
    setup: str = ""
    memory: str = ""
    paper: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory:
            check_memory(self.memory)
        if absent := [name for name in self.programs if not program_source(name).is_dir()]:
            raise ValueError(f"`programs`: there is no {program_source(absent[0])}")
        names = [variant.name for variant in self.variants()]
        if len(set(names)) < len(names):
            raise ValueError("two variants have the same name")
        if wrong := [name for name in names if re.search(r"[\s,:]", name)]:
            raise ValueError(f"`points`: '{wrong[0]}' cannot stand in a comma list")

    def variants(self, points: Sequence[str] = ()) -> tuple[Variant, ...]:
        """`points`: instead of the file's own, where it has any."""
        return tuple(
            self._variant(entry, str(point))
            for entry in self.variant
            for point in (points if points and entry.points != ("",) else entry.points)
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
            tables=entry.tables,
            programs=self.programs,
            filesystem=entry.filesystem,
            **figure,
        )


def program_source(name: str) -> Path:
    """Where the C files of one of our own programs are."""
    return paths.GUEST_FILES / name


def _of_sources(name: str) -> str:
    source = program_source(name)
    return hash_files(sorted(source.glob("*.[ch]")), source)[:12]


def load_all(directory: Path = DIRECTORY, points: Sequence[str] = ()) -> dict[str, Workload]:
    """`points`: instead of those in the files."""
    found = [read(path, points) for path in sorted(directory.glob("*.toml"))]
    return {workload.name: workload for workload in found}


def read(path: Path, points: Sequence[str] = ()) -> Workload:
    file = read_toml(path, _File, _WHAT, _HINT)
    if file.name != path.stem:
        raise refusal(path, _WHAT, f"it is called '{file.name}', its file '{path.stem}'", _HINT)
    return Workload(
        name=file.name,
        what=file.what,
        packages=file.packages,
        input=file.input,
        variants=file.variants(points),
        memory=file.memory,
        paper=file.paper,
    )


def _groups(pattern: str) -> int:
    return _compiled(pattern).groups


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.M)
    except re.error as error:
        raise ValueError(f"'{pattern}' is not a pattern: {error}") from error
