# SPDX-License-Identifier: GPL-2.0
"""Runs workloads on this machine, which has booted a SaaKM kernel."""

import os
import platform
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from ...base import paths
from ...base.errors import BadInput, SaakmError
from ...base.procfs import parse_ejected, parse_table
from ...builder.ctl import saakmctl_file
from ...model.results import Linux, Shape
from ...model.workload import Variant, Workload
from ...vm import features
from ...vm.guest import Result
from .schedulers import Scheduler
from .script import CGROUP, TRACE, WORK

_PROC = Path("/proc/saakm")
_PARAMETERS = "/sys/module/{}/parameters"
_KILL_SECONDS = 10.0


class OnHost:
    """boot() only sees to it that the policies are loaded: a machine in use is not rebooted."""

    trace_there = f"{WORK}/{TRACE}"
    trace_here = Path(trace_there)
    instructions = 0  # nobody counts them here
    python_path = str(paths.PACKAGE.parent)

    def __init__(self, policies: Iterable[str]):
        self._policies = list(policies)
        # By us, with which parameters; None: it refused the last ones, and is not loaded.
        self._loaded: dict[str, tuple[str, ...] | None] = {}
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
        self.linux = Linux(
            release=platform.release(), preemption=_preemption(), patched=_PROC.exists()
        )
        self._said_before = len(_kernel_log())

    def need(self, workload: Workload) -> None:
        """The machine has what it has."""

    def check(self, variant: Variant) -> None:
        if variant.filesystem:
            raise SaakmError(
                f"{variant.workload} {variant.name} is for a guest",
                f"it makes a file system, {variant.filesystem}, on a disk of its own",
                "leave out --on host",
            )

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
            self._load(name, ())
        self._ready = True

    def close(self) -> None:
        for name, parameters in self._loaded.items():
            if parameters is not None:
                self._saakmctl("unload", name)
        self._loaded, self._ready = {}, False
        shutil.rmtree(WORK, ignore_errors=True)
        if CGROUP.exists():
            CGROUP.rmdir()

    def check_settings(self, found: Iterable[Scheduler]) -> None:
        wanted = [name for scheduler in found for name in scheduler.features]
        if wanted:
            features.refuse_unknown(wanted, features.there(self))

    def use(self, scheduler: Scheduler) -> None:
        """Loads its policy anew, if it was loaded with other parameters."""
        name, wanted = scheduler.policy, scheduler.parameters
        if not name or self._loaded.get(name, ()) == wanted:
            return
        if name not in self._loaded:
            raise SaakmError(
                f"the policy '{name}' cannot be loaded with {' '.join(wanted)}",
                "it is loaded already, and not by this command",
                f"saakmctl unload {name}, if nobody needs it",
            )
        if self._loaded[name] is not None:
            self._saakmctl("unload", name)
        self._loaded[name] = None
        self._load(name, wanted)

    def _load(self, name: str, wanted: tuple[str, ...]) -> None:
        self._saakmctl("load", name, *wanted)
        self._loaded[name] = wanted
        # The kernel ignores a parameter that there is not.
        there = _PARAMETERS.format(name)
        names = [one.partition("=")[0].replace("-", "_") for one in wanted]
        if unknown := [one for one in names if not Path(there, one).exists()]:
            known = sorted(os.listdir(there)) if os.path.isdir(there) else []
            raise BadInput(
                f"the policy '{name}' has no parameter '{unknown[0]}'",
                f"it has {', '.join(known) or 'none'}",
                "mend it, or leave it out",
            )

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

    def _saakmctl(self, verb: str, name: str, *words: str) -> None:
        command = [self.saakmctl, verb, name, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SaakmError(
                f"cannot {verb} the policy '{name}'",
                done.stderr.strip(),
                f"try it by hand: {shlex.join(command)}",
            )


def _preemption() -> str:
    """As far as uname says it: it has the same word for PREEMPT and PREEMPT_LAZY."""
    words = [word for word in platform.version().split() if word.startswith("PREEMPT")]
    return words[0] if words else "unknown"


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
