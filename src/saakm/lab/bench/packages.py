# SPDX-License-Identifier: GPL-2.0
"""The Debian packages of workloads: installed when they are wanted, not before."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

from ...base import apt, paths
from ...base.errors import SaakmError
from ...base.locks import locked
from ...base.process import run_logged
from ...base.progress import meter


def missing(packages: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(packages))
    if not wanted or not shutil.which("dpkg-query"):
        return []
    query = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", "--", *wanted]
    done = subprocess.run(query, capture_output=True, text=True)
    there = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in wanted if name not in there]


def ensure(packages: Iterable[str]) -> None:
    """Installs what is missing if we are root, and says so; else says how."""
    packages = list(packages)
    names = missing(packages)
    if not names:
        return
    if os.geteuid() != 0:
        raise SaakmError(
            f"packages are missing: {', '.join(names)}",
            "installing them needs root",
            f"sudo apt-get install {' '.join(names)}",
        )
    print(f"saakm: missing packages: {' '.join(names)}", file=sys.stderr)
    # apt-get fails if another one is at work; that one may install the same ones.
    with locked(paths.LOGS / "apt.lock"):
        if names := missing(packages):
            _install(names)


def _install(names: list[str]) -> None:
    # As if in single-user mode, where Debian starts no servers: nobody asked for them here.
    environment = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    log = paths.LOGS / "apt.log"
    with meter("looking for packages"):
        run_logged(["apt-get", "update", "-q"], log, "apt-get update", environment)
    with meter("installing packages (%)", total_comes=True) as progress:
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", apt.OPTION]
        run_logged(
            [*install, "--", *names],
            log,
            "installing packages",
            environment,
            on_line=apt.follow(progress, installs=True),
            append=True,
            leave_out=apt.STATUS,
        )
