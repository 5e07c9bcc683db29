# SPDX-License-Identifier: GPL-2.0
"""Where figures come from: what a reader needs to judge and to repeat them."""

import os
import platform
import shlex
import sys
import time

from ...base import git
from ...model.results import EnvironmentRecord, Host, Linux, Shape
from ...vm.qemu import qemu_version


def describe(
    kernel: str, machine: Shape, schedulers: list[str], seed: int, config: str, linux: Linux
) -> EnvironmentRecord:
    return EnvironmentRecord(
        when=time.strftime("%Y-%m-%dT%H:%M:%S"),
        command=shlex.join(["saakm", *sys.argv[1:]]),
        kernel=kernel,
        config=config,
        linux=linux,
        commit=commit(),
        machine=machine,
        schedulers=tuple(schedulers),
        seed=seed,
        qemu=qemu_version() if machine.on == "guest" else None,
        host=Host(
            kernel=platform.release(),
            cpus=os.cpu_count(),
            cpu=_cpu(),
            load=round(os.getloadavg()[0], 2),
        ),
    )


def commit() -> str:
    """Returns the checkout's commit, with a plus if files differ from it; empty without git."""
    dirty = git.say("status", "--porcelain", "-uno").strip()
    return git.say("rev-parse", "--short=12", "HEAD").strip() + ("+" if dirty else "")


def _cpu() -> str:
    with open("/proc/cpuinfo") as file:
        names = (line.partition(":")[2].strip() for line in file if line.startswith("model name"))
        return next(names, "unknown")
