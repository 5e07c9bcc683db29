# SPDX-License-Identifier: GPL-2.0
"""Asks git about the checkout, which need not be git's: it may come of an archive."""

import subprocess

from . import paths


def say(*arguments: str) -> str:
    """What a git command prints; empty where it fails, or there is no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(paths.REPO), *arguments],
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
