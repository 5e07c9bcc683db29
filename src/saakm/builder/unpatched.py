# SPDX-License-Identifier: GPL-2.0
"""Linux of a later series, as it came: fetched from Debian and built, to measure beside ours.

Nothing of linux/ goes into it but the options of base.config, so that it is the same machine that
runs it.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from ..base import apt, cache, own_apt, paths
from ..base.errors import SaakmError
from ..base.files import hash_named, is_fresh, is_whole, read_json, write_stamp, write_text
from ..base.locks import locked
from ..base.own_apt import NotFetched, OwnApt, Source
from ..base.progress import meter
from . import pinned, source
from .kernel import Kernel, configure_if_changed, make
from .pinned import Pin

_LOG = paths.LOGS / "linux-source.log"
_NOTE = "package.json"  # beside a tree: what it was unpacked from
# The package and its tarball while they are unpacked, the tree, and its build.
_GIB = 2**30
_NEEDED = {"fetch": 2.5 * _GIB, "build": 2.0 * _GIB}
_CPU_MINUTES = 20


def series() -> list[str]:
    return [pin.series for pin in pinned.pins() if pin.suite]


def build(wanted: str, jobs: int | None = None) -> Kernel:
    """The kernel of one of series(), built unless nothing has changed."""
    (pin,) = (pin for pin in pinned.pins() if pin.series == wanted and pin.suite)
    found = _unpacked(pin)
    if found and (kernel := _if_built(pin, found)):
        return kernel
    # What is built again takes what has changed, and no more room.
    if not found or not (_kernel(pin, found).build / "vmlinux.o").exists():
        _announce(pin, found)
    tree = found or _fetched(pin)
    kernel = _kernel(pin, tree)
    cache.make(kernel.build)
    stamp = kernel.build / "saakm.stamp"
    with locked(tree.parent / "lock"), locked(kernel.build / "lock"):
        if not is_whole(stamp, kernel.vmlinux):
            # By its date make would take half of a file for all of it.
            kernel.vmlinux.unlink(missing_ok=True)
        stamp.unlink(missing_ok=True)
        configure_if_changed(tree, kernel.build, _fragments(pin), kernel.inputs, jobs)
        make(tree, kernel.build, pin.series, f"Linux {pin.series}", jobs, ("vmlinux",))
        write_stamp(stamp, kernel.inputs, kernel.vmlinux)
    return kernel


def _if_built(pin: Pin, tree: Path) -> Kernel | None:
    kernel = _kernel(pin, tree)
    return kernel if is_fresh(kernel.build / "saakm.stamp", kernel.inputs, kernel.vmlinux) else None


def _kernel(pin: Pin, tree: Path) -> Kernel:
    key = tree.parent.name
    inputs = hash_named({file.name: file for file in _fragments(pin)}, key)
    return Kernel(pin.series, paths.BUILD / f"{key}-unpatched", inputs)


def _fragments(pin: Pin) -> list[Path]:
    return [paths.CONFIGS / "base.config", paths.PACKAGE / f"linux-{pin.series}.config"]


# --- its source ---


def _unpacked(pin: Pin) -> Path | None:
    """The pinned one; or the one that Debian had instead of it, which is said each time."""
    for note in [paths.TREES / pin.sha256[:12] / _NOTE, *sorted(paths.TREES.glob(f"*/{_NOTE}"))]:
        said = read_json(note)
        if said.get("pinned") == pin.version and said.get("package") == pin.package:
            _tell_if_moved(pin, str(said.get("version")))
            return note.parent / "linux"
    return None


def _tell_if_moved(pin: Pin, version: str) -> None:
    if version != pin.version:
        print(
            f"saakm: the kernel is built from {pin.package} {version} instead of the pinned "
            f"{pin.version}: figures may differ",
            file=sys.stderr,
        )


def _announce(pin: Pin, found: Path | None) -> None:
    """What it will take, before it takes that."""
    parts = ["build"] if found else ["fetch", "build"]
    needed = sum(_NEEDED[part] for part in parts)
    source.refuse_full_disk(cache.make(paths.TREES), needed, f"build Linux {pin.series}")
    fetched = "" if found else "fetched from Debian (170 MB) and "
    print(
        f"saakm: Linux {pin.series} is {fetched}built, unpatched: once, some "
        f"{max(1, _CPU_MINUTES / (os.cpu_count() or 1)):.0f} minutes, and {needed / _GIB:.1f} GiB in "
        f"{paths.CACHE}",
        file=sys.stderr,
    )


def _fetched(pin: Pin) -> Path:
    place = cache.make(paths.TREES / pin.sha256[:12])
    with locked(place / "lock"):
        if found := _unpacked(pin):  # another command may have been faster
            return found
        for left in place.glob(".*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        try:
            with tempfile.TemporaryDirectory(dir=place, prefix=".") as scratch:
                package, version = _download(pin, Path(scratch))
                return _unpack(pin, package, version, Path(scratch))
        except NotFetched as error:
            raise SaakmError(
                f"Linux {pin.series} cannot be fetched",
                str(error),
                f"all that apt-get said: {_LOG}; or build it elsewhere and name its vmlinux: "
                "--kernel VMLINUX",
            ) from error


def _download(pin: Pin, scratch: Path) -> tuple[Path, str]:
    """The pinned version while Debian has it; then what it has instead."""
    ours = own_apt.codename(pin.package)
    uris = dict.fromkeys(uri for uri, name in own_apt.mirror(ours) if name == ours)
    own = OwnApt(scratch, [Source(uri, (pin.suite,)) for uri in uris], _LOG)
    with meter(f"fetching {pin.package} (%)", total_comes=True) as progress:
        own.update()
        versions = own.versions(pin.package)
        if not versions:
            raise NotFetched(f"{pin.suite} of {', '.join(uris)} has no {pin.package}")
        version = pin.version if pin.version in versions else versions[0]
        follow = apt.follow(progress, installs=False)
        own.download(["download", f"{pin.package}={version}"], follow, scratch)
    (package,) = scratch.glob(f"{pin.package}_*.deb")
    return package, version


def _unpack(pin: Pin, package: Path, version: str, scratch: Path) -> Path:
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if version == pin.version and digest != pin.sha256:
        raise NotFetched(
            f"its SHA-256 is {digest}, and {pinned.FILE} says {pin.sha256} for {version}"
        )
    _tell_if_moved(pin, version)
    own_apt.run(["dpkg", "-x", str(package), str(scratch / "files")])
    tree = paths.TREES / digest[:12] / "linux"
    (tarball,) = (scratch / "files").glob("usr/src/*.tar.xz")
    note = tree.parent / _NOTE
    note.unlink(missing_ok=True)
    cache.make(tree.parent)
    source.unpack(tarball, tree)
    # All of it on the disk first: it is not looked at again.
    os.sync()
    said = {"package": pin.package, "version": version, "pinned": pin.version, "sha256": digest}
    write_text(note, json.dumps(said))
    return tree
