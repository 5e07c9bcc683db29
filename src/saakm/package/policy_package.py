# SPDX-License-Identifier: GPL-2.0
"""A policy as DKMS sources: built on the target, for each kernel with SaaKM that it has."""

import re
from pathlib import Path

from ..base.progress import meter
from .debian import build_package, version


def package_name(policy: str) -> str:
    """Debian's names have no underscores."""
    return "saakm-policy-" + policy.replace("_", "-")


def package_policy(directory: Path, out: Path) -> Path:
    name = package_name(directory.name)
    patterns = ("*.c", "*.h", "Kbuild")
    sources = [file for pattern in patterns for file in sorted(directory.glob(pattern))]
    files: dict[str, Path | str] = {f"src/{file.name}": file for file in sources}
    readme = directory / "README.md"
    files["README.md"] = readme if readme.exists() else f"# {directory.name}\n"
    with meter(f"packaging {directory.name}"):
        return build_package(
            name,
            "policy",
            files,
            out,
            module=directory.name,
            summary=_summary(directory),
            place=f"usr/src/{name}-{version()}",
        )


def _summary(directory: Path) -> str:
    """What the module says of itself."""
    source = (directory / f"{directory.name}.c").read_text()
    said = re.search(r'MODULE_DESCRIPTION\("(?:SaaKM: )?([^"]*)"', source)
    return f"scheduling policy {directory.name}" + (f": {said[1]}" if said else "")
