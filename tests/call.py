# SPDX-License-Identifier: GPL-2.0
"""The program as users call it: a process of its own, with the code of this checkout."""

import os
import subprocess
import sys
from pathlib import Path

from saakm.base import paths


def saakm(
    *words: object, cwd: Path | None = None, timeout: float | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """./saakm WORDS, without a terminal; what else it finds in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "saakm", *map(str, words)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        timeout=timeout,
        env={
            **os.environ,
            "PYTHONPATH": str(paths.REPO / "src"),
            "COLUMNS": "120",
            **environment,
        },
    )
