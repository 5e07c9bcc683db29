# SPDX-License-Identifier: GPL-2.0
"""How a script of tests/ gets the packages that saakm's code imports."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

NOWHERE = subprocess.DEVNULL
REPO = Path(__file__).resolve().parents[1]


def enter(name: str) -> None:
    """./saakm makes the environment with all packages; its name is that of ./saakm's rule."""
    files = [REPO / "requirements.lock", REPO / "src" / "saakm" / "packages.txt"]
    key = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    home = os.environ.get("SAAKM_CACHE") or Path.home() / ".cache" / "saakm"
    if not Path(home).is_absolute():
        sys.exit(
            f"{name}: SAAKM_CACHE={home} is a relative path: give an absolute one, or unset it"
        )
    python = Path(home, f"venv-{key}", "bin", "python")
    if Path(sys.executable) != python:
        if not python.exists() and subprocess.call([REPO / "saakm", "--help"], stdout=NOWHERE):
            sys.exit(f"{name}: there is no environment to run in: see above")
        os.execv(python, [str(python), *sys.argv])
    sys.path[:0] = [str(REPO / "src"), str(REPO / "tests")]
