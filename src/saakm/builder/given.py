# SPDX-License-Identifier: GPL-2.0
"""The kernel that --kernel names: a series that we know how to get, or somebody's vmlinux."""

from pathlib import Path

from ..base.errors import BadInput
from ..base.files import is_whole, read_json
from . import unpatched
from .about import about
from .kernel import Kernel


def check(word: str) -> None:
    """Refuses a kernel that there is not; builds nothing."""
    if word not in unpatched.series():
        about(_vmlinux(word))


def has_class(word: str) -> bool:
    """SaaKM's."""
    return word not in unpatched.series() and about(_vmlinux(word)).has_class


def refuse_without_class(word: str, what: str) -> None:
    """`what` needs SaaKM's class, as "the policy 'fifo'"."""
    if not has_class(word):
        named = f"Linux {word}" if word in unpatched.series() else str(about(_vmlinux(word)))
        raise BadInput(
            f"{what} needs SaaKM's class",
            f"--kernel {word} is {named}, without our patches",
            "leave out --kernel, or take what every kernel has: fair, sched_fifo, scx_fifo",
        )


def kernel(word: str, jobs: int | None = None) -> Kernel:
    """Builds what is not built, of a series."""
    if word in unpatched.series():
        return unpatched.build(word, jobs)
    vmlinux = _vmlinux(word)
    about(vmlinux)
    stamp = vmlinux.with_name("saakm.stamp")
    # One that we have built says what of. Else all modules beside it would be built anew.
    ours = is_whole(stamp, vmlinux)
    inputs = read_json(stamp)["inputs"] if ours else str(vmlinux.stat().st_mtime_ns)
    return Kernel("base", vmlinux.parent, inputs, vmlinux.name)


def _vmlinux(word: str) -> Path:
    path = Path(word)
    if path.is_dir() and (path / "vmlinux").is_file():
        path /= "vmlinux"
    if not path.is_file():
        raise BadInput(
            f"there is no kernel {word}",
            _what_is_at(path),
            f"name the vmlinux of a built kernel, or a series: {', '.join(unpatched.series())}",
        )
    return path.resolve()


def _what_is_at(path: Path) -> str:
    if path.is_dir():
        return "the directory has no vmlinux"
    return "it is no regular file" if path.exists() else "the file does not exist"
