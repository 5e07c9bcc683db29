# SPDX-License-Identifier: GPL-2.0
"""The kernel's own checkers, on the class, its headers and the policies.

checkpatch.pl is in the unpacked source. sparse reads the code as gcc did: it takes gcc's flags from
what the build has left, and writes nothing.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..builder import source
from ..builder.kernel import Kernel, find_kernel
from .checker import Checker, Skipped, complaint_of

_SAVED = re.compile(r"^savedcmd_\S+ := (.*?)(?: ;|$)", re.M)
_CLASS = Path("kernel/sched/saakm")
# What the kernel's Makefile gives to sparse.
_SPARSE = ["-D__linux__", "-Dlinux", "-D__STDC__", "-Dunix", "-D__unix__", "-D__x86_64__"]
_SPARSE += ["--arch=x86", "-mlittle-endian", "-Wbitwise", "-Wno-return-void"]
_SPARSE += ["-Wno-unknown-attribute", "-Wsparse-error"]
# It takes guard() and scoped locks, whose unlock is a cleanup attribute, for forgotten unlocks.
_SPARSE += ["-Wno-context"]
_SAID = re.compile(r"^(?P<place>\S+?:\d+:\d+:) (?:error:|warning:|(?P<more>  ))")
# A complaint, and the line of ours that it is about.
_EXCUSED = [
    # Linux's macro follows __rcu pointers plainly.
    (r"got struct sched_domain \[noderef\] __rcu \*parent", r"for_each_domain\("),
    # Linux reads this __rcu pointer plainly wherever the runqueue's lock is held.
    (r"dereference of noderef expression", r"\brq->donor->"),
    # It forgets __percpu of a variable that is a pointer with __rcu, as Linux's sd_llc is.
    (r"__percpu \*__vpp_verify\n.*got struct \w+ \[noderef\] __rcu \*\*", r"topology_level"),
]
_IGNORED = ",".join(
    [
        "MACRO_ARG_REUSE",  # iterators and module_*() macros do it all over the kernel
        "EXPORT_SYMBOL",  # of a per-CPU variable, in a namespace: checkpatch knows no such macro
        "YIELD",  # an agent of the policy user goes last, which is what it means
        "PRINTK_WITHOUT_KERN_LEVEL",  # the level is an argument in oopses, as everywhere
    ]
)


def checkpatch(tree: Path, root: Path) -> str:
    command = ["perl", str(tree / "scripts/checkpatch.pl"), "--no-tree", "--strict", "--terse"]
    command += ["--no-summary", "--show-types", "--ignore", _IGNORED, "--file"]
    files, jobs = [str(file.relative_to(root)) for file in kernel_code(root)], os.cpu_count() or 1
    shares = [files[job::jobs] for job in range(jobs)]
    return _together(lambda share: complaint_of([*command, *share], root), filter(None, shares))


def kernel_code(root: Path) -> Iterator[Path]:
    """What is written in the kernel's style, but what is only there to misbehave."""
    linux = root / "linux"
    for pattern in ("kernel/sched/saakm/*.[ch]", "include/linux/*.h", "include/uapi/linux/*.h"):
        yield from sorted(linux.glob(pattern))
    for pattern in ("policies/*/*.[ch]", "docs/examples/**/*.c"):
        yield from sorted(root.glob(pattern))


def sparse(kernel: Kernel, root: Path) -> str:
    flags, class_source = _flags(kernel)
    inside = [f"-I{class_source.parent}", f"-I{_CLASS}"]
    commands = [["sparse", *_SPARSE, *flags, *inside, *_named("build"), str(class_source)]]
    for file in sorted(root.glob("policies/*/*.c")):
        named = ["-DMODULE", *_named(file.stem)]
        commands.append(["sparse", *_SPARSE, *flags, *named, str(file)])
    # Linux's own headers are not ours to mend.
    tree = class_source.parents[len(_CLASS.parts)]
    ours = re.compile(
        rf"{re.escape(str(root / 'policies'))}/|{re.escape(str(tree))}/({_CLASS}/\w+\.[ch]:|\S*saakm\w*\.h:)"
    )
    return _together(lambda command: _only(ours, complaint_of(command, kernel.build)), commands)


def _only(ours: re.Pattern[str], said: str) -> str:
    """Complaints of our files, each once: a macro that is used at many places repeats its own."""
    blocks: list[list[str]] = []
    for line in said.splitlines():
        match = _SAID.match(line)
        if blocks and match and blocks[-1][0].startswith(match["place"]) and match["more"]:
            blocks[-1].append(line)
        elif match:
            blocks.append([line])
    found = dict.fromkeys("\n".join(block) for block in blocks if ours.match(block[0]))
    return "\n".join(text for text in found if not _is_excused(text))


def _is_excused(text: str) -> bool:
    file, line, _ = text.split(":", 2)
    source_line = Path(file).read_text().splitlines()[int(line) - 1]
    return any(
        re.search(complaint, text) and re.search(code, source_line) for complaint, code in _EXCUSED
    )


def _flags(kernel: Kernel) -> tuple[list[str], Path]:
    """Returns the flags that the class has as all of the kernel, and its C file, which includes the others."""
    saved = kernel.build / _CLASS / ".build.o.cmd"
    match = _SAVED.search(saved.read_text())
    if not match:
        raise ValueError(f"{saved} does not have the compiler's command")
    words = shlex.split(match[1])
    own = ("-DKBUILD_", "-D__KBUILD_", "-Wp,", f"-I{_CLASS}", "-W", "-O", "-g")
    kept, rest = [], iter(words[words.index("gcc") + 1 : -1])
    for word in rest:
        if word in ("-o",):
            next(rest)
        elif word != "-c" and not word.startswith(own) and not word.endswith(f"/{_CLASS}"):
            kept.append(word)
    return kept, Path(words[-1])


def _named(name: str) -> list[str]:
    quoted = f'"{name}"'
    return [
        f"-DKBUILD_MODFILE={quoted}",
        f"-DKBUILD_BASENAME={quoted}",
        f"-DKBUILD_MODNAME={quoted}",
        f"-D__KBUILD_MODNAME=kmod_{name}",
    ]


def _together(examine: Callable[[list[str]], str], work: Iterable[list[str]]) -> str:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return "\n".join(filter(None, pool.map(examine, work)))


def _checkpatch_if_unpacked(root: Path) -> str:
    tree = source.find_tree()
    if not tree:
        raise Skipped("there is no kernel tree in the cache; saakm build makes it")
    return checkpatch(tree, root)


def _sparse_if_built(root: Path) -> str:
    kernel = find_kernel("base") or find_kernel("debug")
    if not kernel:
        raise Skipped("there is no kernel built of this linux/ in the cache; saakm build makes it")
    return sparse(kernel, root)


CHECKERS = (Checker("checkpatch", _checkpatch_if_unpacked), Checker("sparse", _sparse_if_built))


def of_kernel(kernel: Kernel) -> tuple[Checker, ...]:
    """The same, of one that is certainly built."""
    return (
        Checker("checkpatch", lambda root: checkpatch((kernel.build / "source").resolve(), root)),
        Checker("sparse", lambda root: sparse(kernel, root)),
    )
