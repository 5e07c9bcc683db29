# SPDX-License-Identifier: GPL-2.0
"""All that a guest may be asked to run: a kernel, the modules for it, saakmctl."""

from pathlib import Path

from .ctl import build_saakmctl
from .kernel import Kernel, build_kernel
from .modules import build_modules


def build_all(config: str, policy: Path | None = None) -> Kernel:
    """The checkout's modules, and the policy in a directory of the user's own."""
    kernel = build_kernel(config)
    build_modules(kernel)
    if policy:
        build_modules(kernel, sources=[policy])
    build_saakmctl()
    return kernel
