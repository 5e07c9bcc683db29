# SPDX-License-Identifier: GPL-2.0
"""saakm build: the kernel, the policies, saakmctl."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..kernel import build_kernel
from ..modules import build_modules, build_saakmctl


class Part(StrEnum):
    kernel = "kernel"
    modules = "modules"
    all = "all"


def build(
    part: Annotated[
        Part, typer.Argument(help="What to build; modules need the kernel.")
    ] = Part.all,
    config: Annotated[str, typer.Option(help="base (to measure), debug (to test), kcsan.")] = "base",
    kernel_source: Annotated[
        Path | None, typer.Option(help="Another 6.12.y tree; it is copied, never changed.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", help="Parallel jobs; default: CPUs.")
    ] = None,
) -> None:
    """Build the kernel, the policies and saakmctl; nothing when nothing changed."""
    kernel = build_kernel(config, kernel_source, jobs)
    print(f"kernel   {kernel.vmlinux}")
    if part is Part.kernel:
        return
    for name in build_modules(kernel, jobs):
        print(f"module   {kernel.modules / name / name}.ko")
    if part is Part.all and (program := build_saakmctl()):
        print(f"program  {program}")
