# SPDX-License-Identifier: GPL-2.0
"""What has passed already: guests need not boot again for a change of the documentation."""

import hashlib
import os
import platform
from pathlib import Path

from ..base import cache, git, paths
from ..base.files import write_text
from ..vm.qemu import qemu_version

_GREEN = paths.CACHE / "tests" / "green"


def state() -> str:
    """A hash of all that decides what guests do; empty if the checkout is not git's."""
    listed = git.say("ls-files", "-z", "-co", "--exclude-standard")
    if not listed:
        return ""
    digest = hashlib.sha256(f"{platform.release()} {qemu_version()}".encode())
    for name in sorted(set(listed.split("\0"))):
        path = paths.REPO / name
        if name and not _is_documentation(Path(name)) and path.is_file():
            digest.update(b"\0%b\0%d" % (os.fsencode(name), os.access(path, os.X_OK)))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _is_documentation(name: Path) -> bool:
    return name.suffix in (".md", ".svg") or (name.parts[0] == "docs" and name.suffix != ".c")


def has_passed(now: str) -> bool:
    return bool(now) and _GREEN.exists() and _GREEN.read_bytes().strip() == now.encode()


def remember(now: str) -> None:
    if now:
        cache.make(_GREEN.parent)
        write_text(_GREEN, now + "\n")
