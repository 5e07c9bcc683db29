# SPDX-License-Identifier: GPL-2.0
"""The kernel that is measured: ours, or another build."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...builder import given, kernel, modules
from ...builder.about import About, about
from ...builder.kernel import Kernel
from ...builder.policies import find_policy
from ...vm.qemu import needed_qemu


@dataclass(frozen=True)
class Target:
    built: Kernel
    about: About
    # Its series, as "10.0": where a version ends an instruction or takes an interrupt moves the
    # counts by a per cent, and of fixes to a series none is known that does.
    qemu: str
    # Of policies that were named by a directory.
    directories: Mapping[str, Path] = field(default_factory=dict)

    @property
    def vmlinux(self) -> Path:
        return self.built.vmlinux

    @property
    def patched(self) -> bool:
        return self.about.has_class

    @property
    def identity(self) -> dict[str, str]:
        """Instruction counts of others cannot be compared with this one's."""
        return {
            "kernel": self.about.release,
            "compiler": self.about.compiler,
            "qemu": self.qemu,
        }


def find_target(named: str = "") -> Target:
    """Builds our base kernel, unless --kernel names another, or a vmlinux in its build directory.

    SAAKM_TEST_KERNEL names a build directory to take instead of ours, as for the tests.
    """
    named = named or os.environ.get("SAAKM_TEST_KERNEL", "")
    built = given.kernel(named) if named else kernel.build_kernel("base")
    series = ".".join(map(str, needed_qemu().number))
    return Target(built, about(built.vmlinux), series)


def policy_files(target: Target, names: list[str]) -> list[Path]:
    """The modules of these policies, built against this kernel."""
    known = modules.module_sources() | {
        name: path for name in names if (path := target.directories.get(name))
    }
    if missing := [name for name in names if name not in known]:
        known |= {name: path for name in missing if (path := find_policy(name))}
    return modules.build_modules(target.built, sources=[known[name] for name in names])
