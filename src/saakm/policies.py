# SPDX-License-Identifier: GPL-2.0
"""Finds policies: the checkout's, the user's own, and any directory that is named."""

import os
from pathlib import Path

from . import paths
from .errors import SaakmError

NO_POLICY = ("none", "eevdf")


def policies() -> list[str]:
    """Those of the checkout."""
    return sorted(kbuild.parent.name for kbuild in paths.POLICIES.glob("*/Kbuild"))


def is_policy(directory: Path) -> bool:
    return (directory / "Kbuild").exists() and (directory / f"{directory.name}.c").exists()


def own_policies() -> list[Path]:
    """Policies in the folders of $SAAKM_POLICIES, in the current directory, and that itself."""
    here = Path.cwd()
    # saakmctl reads the same variable.
    given = os.environ.get("SAAKM_POLICIES", "").split(":")
    folders = [Path(folder).resolve() for folder in given if folder] + [here]
    found = [kbuild.parent for folder in folders for kbuild in sorted(folder.glob("*/Kbuild"))]
    ours = (paths.POLICIES, paths.GUEST_MODULES)
    return [path for path in (*found, here) if path.parent not in ours and is_policy(path)]


def find_policy(word: str) -> Path | None:
    """The policy's directory, by name or path; None if the word means no policy at all."""
    if word in NO_POLICY:
        return None
    if "/" in word or word == ".":
        return _directory(Path(word).resolve())
    for path in own_policies():
        if path.name == word:
            return path
    if word in policies():
        return paths.POLICIES / word
    raise SaakmError(
        f"there is no policy '{word}'",
        f"policies/ has: {', '.join(policies()) or 'nothing yet'}; neither the current directory "
        "nor $SAAKM_POLICIES has it",
        f"choose one of them, none for the kernel's own scheduler, or: saakm new {word}",
    )


def _directory(path: Path) -> Path:
    if is_policy(path):
        return path
    missing = "Kbuild" if not (path / "Kbuild").exists() else f"{path.name}.c"
    raise SaakmError(
        f"{path} is not a policy's directory",
        f"it has no {missing}" if path.is_dir() else "there is no such directory",
        f"a policy is a directory NAME with Kbuild and NAME.c; saakm new {path.name} makes one",
    )
