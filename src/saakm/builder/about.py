# SPDX-License-Identifier: GPL-2.0
"""What a built kernel says of itself: its version, its compiler, how it preempts, whether it is ours."""

import contextlib
import functools
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import BadInput
from .kconfig import parse_config

# As in /proc/version, without the number and the date of the build.
_BANNER = re.compile(rb"Linux version (\S+) \([^)]*\) \((.+?)\) #[^\n%]*\n")
# What modules of policies link to.
_CLASS = b"saakm_add_policy\0"
# Linux 7.3 keeps it elsewhere, and shows no more than hundredths of a second.
_TELLS_IDLE = b"\0idle_sleeptime\0"
# CONFIG_IKCONFIG: what it was configured with, whatever lies beside it by now.
_CONFIG_BEGINS = b"IKCFG_ST"
# e_machine of the ELF header, which says EM_X86_64.
_MACHINE = slice(18, 20)
_X86_64 = b"\x3e\0"
_LARGEST_CONFIG = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
_MODELS = {
    "CONFIG_PREEMPT_RT": "PREEMPT_RT",
    "CONFIG_PREEMPT": "PREEMPT",
    "CONFIG_PREEMPT_LAZY": "PREEMPT_LAZY",
    "CONFIG_PREEMPT_VOLUNTARY": "PREEMPT_VOLUNTARY",
    "CONFIG_PREEMPT_NONE": "PREEMPT_NONE",
}


@dataclass(frozen=True)
class About:
    release: str
    compiler: str
    preemption: str  # the option's name; "unknown" if nothing says it
    has_class: bool  # SaaKM's
    options: dict[str, str]  # its configuration; empty if it is not known
    tells_idle: bool = True  # /proc/timer_list has each CPU's idle time, in nanoseconds

    def __str__(self) -> str:
        return f"Linux {self.release}, {self.preemption}"

    @property
    def has_sched_ext(self) -> bool:
        return self.options.get("CONFIG_SCHED_CLASS_EXT") == "y"

    @property
    def series(self) -> str:
        return series_of(self.release)


def series_of(release: str) -> str:
    """As 6.12, of 6.12.117."""
    return ".".join(release.split(".")[:2])


def about(vmlinux: Path) -> About:
    stat = vmlinux.stat()
    return _about(vmlinux, stat.st_size, stat.st_mtime_ns)


def _refuse_other_machines(vmlinux: Path, content: bytes) -> None:
    """QEMU would say that it cannot load it, and not why."""
    if content.startswith(b"\x7fELF") and content[_MACHINE] != _X86_64:
        raise BadInput(
            f"{vmlinux} is not for this machine",
            "its ELF header names another architecture than x86-64",
            "name a vmlinux that was built with ARCH=x86",
        )


@functools.cache
def _about(vmlinux: Path, *_: int) -> About:
    content = vmlinux.read_bytes()
    banner = _BANNER.search(content)
    if not banner:
        raise BadInput(
            f"{vmlinux} is not a kernel",
            "it does not say which version it is",
            "name an uncompressed vmlinux, not a bzImage",
        )
    _refuse_other_machines(vmlinux, content)
    release, compiler = (word.decode() for word in banner.groups())
    options = _options(content, vmlinux)
    return About(
        release,
        compiler,
        _preemption(options),
        has_class=_CLASS in content,
        options=options,
        tells_idle=_TELLS_IDLE in content,
    )


def _options(content: bytes, vmlinux: Path) -> dict[str, str]:
    at = content.find(_CONFIG_BEGINS)
    if at >= 0:
        packed = content[at + len(_CONFIG_BEGINS) :][:_LARGEST_CONFIG]
        with contextlib.suppress(zlib.error):  # the same words, and no configuration after them
            text = zlib.decompressobj(_GZIP).decompress(packed)
            return parse_config(text.decode(errors="replace"))
    beside = vmlinux.with_name(".config")
    return parse_config(beside.read_text(errors="replace")) if beside.is_file() else {}


def _preemption(options: dict[str, str]) -> str:
    model = next((name for key, name in _MODELS.items() if options.get(key) == "y"), "unknown")
    # Then the kernel's argument preempt= chooses, and this is the default.
    return f"{model} (dynamic)" if options.get("CONFIG_PREEMPT_DYNAMIC") == "y" else model
