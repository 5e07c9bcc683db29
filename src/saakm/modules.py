# SPDX-License-Identifier: GPL-2.0
"""Builds policies and test modules against a built kernel, and saakmctl.

Sources are copied into the cache first, so that the checkout stays clean.
"""

import shutil
from pathlib import Path

from . import paths
from .errors import SaakmError
from .kernel import Kernel, environment, hash_files, make_command
from .locks import locked
from .process import run_logged
from .progress import meter


def module_sources() -> dict[str, Path]:
    """Each module's directory by its name."""
    found = [
        kbuild.parent
        for where in (paths.POLICIES, paths.GUEST_MODULES)
        for kbuild in where.glob("*/Kbuild")
    ]
    found.append(paths.BYSTANDERS)
    return {directory.name: directory for directory in sorted(found)}


def policies() -> list[str]:
    return sorted(kbuild.parent.name for kbuild in paths.POLICIES.glob("*/Kbuild"))


def build_modules(kernel: Kernel, jobs: int | None = None) -> list[str]:
    """Builds what changed; returns the names of all modules."""
    sources = module_sources()
    with locked(kernel.modules / "lock"):
        stale = {name: path for name, path in sources.items() if not _is_fresh(kernel, name, path)}
        if stale:
            with meter("building modules", len(stale)) as progress:
                for name, path in stale.items():
                    progress.describe(name)
                    _build_module(kernel, name, path, jobs)
                    progress.advance()
    return list(sources)


def module_file(kernel: Kernel, name: str) -> Path:
    path = kernel.modules / name / f"{name}.ko"
    if not path.exists():
        known = ", ".join(module_sources()) or "none yet"
        raise SaakmError(
            f"there is no module '{name}' for the {kernel.config} kernel",
            f"{path} does not exist; the checkout has: {known}",
            f"saakm build --config {kernel.config}, or check the name",
        )
    return path


def _inputs(kernel: Kernel, source: Path) -> str:
    files = (f for f in source.rglob("*") if f.is_file())
    return hash_files(files, source, kernel.inputs)


def _is_fresh(kernel: Kernel, name: str, source: Path) -> bool:
    stamp = kernel.modules / name / "saakm.stamp"
    return stamp.exists() and stamp.read_text() == _inputs(kernel, source)


def _build_module(kernel: Kernel, name: str, source: Path, jobs: int | None) -> None:
    copy, inputs = kernel.modules / name, _inputs(kernel, source)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    run_logged(
        [*make_command(kernel.build, jobs=jobs), f"M={copy}", "modules"],
        kernel.modules / f"{name}.log",
        f"building the module {name}",
        env=environment(),
    )
    (copy / "saakm.stamp").write_text(inputs)


def build_saakmctl() -> Path | None:
    """The program's path, or None while the checkout has no saakmctl."""
    if not (paths.SAAKMCTL / "Cargo.toml").exists():
        return None
    program = paths.CARGO / "release" / "saakmctl"
    files = [f for f in paths.SAAKMCTL.rglob("*") if f.is_file() and "target" not in f.parts]
    inputs, stamp = hash_files(files, paths.SAAKMCTL), paths.CARGO / "saakm.stamp"
    with locked(paths.CARGO / "lock"):
        if program.exists() and stamp.exists() and stamp.read_text() == inputs:
            return program
        with meter("building saakmctl"):
            run_logged(
                ["cargo", "build", "--release", "--locked"],
                paths.LOGS / "saakmctl.log",
                "building saakmctl",
                env={"CARGO_TARGET_DIR": str(paths.CARGO)},
                cwd=paths.SAAKMCTL,
            )
        stamp.write_text(inputs)
    return program
