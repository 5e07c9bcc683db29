# SPDX-License-Identifier: GPL-2.0
"""Builds the kernel, and nothing when nothing changed."""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.files import hash_files, is_fresh, is_whole, read_json, write_stamp, write_text
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from . import kconfig, pinned, source
from .sync import sync

# What make prints for work that takes time; the first build's total until one was counted.
_STEP = re.compile(
    r"^\s+(CC|AS|AR|LD|CC \[M\]|LD \[M\]|BTF|HOSTCC|HOSTLD|KSYMS|NM|VDSO\w*)\s+(\S+)"
)
_DEFAULT_STEPS = {"base": 2057, "features": 2160, "debug": 2076, "kcsan": 2060, "7.3": 2196}
# Of one CPU, for a step, without anything in the compiler's cache.
_USUAL_SECONDS = {"base": 0.45, "features": 0.45, "debug": 0.8, "kcsan": 0.8, "7.3": 0.5}
MODULES = "saakm-modules"
# Fixed, so that neither date nor host make ccache miss. Linux stirs what uname says into its random
# numbers at boot, so a number that counts builds would make each a kernel that runs differently.
_ENV = {
    "CCACHE_DIR": str(paths.CCACHE),
    "KBUILD_BUILD_TIMESTAMP": "2024-01-01",
    "KBUILD_BUILD_USER": "saakm",
    "KBUILD_BUILD_HOST": "saakm",
    "KBUILD_BUILD_VERSION": "1",
    "LOCALVERSION": "",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Kernel:
    """A built kernel: where it is, and a hash of all that went into it.

    `config`: its configuration; of one that is not ours the series, or "base".
    """

    config: str
    build: Path
    inputs: str
    name: str = "vmlinux"  # of its file

    @property
    def vmlinux(self) -> Path:
        return self.build / self.name

    @property
    def modules(self) -> Path:
        """This checkout's: another one may have others of the same names."""
        return self.build / MODULES / paths.checkout_key()


def make_command(build: Path, tree: Path | None = None, jobs: int | None = None) -> list[str]:
    where = ["-C", str(tree), f"O={build}"] if tree else ["-C", str(build)]
    tools = ["CC=ccache gcc", "HOSTCC=ccache gcc"]
    return ["make", *where, f"-j{jobs or os.cpu_count()}", *tools]


def environment() -> dict[str, str]:
    return dict(_ENV)


def build_kernel(config: str, kernel_source: Path | None = None, jobs: int | None = None) -> Kernel:
    files = kconfig.fragments(config)
    if kernel_source:
        key, tree = source.copied_tree(kernel_source)
    else:
        key, tree = source.default_tree()
    kernel = _kernel(key, config, files)
    build, inputs = cache.make(kernel.build), kernel.inputs
    stamp = build / "saakm.stamp"
    # Of a user's own tree we cannot know cheaply whether it changed: ask make.
    if not kernel_source and is_fresh(stamp, inputs, kernel.vmlinux):
        return kernel
    if not kernel_source and (other := pinned.instead(key)):
        print(f"saakm: {other}", file=sys.stderr)
    with locked(tree.parent / "lock"), locked(build / "lock"):
        if not is_whole(stamp, kernel.vmlinux):
            # By its date make would take half of a file for all of it.
            kernel.vmlinux.unlink(missing_ok=True)
        stamp.unlink(missing_ok=True)
        sync(paths.LINUX, tree, kernel_source)
        inputs_of_kconfig = [*files, *paths.PATCHES.glob("*.patch"), *paths.LINUX.rglob("Kconfig*")]
        now = hash_files(inputs_of_kconfig, paths.LINUX)
        configure_if_changed(tree, build, files, now, jobs)
        make(tree, build, config, f"the {config} kernel", jobs)
        write_stamp(stamp, inputs, kernel.vmlinux)
    return kernel


def find_kernel(config: str) -> Kernel | None:
    """The kernel if it is built of the checkout as it stands now; builds nothing."""
    if not (tree := source.find_tree()):
        return None
    kernel = _kernel(tree.parent.name, config, kconfig.fragments(config))
    fresh = is_fresh(kernel.build / "saakm.stamp", kernel.inputs, kernel.vmlinux)
    return kernel if fresh else None


def latest_builds() -> list[Path]:
    """Where each configuration was built last, perhaps of another linux/: to ask its headers."""
    built = sorted(paths.BUILD.glob("*/Module.symvers"), key=lambda file: file.stat().st_mtime)
    return list({file.parent.name.rpartition("-")[2]: file.parent for file in built}.values())


def _kernel(key: str, config: str, files: list[Path]) -> Kernel:
    code = [f for f in paths.LINUX.rglob("*") if f.is_file() and paths.CONFIGS not in f.parents]
    inputs = hash_files([*code, *files], paths.LINUX, key, config)
    return Kernel(config, paths.BUILD / f"{key}-{config}", inputs)


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def configure_if_changed(
    tree: Path, build: Path, files: list[Path], now: str, jobs: int | None
) -> None:
    """`now`: a hash of what can change the outcome: fragments, patches and Kconfig files."""
    stamp = build / "saakm-config.stamp"
    if (build / ".config").exists() and _read(stamp) == now:
        return
    stamp.unlink(missing_ok=True)
    with meter("configuring the kernel", kconfig.STEPS) as progress:
        kconfig.configure(tree, build, files, make_command(build, tree, jobs), progress.advance)
    write_text(stamp, now)


def make(
    tree: Path,
    build: Path,
    config: str,
    what: str,
    jobs: int | None,
    targets: tuple[str, ...] = ("vmlinux", "modules"),
) -> None:
    """`config`: whose number of steps is known; `what`: how it is called."""
    counts = paths.BUILD / "steps.json"
    usual = (_DEFAULT_STEPS | _counted(counts))[config]
    # How much an incremental build has to do, only make knows: no total then.
    first = not (build / "vmlinux.o").exists()
    pace = _USUAL_SECONDS[config] / (jobs or os.cpu_count() or 1)
    with meter(f"building {what}", usual if first else None, pace) as progress:

        def step(line: str) -> None:
            if match := _STEP.match(line):
                progress.advance()
                progress.describe(f"{match[1].strip()} {match[2]}")

        run_logged(
            [*make_command(build, tree, jobs), *targets],
            build / "saakm-build.log",
            f"building {what}",
            env=environment(),
            on_line=step,
        )
        if first and progress.done > usual / 2:  # half of it could be an interrupted build
            write_text(counts, json.dumps(_counted(counts) | {config: int(progress.done)}))


def _counted(counts: Path) -> dict[str, int]:
    """Steps of earlier builds, as far as the file makes sense."""
    return {
        config: steps
        for config, steps in read_json(counts).items()
        if isinstance(steps, int) and steps > 0
    }
