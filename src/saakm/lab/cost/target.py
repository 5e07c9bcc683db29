# SPDX-License-Identifier: GPL-2.0
"""The kernel that is measured: ours, or another build."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import SaakmError
from ...base.files import is_whole, read_json
from ...builder import kernel, modules
from ...builder.kernel import Kernel
from ...builder.policies import find_policy
from ...vm.qemu import needed_qemu

# As in /proc/version, without the number and the date of the build.
_BANNER = re.compile(rb"Linux version (\S+) \([^)]*\) \((.+?)\) #[^\n%]*\n")


@dataclass(frozen=True)
class Target:
    built: Kernel
    vmlinux: Path
    release: str
    compiler: str
    patched: bool
    # Its series, as "10.0": where a version ends an instruction or takes an interrupt moves the
    # counts by a per cent, and of fixes to a series none is known that does.
    qemu: str
    # Of policies that were named by a directory.
    directories: Mapping[str, Path] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, str]:
        """Instruction counts of others cannot be compared with this one's."""
        return {"kernel": self.release, "compiler": self.compiler, "qemu": self.qemu}


def find_target(vmlinux: Path | None = None) -> Target:
    """Builds our base kernel, unless it is another's vmlinux, in its build directory.

    SAAKM_TEST_KERNEL names a build directory to take instead, as for the tests.
    """
    given = os.environ.get("SAAKM_TEST_KERNEL")
    if not vmlinux and given:
        vmlinux = Path(given) / "vmlinux"
    if not vmlinux:
        built = kernel.build_kernel("base")
        return _examine(built, built.vmlinux)
    if not vmlinux.is_file():
        raise SaakmError(
            f"there is no kernel {vmlinux}",
            "the file does not exist",
            "name the vmlinux of a built kernel",
        )
    vmlinux = vmlinux.resolve()
    stamp = vmlinux.with_name("saakm.stamp")
    # One that we have built says what of. Else all modules beside it would be built anew.
    ours = is_whole(stamp, vmlinux)
    inputs = read_json(stamp)["inputs"] if ours else str(vmlinux.stat().st_mtime_ns)
    return _examine(Kernel("base", vmlinux.parent, inputs), vmlinux)


def _examine(built: Kernel, vmlinux: Path) -> Target:
    content = vmlinux.read_bytes()
    banner = _BANNER.search(content)
    if not banner:
        raise SaakmError(
            f"{vmlinux} is not a kernel",
            "it does not say which version it is",
            "name an uncompressed vmlinux, not a bzImage",
        )
    release, compiler = (word.decode() for word in banner.groups())
    series = ".".join(map(str, needed_qemu().number))
    return Target(built, vmlinux, release, compiler, b"saakm_add_policy\0" in content, series)


def policy_files(target: Target, names: list[str]) -> list[Path]:
    """The modules of these policies, built against this kernel."""
    known = modules.module_sources() | {
        name: path for name in names if (path := target.directories.get(name))
    }
    if missing := [name for name in names if name not in known]:
        known |= {name: path for name in missing if (path := find_policy(name))}
    return modules.build_modules(target.built, sources=[known[name] for name in names])
