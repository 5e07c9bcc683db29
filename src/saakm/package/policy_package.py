# SPDX-License-Identifier: GPL-2.0
"""A policy as DKMS sources: built on the target, for each kernel with SaaKM that it has."""

import re
from pathlib import Path

from ..builder.policies import module_name, source_files
from .debian import build_package, version


def package_name(policy: str) -> str:
    """Debian's names have no underscores."""
    return "saakm-policy-" + policy.replace("_", "-")


def package_policy(directory: Path, out: Path) -> Path:
    module = module_name(directory)
    name = package_name(module)
    sources = source_files(directory)
    files: dict[str, Path | str] = {f"src/{place}": file for place, file in sources.items()}
    readme = directory / "README.md"
    files["README.md"] = readme if readme.exists() else f"# {module}\n"
    return build_package(
        name,
        "policy",
        files,
        out,
        module=module,
        summary=_summary(module, sources),
        place=f"usr/src/{name}-{version()}",
    )


def _summary(module: str, sources: dict[str, Path]) -> str:
    """What the module says of itself, else the first clause of the comment that begins with its name."""
    code = "".join(file.read_text() for file in sources.values() if file.suffix == ".c")
    said = re.search(r'MODULE_DESCRIPTION\("(?:SaaKM: )?([^"]*)"', code)
    said = said or re.search(rf"^(?:/\*| \*) {re.escape(module)}: ([^.;:/]*)", code, re.M)
    words = " ".join(said[1].replace("\n *", " ").split()) if said else ""
    return f"scheduling policy {module}" + (f": {words}" if words else "")
