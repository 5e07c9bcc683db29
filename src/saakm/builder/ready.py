# SPDX-License-Identifier: GPL-2.0
"""All that a guest may be asked to run: a kernel, the modules for it, saakmctl."""

import sys
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SaakmError
from . import given
from .ctl import build_saakmctl, saakmctl_file
from .kernel import Kernel, build_kernel
from .modules import build_modules, module_sources


@dataclass(frozen=True)
class Ready:
    kernel: Kernel
    module: Path | None  # of the policy that was asked for
    saakmctl: Path


def build_all(config: str, policy: Path | None = None, kernel_given: str = "") -> Ready:
    """The checkout's modules, and the policy in a directory of the user's own.

    `kernel_given`: what --kernel says; without SaaKM's class there is nothing to build for it. An
    earlier one's class may lack what some of the checkout's modules need.
    """
    kernel = given.kernel(kernel_given) if kernel_given else build_kernel(config)
    if kernel_given and not given.has_class(kernel_given):
        return Ready(kernel, None, saakmctl_file())
    if kernel_given:
        _build_what_fits(kernel)
    else:
        build_modules(kernel)
    modules = build_modules(kernel, sources=[policy]) if policy else [None]
    return Ready(kernel, modules[0], build_saakmctl())


def _build_what_fits(kernel: Kernel) -> None:
    """Somebody may want to load any of them; who wants none of those that fail shall not fail."""
    failed = []
    for name, directory in module_sources().items():
        try:
            build_modules(kernel, sources=[directory])
        except SaakmError:
            failed.append(name)
    if failed:
        print(f"saakm: not built for this kernel's class: {', '.join(failed)}", file=sys.stderr)
