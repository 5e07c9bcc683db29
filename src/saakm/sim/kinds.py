# SPDX-License-Identifier: GPL-2.0
"""Which simulator is built: how its parts are compiled, by which compiler, for how many CPUs."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError

SOURCES = paths.REPO / "sim"
INCLUDE = SOURCES / "include"
ENGINE = SOURCES / "engine"
CORE = SOURCES / "core"
START = SOURCES / "start"
ORDER = SOURCES / "order.ld"
CLASS = paths.LINUX / "kernel" / "sched" / "saakm"
_CLANG = "clang-19"
# Its variables get redzones as well.
_PER_CPU = "sim_percpu"
# CONFIG_FRAME_WARN of the kernels that we build. Frames of who sanitizes or counts are larger.
_LARGEST_FRAME = 1024


class Kind(StrEnum):
    PLAIN = "plain"
    SANITIZE = "sanitize"
    COVERAGE = "coverage"


class Compiler(StrEnum):
    GCC = "gcc"
    CLANG = "clang"

    @property
    def program(self) -> str:
        return _CLANG if self is Compiler.CLANG else "gcc"


@dataclass(frozen=True)
class Recipe:
    """`level`: how much is optimised, as compilers call it; empty: as suits the kind."""

    kind: Kind = Kind.PLAIN
    compiler: Compiler = Compiler.GCC
    nr_cpus: int = 64
    level: str = ""

    def __post_init__(self) -> None:
        if self.kind is Kind.SANITIZE and self.compiler is Compiler.CLANG:
            raise SaakmError(
                "--sanitize and --compiler clang exclude each other",
                "redzones between per-CPU variables are gcc's (-fsanitize-sections)",
                "leave out --compiler",
            )
        if self.kind is Kind.COVERAGE and self.compiler is Compiler.GCC:
            raise SaakmError(
                "--coverage and --compiler gcc exclude each other",
                "lines and branches are counted by clang",
                "leave out --compiler",
            )

    @property
    def common(self) -> list[str]:
        """For host side and kernel side alike."""
        # Who sanitizes or counts wants to compile quickly, and to see each line.
        level = self.level or ("-O2" if self.kind is Kind.PLAIN else "-O1")
        flags = ["-std=gnu11", "-g", level, "-fno-strict-aliasing", "-fno-common"]
        flags += ["-fms-extensions", "-fno-pie", "-fno-omit-frame-pointer", "-Wall"]
        return [*flags, *self._of_kind]

    @property
    def _of_kind(self) -> list[str]:
        if self.kind is Kind.SANITIZE:
            return ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        if self.kind is Kind.COVERAGE:
            return ["-fprofile-instr-generate", "-fcoverage-mapping"]
        return []

    @property
    def linking(self) -> list[str]:
        # The runtime of AddressSanitizer cannot be linked statically with libc.
        static = [] if self.kind is Kind.SANITIZE else ["-static"]
        return [*static, "-no-pie", "-g", *self._of_kind, f"-Wl,-T,{ORDER}"]


def kernel_side(recipe: Recipe, compilers_own: Path, of_policy: bool = False) -> list[str]:
    """Our headers, under the kernel's names; none of libc's, which have other types of the same names."""
    flags = ["-nostdinc", "-isystem", str(compilers_own), "-fno-builtin-printf", "-D__KERNEL__"]
    # As the kernel has it: what overflows wraps, and null is an address like others.
    flags += ["-fno-strict-overflow", "-fno-delete-null-pointer-checks", "-Wno-pointer-sign"]
    flags += [f"-Werror={name}" for name in ("implicit-function-declaration", "return-type")]
    flags.append(f"-DNR_CPUS={recipe.nr_cpus}")
    if recipe.kind is Kind.SANITIZE:
        flags.append(f"-fsanitize-sections={_PER_CPU}")
    if of_policy and recipe.kind is Kind.PLAIN:
        flags.append(f"-Wframe-larger-than={_LARGEST_FRAME}")
    if recipe.compiler is Compiler.CLANG:
        flags += ["-Wno-microsoft-anon-tag", "-Wno-gnu-variable-sized-type-not-at-end"]
    # The last is where the class's "../sched.h" and "../../time/tick-sched.h" are found from.
    sched = (paths.LINUX / "kernel" / "sched", INCLUDE / "kernel" / "sched" / "saakm")
    ours = (INCLUDE, paths.LINUX / "include", *sched)
    # Of what headers are warned of, no policy's author need hear.
    flags += [f"{'-isystem' if of_policy else '-I'}{place}" for place in ours]
    return flags
