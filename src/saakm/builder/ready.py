# SPDX-License-Identifier: GPL-2.0
"""All that a guest may be asked to run: a kernel, the modules for it, saakmctl."""

from dataclasses import dataclass
from pathlib import Path

from .ctl import build_saakmctl
from .kernel import Kernel, build_kernel
from .modules import build_modules


@dataclass(frozen=True)
class Ready:
    kernel: Kernel
    module: Path | None  # of the policy that was asked for
    saakmctl: Path


def build_all(config: str, policy: Path | None = None) -> Ready:
    """The checkout's modules, and the policy in a directory of the user's own."""
    kernel = build_kernel(config)
    build_modules(kernel)
    modules = build_modules(kernel, sources=[policy]) if policy else [None]
    return Ready(kernel, modules[0], build_saakmctl())
