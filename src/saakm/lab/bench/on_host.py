# SPDX-License-Identifier: GPL-2.0
"""Runs workloads on this machine, which has booted a SaaKM kernel."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from ...base import paths
from ...base.errors import SaakmError
from ...base.procfs import parse_ejected, parse_table
from ...builder.ctl import saakmctl_file
from ...model.results import Shape
from ...vm.guest import Result
from .script import CGROUP, TRACE, WORK

_PROC = Path("/proc/saakm")
_KILL_SECONDS = 10.0


class OnHost:
    """boot() only sees to it that the policies are loaded: a machine in use is not rebooted."""

    trace_there = f"{WORK}/{TRACE}"
    trace_here = Path(trace_there)
    instructions = 0  # nobody counts them here
    python_path = str(paths.PACKAGE.parent)

    def __init__(self, policies: Iterable[str]):
        self._policies = list(policies)
        self._loaded: list[str] = []
        self._ready = False
        if os.geteuid() != 0:
            raise SaakmError(
                "cannot run workloads on this machine",
                "policies are for root, and so are control groups and tracing",
                "run it as root, or without --on host",
            )
        if not (CGROUP.parent / "cgroup.controllers").exists():
            raise SaakmError(
                "cannot run workloads on this machine",
                f"{CGROUP.parent} is not cgroup v2, which keeps a run's processes together",
                "boot with systemd.unified_cgroup_hierarchy=1, or mount cgroup2 there",
            )
        if self._policies and not _PROC.exists():
            raise SaakmError(
                "this machine has no SaaKM",
                f"its kernel {platform.release()} has no {_PROC}",
                "boot the kernel of saakm build, or leave out --on host",
            )
        self.saakmctl = _find_saakmctl() if self._policies else ""
        self.kernel = f"{platform.release()} {platform.version()}"
        self._said_before = len(_kernel_log())

    def need(self, memory: str) -> None:
        """The machine has what it has."""

    @property
    def machine(self) -> Shape:
        return Shape(on="host", cpus=os.cpu_count(), name=platform.node())

    @property
    def running(self) -> bool:
        return self._ready

    def boot(self) -> None:
        file = _PROC / "policies"
        there = parse_table(file.read_text()) if file.exists() else []
        alive = {row["name"] for row in there} - {row["name"] for row in self.ejected()}
        for name in self._policies:
            if name in alive:
                continue
            if name in {row["name"] for row in there}:
                self._saakmctl("unload", name)
            self._saakmctl("load", name)
            self._loaded.append(name)
        self._ready = True

    def close(self) -> None:
        for name in self._loaded:
            self._saakmctl("unload", name)
        self._loaded, self._ready = [], False
        shutil.rmtree(WORK, ignore_errors=True)
        if CGROUP.exists():
            CGROUP.rmdir()

    def run(self, script: str, timeout: float) -> Result:
        begin = time.monotonic()
        child = subprocess.Popen(
            ["sh", "-c", script],
            stdin=subprocess.DEVNULL,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # timeout(1) in the script has tried already.
            child.kill()
            out, err = child.communicate(timeout=_KILL_SECONDS)
        return Result(child.returncode, out, err, time.monotonic() - begin)

    def ejected(self) -> list[dict[str, str]]:
        file = _PROC / "ejected"
        return parse_ejected(file.read_text()) if file.exists() else []

    def said(self) -> str:
        """What the kernel has said since we came."""
        return _kernel_log()[self._said_before :]

    def _saakmctl(self, verb: str, name: str) -> None:
        done = subprocess.run([self.saakmctl, verb, name], capture_output=True, text=True)
        if done.returncode:
            raise SaakmError(
                f"cannot {verb} the policy '{name}'",
                done.stderr.strip(),
                f"try it by hand: {self.saakmctl} {verb} {name}",
            )


def _kernel_log() -> str:
    return subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace").stdout


def _find_saakmctl() -> str:
    if found := shutil.which("saakmctl"):
        return found
    built = saakmctl_file()
    if not built.exists():
        raise SaakmError(
            "there is no saakmctl on this machine",
            f"neither on PATH nor as {built}",
            "saakm build, or build crates/ and put saakmctl on PATH",
        )
    return str(built)
