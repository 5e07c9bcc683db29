# SPDX-License-Identifier: GPL-2.0
"""saakm package: what a Debian machine needs to run policies, and the kernel part as mails."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..base import paths
from ..base.errors import SaakmError
from ..builder.kernel import build_kernel
from ..builder.policies import find_policy, own_policies, policies
from ..builder.source import default_tree
from ..package.ctl_package import package_ctl
from ..package.kernel_package import package_kernel
from ..package.policy_package import package_policy
from ..package.series import prepare, write_series


class Part(StrEnum):
    kernel = "kernel"
    policy = "policy"
    saakmctl = "saakmctl"
    ctl = "ctl"
    series = "series"
    all = "all"


def package(
    part: Annotated[Part, typer.Argument(help="What to package.")] = Part.all,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="POLICY", help="Only these policies, by name or directory."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Where the packages go.")] = Path("packages"),
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", help="Parallel jobs; default: CPUs.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the files as a list.")] = False,
) -> None:
    """Make Debian packages; docs/how-to/install.md shows how they are used.

    kernel: linux-image and linux-headers of the base kernel. For virtual
    machines only: it has no drivers for disks, and boots from a directory that
    the host shares. A configuration for a real machine is not made here.

    policy: its source, which DKMS builds on the target for each kernel that
    has SaaKM.

    saakmctl (or ctl, for short): the program, with manual pages, completions,
    and the unit that follows /etc/saakm.toml.

    series: no package, and not among "all": the kernel part as mails, whose
    sender is the user.name and user.email of git. To apply them in a Linux
    tree: git am --signoff --empty=drop DIR/*.patch (the cover letter is empty).
    """
    sources = _chosen(part, names or [])
    made: list[Path] = []
    if part in (Part.kernel, Part.all):
        made += package_kernel(build_kernel("base", jobs=jobs), out, jobs)
    if part in (Part.saakmctl, Part.ctl, Part.all):
        made.append(package_ctl(out))
    if part is Part.series:
        prepare(out)
        made += write_series(paths.LINUX, default_tree()[1], out)
    made += [package_policy(source, out) for source in sources]
    if as_json:
        print(json.dumps([str(path) for path in made], indent=2))
        return
    what, following = "package", "copy them to the target; there, as root: apt install ./*.deb"
    if part is Part.series:
        what, following = "mail", f"git am --signoff --empty=drop {made[0].parent}/*.patch"
    for path in made:
        print(f"{what}  {path}")
    print(f"Next: {following}")


def _chosen(part: Part, words: list[str]) -> list[Path]:
    if part not in (Part.policy, Part.all):
        if words:
            raise SaakmError(
                f"'{part}' takes no policies",
                "it is one package",
                f"saakm package policy {words[0]}",
            )
        return []
    chosen = [source for word in words if (source := find_policy(word))]
    if words and not chosen:
        raise SaakmError(
            f"'{words[0]}' is no policy", "it means the kernel's own scheduler", "name a policy"
        )
    return chosen or [path for name in policies() if (path := find_policy(name))] + own_policies()
