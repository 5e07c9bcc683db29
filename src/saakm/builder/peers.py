# SPDX-License-Identifier: GPL-2.0
"""Builds the schedulers that SaaKM is compared with."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..base import cache, paths
from ..base.errors import BadInput
from ..base.files import hash_files, is_whole, write_stamp
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from . import crates

SOURCES = paths.REPO / "peers"

# Written here, each deciding as one of our policies does.
OURS = ("scx_global", "scx_fifo", "scx_rr", "scx_steal", "scx_prio", "scx_mlfq", "scx_vtime")

_RUST = (
    "clang-19",
    "libclang-19-dev",
    "llvm-19",
    "libelf-dev",
    "zlib1g-dev",
    "libbpf-dev",
    "libseccomp-dev",
    "libcap-dev",
    "pkg-config",
    "protobuf-compiler",
)
_CLANG = (("BPF_CLANG", "clang-19"),)
# The newest that load into 6.12 as they are.
CRATES = {
    name: crates.Crate(name, version, packages=_RUST, environment=_CLANG)
    for name, version in (
        ("scx_bpfland", "1.1.4"),
        ("scx_lavd", "1.0.11"),
        ("scx_rustland", "1.1.4"),
    )
}
# And one that does with a patch.
_NEWER_LAVD = "scx_lavd-1.1.4"
CRATES[_NEWER_LAVD] = crates.Crate(
    "scx_lavd",
    "1.1.4",
    packages=_RUST,
    environment=_CLANG,
    patch=SOURCES / f"{_NEWER_LAVD}.patch",
    sha256="f16015ee20047840a665dfc271c17517155517734336dfb3759e0487a0e94823",
)
# Those of them that can be told to schedule threads alone that chose SCHED_EXT, as ours do.
PARTIAL = ("scx_rustland", _NEWER_LAVD)
SCRIPT = paths.GUEST_FILES / "under_ext"
_CHOOSE = "import os, sys; os.sched_setscheduler(0, 7, os.sched_param(0)); os.execvp(sys.argv[1], sys.argv[1:])"


def apart(word: str) -> tuple[str, tuple[str, ...]]:
    """One from crates.io, and the options behind it; any other scheduler as it is written."""
    name, _, options = word.strip().partition(" ")
    if name not in CRATES:
        if not {"/", ":"} & set(name) and options.lstrip().startswith("-"):
            raise BadInput(
                f"'{name}' takes no options",
                f"'{options}' stands behind it; {', '.join(CRATES)} take some",
                "a policy has parameters: saakm run --param NAME=VALUE; for bench, cost "
                "and lab POLICY:NAME=VALUE",
            )
        return word, ()
    try:
        return name, tuple(shlex.split(options))
    except ValueError as error:
        raise BadInput(f"'{word}' is no command line", str(error), "close its quotes") from error


def prefix(name: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """What a command line begins with that shall run under it, alone. Builds it."""
    if name in OURS:
        return (str(build(name)), "-p")
    # Debian 12's chrt does not know SCHED_EXT.
    return (*starter(name, options), "/usr/bin/python3", "-c", _CHOOSE)


def starter(name: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """The part of prefix() that is in force for all who choose SCHED_EXT while a command runs."""
    if name in OURS:
        return ()
    starts = shlex.join([str(build(name)), "--partial", *options])
    return ("sh", "-c", SCRIPT.read_text(), SCRIPT.name, starts)


def identity(name: str) -> str:
    """Of what build() makes."""
    program = build(name)
    return program.parent.name if name in OURS else program.parent.parent.name


def build(name: str) -> Path:
    """The program of a sched_ext scheduler: one of ours, or one from crates.io."""
    return crates.build(CRATES[name]) if name in CRATES else _build_ours(name)


def _build_ours(name: str) -> Path:
    """peers/NAME.bpf.c, once for each content."""
    files = [SOURCES / file for file in ("Makefile", "load.c", "scx.bpf.h", f"{name}.bpf.c")]
    out = paths.CACHE / "peers" / f"{name}-{hash_files(files, SOURCES)[:16]}"
    if (out / name).exists() and not os.access(out, os.W_OK):
        return out / name  # in a guest, which sees the host's files and cannot lock them
    cache.make(out)
    stamp = out / "saakm.stamp"
    with locked(out / "lock"):
        if not is_whole(stamp, out / name):
            for file in (name, f"{name}.bpf.o", f"{name}.6.13.bpf.o"):
                (out / file).unlink(missing_ok=True)
            command = ["make", "-s", "-C", str(SOURCES), f"NAME={name}", f"OUT={out}"]
            with meter(f"building {name}"):
                run_logged(command, paths.LOGS / f"{name}.log", f"building {name}")
            write_stamp(stamp, out.name, out / name)
    return out / name
