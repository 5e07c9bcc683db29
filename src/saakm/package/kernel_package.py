# SPDX-License-Identifier: GPL-2.0
"""The kernel's own packaging, on a build that exists: nothing is compiled again for it.

`make bindeb-pkg` would set another build number, and link the kernel anew. Its parts
are called instead: mkdebian, and debian/rules as if its build target were done.
"""

import re
import shutil
from pathlib import Path

from ..base import paths
from ..base.locks import locked
from ..base.process import run_logged
from ..base.progress import meter
from ..builder.kernel import Kernel, environment, make_command
from ..lab.bench.packages import ensure
from .debian import TOOLS, maintainer, move, version


def package_kernel(kernel: Kernel, out: Path, jobs: int | None = None) -> list[Path]:
    """linux-image and linux-headers."""
    ensure(TOOLS)
    debian = kernel.build / "debian"
    # What debhelper writes is put beside the build directory.
    with locked(kernel.build / "lock"):
        try:
            steps = _steps(kernel, jobs)
            with meter("packaging the kernel", len(steps)) as progress:
                for doing, command in steps:
                    progress.describe(doing)
                    _run(kernel, doing, command)
                    if doing == "mkdebian":
                        _name_needs_of_headers(debian / "control")
                    progress.advance()
            files = "".join((debian / f"{kind}.files").read_text() for kind in ("image", "headers"))
            names = [line.split()[0] for line in files.splitlines()]
            return [move(kernel.build.parent / name, out) for name in names]
        finally:
            shutil.rmtree(debian, ignore_errors=True)


def _steps(kernel: Kernel, jobs: int | None) -> list[tuple[str, list[str]]]:
    make = make_command(kernel.build, jobs=jobs)
    script = "KBUILD_RUN_COMMAND=+$(srctree)/scripts/package/mkdebian"
    # The same tools as in the build, and no build number: else make would link again.
    options = " ".join(f'"{word}"' for word in make if "CC=" in word)
    packages = ["make", "-C", str(kernel.build), "-f", "debian/rules", "-o", "build-arch"]
    packages += [f"make-opts={options}", "KBUILD_VERBOSE=0", "binary-image", "binary-headers"]
    return [
        ("bzImage", [*make, "bzImage"]),
        ("mkdebian", [*make, "run-command", script]),
        ("packages", packages),
    ]


def _run(kernel: Kernel, doing: str, command: list[str]) -> None:
    release = (kernel.build / "include/config/kernel.release").read_text().strip()
    name, email = maintainer()
    ours = {
        "KDEB_PKGVERSION": f"{release}-{version()}",
        "KDEB_SOURCENAME": "linux-saakm",
        "KDEB_CHANGELOG_DIST": "unstable",
        "KDEB_COMPRESS": "gzip",  # xz saves 4 MB and takes 20 s
        "DEBFULLNAME": name,
        "DEBEMAIL": email,
    }
    run_logged(
        command,
        paths.LOGS / "linux-package.log",
        f"packaging the kernel: {doing}",
        env={**environment(), **ours},
        append=doing != "bzImage",
    )


def _name_needs_of_headers(control: Path) -> None:
    """The kernel's script leaves out what the programs in there need."""
    text = re.sub(
        r"(?m)^(Package: linux-headers-.*)$", r"\1\nDepends: libelf1, libc6", control.read_text()
    )
    control.write_text(text)
