# SPDX-License-Identifier: GPL-2.0
"""Builds policies and test modules against a built kernel.

Sources are copied into the cache first, so that the checkout stays clean.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from ..base.files import hash_named, is_fresh, write_stamp, write_text
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from . import leftovers
from .kernel import Kernel, environment, make_command
from .policies import module_name, own_policies, source_files

# What guests load besides policies.
OWN_MODULES = (paths.BYSTANDERS, paths.ORACLE, paths.ATTACKS / "wrong")


def module_sources() -> dict[str, Path]:
    """Each module's directory by its name."""
    found = [
        kbuild.parent
        for where in (paths.POLICIES, paths.GUEST_MODULES)
        for kbuild in where.glob("*/Kbuild")
    ]
    found += OWN_MODULES
    return {module_name(directory): directory for directory in sorted(found)}


def build_modules(
    kernel: Kernel, jobs: int | None = None, sources: Iterable[Path] | None = None
) -> list[Path]:
    """Builds what changed of `sources`, else of everything known; returns their files."""
    if sources is None:
        sources = module_sources().values()
    sources = list(sources)
    with locked(kernel.modules / leftovers.LOCK):
        stale = [path for path in sources if not _is_fresh(kernel, path)]
        if stale:
            leftovers.claim(kernel.modules)
            leftovers.remove(kernel.modules)
            with meter("building modules", len(stale)) as progress:
                for path in stale:
                    progress.describe(path.name)
                    _build_module(kernel, path, jobs)
                    progress.advance()
    return [module_file(kernel, path) for path in sources]


def all_sources() -> list[Path]:
    """The checkout's modules, and the user's own policies."""
    return [*module_sources().values(), *own_policies()]


def build_directory(kernel: Kernel, source: Path) -> Path:
    """Where a module is built. Policies elsewhere may have the name of one of ours."""
    if source.parent in (paths.POLICIES, paths.GUEST_MODULES):
        return kernel.modules / source.name
    return kernel.modules / leftovers.hashed_name(source)


def module_file(kernel: Kernel, module: str | Path) -> Path:
    """Finds a module of the checkout by its name, any other by its directory."""
    source = module if isinstance(module, Path) else module_sources().get(module)
    path = _product(kernel, source) if source else None
    if path is None or not path.exists():
        known = ", ".join(module_sources()) or "none yet"
        raise SaakmError(
            f"there is no module '{module}' for the {kernel.config} kernel",
            f"{path or 'its directory'} does not exist; the checkout has: {known}",
            f"saakm build --config {kernel.config}, or check the name",
        )
    return path


def _product(kernel: Kernel, source: Path) -> Path:
    return build_directory(kernel, source) / f"{module_name(source)}.ko"


def _inputs(kernel: Kernel, source: Path) -> str:
    return hash_named(source_files(source), kernel.inputs)


def _is_fresh(kernel: Kernel, source: Path) -> bool:
    module = _product(kernel, source)
    return is_fresh(module.with_name(leftovers.STAMP), _inputs(kernel, source), module)


def _build_module(kernel: Kernel, source: Path, jobs: int | None) -> None:
    module, inputs = _product(kernel, source), _inputs(kernel, source)
    copy = build_directory(kernel, source)
    shutil.rmtree(copy, ignore_errors=True)
    for place, file in source_files(source).items():
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy / place)
    write_text(copy / leftovers.SOURCE, str(source))
    run_logged(
        [*make_command(kernel.build, jobs=jobs), f"M={copy}", "modules"],
        copy.with_name(f"{copy.name}.log"),
        f"building the module {module.stem}",
        env=environment(),
    )
    write_stamp(copy / leftovers.STAMP, inputs, module)
