# SPDX-License-Identifier: GPL-2.0
"""Finds policies: the checkout's, the user's own, and any directory that is named."""

import os
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError

NO_POLICY = ("none", "eevdf")


def policies() -> list[str]:
    """Those of the checkout."""
    return sorted(kbuild.parent.name for kbuild in paths.POLICIES.glob("*/Kbuild"))


def is_policy(directory: Path) -> bool:
    return (directory / "Kbuild").exists() and (directory / f"{directory.name}.c").exists()


def own_policies() -> list[Path]:
    """Policies in the folders of $SAAKM_POLICIES.

    Not in the current directory: in somebody else's, a name alone would build and load
    what he put there.
    """
    # saakmctl reads the same variable.
    given = os.environ.get("SAAKM_POLICIES", "").split(":")
    folders = [Path(folder).resolve() for folder in given if folder]
    found = [kbuild.parent for folder in folders for kbuild in sorted(folder.glob("*/Kbuild"))]
    ours = (paths.POLICIES, paths.GUEST_MODULES)
    return [path for path in found if path.parent not in ours and is_policy(path)]


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
    here = f"./{word} for the one in this directory, " if is_policy(Path.cwd() / word) else ""
    raise SaakmError(
        f"there is no policy '{word}'",
        f"policies/ has: {', '.join(policies()) or 'nothing yet'}; $SAAKM_POLICIES does not have it",
        f"choose one of them, {here}none for the kernel's own scheduler{_or_new(word)}",
    )


def _or_new(word: str) -> str:
    return f", or: saakm new {word}" if word.isidentifier() else ""


def _directory(path: Path) -> Path:
    if is_policy(path):
        return path
    missing = "Kbuild" if not (path / "Kbuild").exists() else f"{path.name}.c"
    raise SaakmError(
        f"{path} is not a policy's directory",
        f"it has no {missing}" if path.is_dir() else "there is no such directory",
        f"a policy is a directory NAME with Kbuild and NAME.c; saakm new {path.name} makes one",
    )
