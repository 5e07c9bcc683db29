# SPDX-License-Identifier: GPL-2.0
"""The kernel that holds all faults, built beside the one that everybody uses.

The shared tree and build directory are copied, so that make compiles no more than what
the rewritten class touches. Nothing is ever written to the originals, or to the checkout.
"""

import os
import shutil
import subprocess
from pathlib import Path

from saakm.base import cache, paths
from saakm.base.files import read_json, write_text
from saakm.base.process import run_logged
from saakm.base.progress import meter
from saakm.builder.kernel import Kernel, build_kernel, environment, make_command
from saakm.builder.source import default_tree
from saakm.builder.sync import owned_files

from .faults import Fault, faults_of, rewrite

HOME = paths.CACHE / "mutate"
TREE, BUILD = HOME / "linux", HOME / "build"
CLASS = Path("kernel/sched/saakm")


def sources() -> dict[str, str]:
    """The checkout's files of the class, by name."""
    files = sorted((paths.LINUX / CLASS).glob("*.[ch]"))
    return {file.name: file.read_text() for file in files}


def all_faults(texts: dict[str, str]) -> list[Fault]:
    return [fault for name, text in texts.items() for fault in faults_of(name, text)]


def build(faults: list[Fault], jobs: int | None = None) -> Kernel:
    """Built so that saakm_mutant=N makes faults[N - 1] live, and 0 none."""
    original = build_kernel("base")
    cache.make(HOME)
    copied = HOME / "copied.json"
    if read_json(copied).get("inputs") != original.inputs:
        copied.unlink(missing_ok=True)
        with meter("copying the base kernel"):
            _copy(original.build)
        write_text(copied, f'{{"inputs": "{original.inputs}"}}')
    _rewrite_class(faults)
    with meter("building the kernel with all faults"):
        command = [*make_command(BUILD, TREE, jobs), "vmlinux", "modules"]
        log = HOME / "build.log"
        run_logged(["nice", *command], log, "building the faulty kernel", env=environment())
    vmlinux = BUILD / "vmlinux"
    return Kernel("base", BUILD, str(vmlinux.stat().st_mtime_ns))


def _copy(build: Path) -> None:
    _, tree = default_tree()
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.rmtree(BUILD, ignore_errors=True)
    subprocess.run(["cp", "-al", str(tree), str(TREE)], check=True)
    # Links no more where somebody writes in place: sync() to the original, and we to ours.
    for name in owned_files(tree):
        (TREE / name).unlink()
        shutil.copy2(tree / name, TREE / name)
    command = ["rsync", "-a", "--exclude=/saakm-modules", f"{build}/", f"{BUILD}/"]
    subprocess.run(command, check=True)
    _say_where(tree, build)


def _say_where(tree: Path, build: Path) -> None:
    """make would compile everything anew that was compiled by another command."""
    (BUILD / "source").unlink(missing_ok=True)
    (BUILD / "source").symlink_to(TREE)
    for file in [BUILD / "Makefile", *BUILD.rglob(".*.cmd"), *BUILD.rglob(".*.d")]:
        before = file.stat()
        text = file.read_bytes()
        moved = text.replace(os.fsencode(tree), os.fsencode(TREE))
        moved = moved.replace(os.fsencode(build), os.fsencode(BUILD))
        if moved != text:
            file.write_bytes(moved)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _rewrite_class(faults: list[Fault]) -> None:
    numbered: dict[str, list[tuple[int, Fault]]] = {}
    for n, fault in enumerate(faults, 1):
        numbered.setdefault(fault.file, []).append((n, fault))
    texts = {name: rewrite(text, numbered.get(name, ())) for name, text in sources().items()}
    ours = Path(__file__).parent
    texts["mutant.h"] = (ours / "mutant.h").read_text()
    texts["build.c"] += f"\n#define SAAKM_NR_MUTANTS {len(faults) + 1}\n"
    texts["build.c"] += (ours / "mutant.c").read_text()
    guard = "#define _KERNEL_SCHED_SAAKM_HOOKS_H\n"
    texts["hooks.h"] = texts["hooks.h"].replace(guard, f'{guard}#include "mutant.h"\n')
    for name, text in texts.items():
        file = TREE / CLASS / name
        if not file.exists() or file.read_text() != text:
            write_text(file, text)
