# SPDX-License-Identifier: GPL-2.0
"""The kernel's own helpers for gdb (lx-*), made ready for one build.

They need no CONFIG_GDB_SCRIPTS: that only makes `make` do what is done here.
"""

import shutil
from pathlib import Path

from ..base.files import hash_files, write_text
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from ..builder.kernel import environment, make_command


def kernel_scripts(build: Path) -> Path:
    """The directory whose `linux` is the package that they are."""
    tree = build / "source" if (build / "source").exists() else build
    package = tree / "scripts" / "gdb" / "linux"
    target = build / "saakm-gdb"
    inputs = hash_files(package.glob("*.*"), package, (build / ".config").read_text())
    stamp = target / "stamp"
    with locked(build / "saakm-gdb.lock"):
        if not stamp.exists() or stamp.read_text() != inputs:
            shutil.rmtree(target, ignore_errors=True)
            with meter("preparing the kernel's gdb scripts"):
                _make_constants(build, package, target / "constants")
            shutil.copytree(
                package, target / "linux", ignore=shutil.ignore_patterns("Makefile", "*.in")
            )
            shutil.copy(target / "constants" / "constants.py", target / "linux")
            write_text(stamp, inputs)
    return target


def _make_constants(build: Path, package: Path, directory: Path) -> None:
    """What the C headers and the configuration say, in Python: as an external module's make does it."""
    directory.mkdir(parents=True)
    for name in ("Makefile", "constants.py.in"):
        shutil.copy(package / name, directory)
    run_logged(
        [*make_command(build), f"M={directory}", "modules"],
        directory.with_suffix(".log"),
        "preparing the kernel's gdb scripts",
        env=environment(),
    )
