# SPDX-License-Identifier: GPL-2.0
"""The parts of src/saakm stand on each other as CONTRIBUTING.md lists them, without a circle."""

import ast
import re
from pathlib import Path

import pytest

from saakm.base import paths

SOURCE = paths.REPO / "src" / "saakm"
ROWS = re.findall(
    r"^\| (`[\w/]+`(?:, `[\w/]+`)*) \|", (paths.REPO / "CONTRIBUTING.md").read_text(), re.M
)
ORDER = [re.findall(r"[\w/]+", row) for row in ROWS]
KNOWN = [part for row in ORDER for part in row]


def part_of(module: Path) -> str:
    """Of a file or directory below src/saakm; the parts of lab/ count one by one."""
    names = module.relative_to(SOURCE).parts
    return "/".join(names[:2]) if names[0] == "lab" else names[0]


def imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        # From a package its modules are named, else the module itself is.
        found |= {part_of(base / a.name if base.is_dir() else base) for a in node.names}
    return found


def files_of(part: str) -> list[Path]:
    return sorted((SOURCE / part).rglob("*.py"))


def test_every_part_is_listed():
    directories = {file.parent for file in SOURCE.rglob("*.py")} - {SOURCE}
    there = {part_of(d) for d in directories if not d.is_relative_to(SOURCE / "guest")} - {"lab"}
    assert there == set(KNOWN)


@pytest.mark.parametrize("part", KNOWN)
def test_it_imports_only_from_those_above(part):
    place = next(i for i, row in enumerate(ORDER) if part in row)
    above = {part, *(one for row in ORDER[:place] for one in row)}
    for file in files_of(part):
        wrong = {one for one in imported(file) - above if one in KNOWN}
        assert not wrong, f"{file.relative_to(paths.REPO)} imports from {wrong}"


def test_imports_are_seen():
    assert {"builder", "base"} <= imported(SOURCE / "vm" / "guest.py")
    assert "lab/cost" in imported(SOURCE / "commands" / "cost.py")
