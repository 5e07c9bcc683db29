# SPDX-License-Identifier: GPL-2.0
"""saakm build: the kernel, the policies, saakmctl."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import BadInput, SaakmError
from ..builder import unpatched
from ..builder.compile_commands import write_compile_commands
from ..builder.ctl import build_saakmctl
from ..builder.kernel import build_kernel
from ..builder.modules import all_sources, build_modules
from ..builder.policies import find_policy
from ..vm.options import named


class Part(StrEnum):
    kernel = "kernel"
    modules = "modules"
    compile_commands = "compile-commands"
    all = "all"


def build(
    part: Annotated[
        Part, typer.Argument(help="What to build; modules need the kernel.")
    ] = Part.all,
    policy: Annotated[
        list[str] | None, typer.Argument(help="Only these policies, by name or directory.")
    ] = None,
    config: Annotated[
        str, typer.Option(help="base (to measure), features, debug (to test), kcsan.")
    ] = "base",
    kernel_source: Annotated[
        Path | None, typer.Option(help="Another 6.12.y tree; it is copied, never changed.")
    ] = None,
    series: Annotated[
        str,
        typer.Option(
            "--kernel",
            help=f"Instead of all that: Linux of another series, unpatched ({', '.join(unpatched.series())}), "
            "fetched from Debian.",
            show_default=False,
            callback=named,
        ),
    ] = "",
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Parallel jobs; default: CPUs.")
    ] = None,
) -> None:
    """Build the kernel, the policies and saakmctl; what has not changed is not built again.

    compile-commands writes compile_commands.json, which clangd reads, beside the policies.
    """
    if series:
        _refuse_besides(series, part is not Part.all, config != "base", kernel_source)
        print(f"kernel   {unpatched.build(series, jobs).vmlinux}")
        return
    chosen = _chosen(part, policy or [])
    kernel = build_kernel(config, kernel_source, jobs)
    print(f"kernel   {kernel.vmlinux}")
    if part is Part.kernel:
        return
    sources = chosen or all_sources()
    for file in build_modules(kernel, jobs, sources):
        print(f"module   {file}")
    if part is Part.compile_commands:
        for file in write_compile_commands(kernel, sources):
            print(f"clangd   {file}")
    if part is Part.all:
        print(f"program  {build_saakmctl()}")


def _chosen(part: Part, words: list[str]) -> list[Path]:
    if words and part not in (Part.modules, Part.compile_commands):
        raise SaakmError(
            f"'{part}' takes no policies",
            "only modules and compile-commands are about single policies",
            f"saakm build modules {' '.join(words)}",
        )
    return [source for word in words if (source := find_policy(word))]


def _refuse_besides(series: str, *others: object) -> None:
    if series not in unpatched.series():
        raise BadInput(
            f"Linux '{series}' cannot be built",
            f"SaaKM knows where to get {', '.join(unpatched.series())}",
            "name one of these; a vmlinux that you have built can be measured as it is: --kernel VMLINUX",
        )
    if any(others):
        raise BadInput(
            f"--kernel {series} stands alone",
            "it builds Linux as it came, in one configuration, without policies",
            f"saakm build --kernel {series}",
        )
