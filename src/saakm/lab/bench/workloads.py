# SPDX-License-Identifier: GPL-2.0
"""What is run: workloads/*.toml. workloads/README.md says what a file may hold."""

import hashlib
import json
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...base import paths
from ...base.errors import SaakmError

DIRECTORY = paths.REPO / "workloads"
MEANINGS = ("cost", "time", "behaviour")
BETTER = ("lower", "higher")
PICKS = ("last", "sum", "mean", "max")
ELAPSED = "time"  # as a metric: the seconds that the command took

_REQUIRED = {"name", "what", "packages", "input", "variant"}
# A variant may have its own; without one the file's counts.
_INHERITED = {
    "metric": ELAPSED,
    "pick": "last",
    "scale": 1.0,
    "unit": "s",
    "better": "lower",
    "meaning": "time",
    "timeout": 120,
}
_OWN = {"name", "command", "points", "what"}


@dataclass(frozen=True)
class Variant:
    """One command and the one figure that it yields."""

    workload: str
    family: str
    point: str  # of the family, as a number of groups or of clients; may be empty
    command: str
    setup: str
    metric: str
    pick: str
    scale: float  # what the program prints, times this, is in `unit`
    unit: str
    better: str
    meaning: str
    timeout: float
    what: str

    @property
    def name(self) -> str:
        return f"{self.family}-{self.point}" if self.point else self.family

    @property
    def definition(self) -> str:
        """Figures of another definition are of another workload."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    packages: tuple[str, ...]
    input: str
    variants: tuple[Variant, ...]
    memory: str = ""  # the guest's, if the usual is too little
    paper: str = ""  # its name in the paper's Table II


def load_all(directory: Path = DIRECTORY) -> dict[str, Workload]:
    found = [read(path) for path in sorted(directory.glob("*.toml"))]
    return {workload.name: workload for workload in found}


def read(path: Path) -> Workload:
    try:
        content = tomllib.loads(path.read_text())
        return _workload(content, path.stem)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise SaakmError(
            f"{path} is not a workload",
            str(error),
            f"{DIRECTORY}/README.md says what such a file holds",
        ) from error


def _workload(content: dict[str, Any], stem: str) -> Workload:
    _check_keys(
        content, _REQUIRED, _REQUIRED | {*_INHERITED, "setup", "memory", "paper"}, "the file"
    )
    if content["name"] != stem:
        raise ValueError(f"it is called '{content['name']}', its file '{stem}'")
    variants = [variant for entry in content["variant"] for variant in _variants(content, entry)]
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise ValueError("two variants have the same name")
    return Workload(
        content["name"],
        content["what"],
        tuple(content["packages"]),
        content["input"],
        tuple(variants),
        content.get("memory", ""),
        content.get("paper", ""),
    )


def _variants(content: dict[str, Any], entry: dict[str, Any]) -> list[Variant]:
    _check_keys(entry, {"name", "command"}, {*_INHERITED, *_OWN}, "a variant")
    values = {key: entry.get(key, content.get(key, usual)) for key, usual in _INHERITED.items()}
    values["timeout"] = float(values["timeout"])
    _check_values(values)
    return [
        Variant(
            workload=content["name"],
            family=entry["name"],
            point=str(point),
            command=entry["command"].replace("{point}", str(point)).strip(),
            setup=content.get("setup", "").strip(),
            what=entry.get("what", ""),
            **values,
        )
        for point in entry.get("points", [""])
    ]


def _check_keys(table: dict[str, Any], required: set[str], known: set[str], where: str) -> None:
    if missing := required - set(table):
        raise ValueError(f"{where} lacks {', '.join(sorted(missing))}")
    if unknown := set(table) - known:
        raise ValueError(f"{where} has {', '.join(sorted(unknown))}, which nobody reads")


def _check_values(values: dict[str, Any]) -> None:
    choices = {"better": BETTER, "meaning": MEANINGS, "pick": PICKS}
    for key, allowed in choices.items():
        if values[key] not in allowed:
            raise ValueError(f"{key} is '{values[key]}', not one of {', '.join(allowed)}")
    if values["metric"] != ELAPSED and re.compile(values["metric"], re.M).groups != 1:
        raise ValueError(f"the pattern '{values['metric']}' needs one group, which is the figure")


def choose(text: str, known: dict[str, Workload]) -> list[Variant]:
    """Of a comma list of workloads, workload:family or workload:variant; all when it is empty."""
    if not text:
        return [variant for workload in known.values() for variant in workload.variants]
    chosen: list[Variant] = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, _, part = word.partition(":")
        if name not in known:
            raise SaakmError(
                f"there is no workload '{name}'",
                f"there are {', '.join(known)}",
                "saakm bench --list",
            )
        variants = known[name].variants
        wanted = [v for v in variants if part in ("", v.family, v.name)]
        if not wanted:
            raise SaakmError(
                f"{name} has no variant '{part}'",
                f"it has {', '.join(v.name for v in variants)}",
                "saakm bench --list",
            )
        chosen += [variant for variant in wanted if variant not in chosen]
    return chosen
