# SPDX-License-Identifier: GPL-2.0
"""Runs workloads in a guest."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ...base.procfs import parse_ejected
from ...base.sizes import megabytes
from ...builder.about import about
from ...builder.ctl import build_saakmctl
from ...builder.kernel import Kernel, build_kernel
from ...builder.modules import build_modules
from ...builder.parameters import check_values
from ...builder.policies import find_policy
from ...model.results import Linux, Shape
from ...model.workload import Variant, Workload
from ...vm import features
from ...vm.command import package_in_guest
from ...vm.exchange import new_exchange
from ...vm.guest import Guest, Result
from ...vm.options import VmOptions
from ..cost.target import find_target
from .schedulers import Scheduler, hash_of
from .script import TRACE

_DISK = "8G"  # of which the host's file takes what was written
_EJECTED = "cat /proc/saakm/ejected 2>/dev/null"


class InGuest:
    """boot() starts a fresh one, also after a guest that died."""

    saakmctl = "saakmctl"
    trace_there = f"/run/saakm/{TRACE}"

    def __init__(self, vm: VmOptions, policies: Mapping[str, Path | None], patches_code: bool):
        """`patches_code`: sched_ext will come and go while the CPUs are busy."""
        vm.check()
        self.built = _build(vm)
        found = about(self.built.vmlinux)
        self.linux = Linux(
            release=found.release, preemption=found.preemption, patched=found.has_class
        )
        self.kernel = hash_of(self.built.vmlinux)
        self._vm, self._patches_code = vm, patches_code
        # Whoever edits a policy meanwhile must not change what is measured. Not in /tmp,
        # which the guest has of its own.
        copies = new_exchange()
        sources = [path or find_policy(name) for name, path in policies.items()]
        paths = [path for path in sources if path]
        built = build_modules(self.built, sources=paths) if paths else []
        self._modules = {file.stem: Path(shutil.copy(file, copies)) for file in built}
        self._loaded: dict[str, tuple[str, ...]] = {}  # with which parameters
        self._memory, self._disk = vm.memory, ""
        self._guest: Guest | None = None

    def need(self, *workloads: Workload) -> None:
        """Sets memory and disk of the next boot; the memory that the user asked for goes first."""
        largest = max((one.memory for one in workloads if one.memory), key=megabytes, default=None)
        self._memory = self._vm.memory or largest
        self._disk = _DISK if any(one.has_disk for one in workloads) else ""

    def check(self, variant: Variant) -> None:
        """The guest itself says what it lacks: see script.py."""

    @property
    def machine(self) -> Shape:
        guest = self._new()
        shape = guest.machine
        return Shape(
            on="guest",
            cpus=shape.topology.cpus,
            accel=shape.accel,
            topology=self._vm.shape,
            memory=shape.memory,
            deterministic=shape.deterministic,
            append=shape.append,
            features=self._vm.set_features or None,
        )

    @property
    def instructions(self) -> int:
        return self._running.instructions

    @property
    def running(self) -> bool:
        return self._guest is not None and self._guest.alive

    def boot(self) -> None:
        self.close()
        self._guest = self._new().start()
        features.set_in(self._guest, self._vm.set_features)
        for name, module in self._modules.items():
            self._guest.load(module)
            self._loaded[name] = ()

    def close(self) -> None:
        if self._guest:
            self._guest.close()
        self._guest, self._loaded = None, {}

    def check_settings(self, found: Iterable[Scheduler]) -> None:
        """Before anything runs: what a policy or the kernel does not know is refused. The kernel
        itself ignores a parameter that there is not."""
        wanted: list[str] = []
        for scheduler in found:
            if scheduler.parameters:
                check_values(list(scheduler.parameters), self._modules[scheduler.policy])
            wanted += scheduler.features
        if wanted:
            self.boot()
            features.refuse_unknown(wanted, features.there(self))

    def use(self, scheduler: Scheduler) -> None:
        """Loads its policy anew, if it was loaded with other parameters."""
        name = scheduler.policy
        if name and self._loaded.get(name) != scheduler.parameters:
            if name in self._loaded:  # not if its parameters were refused the last time
                self._running.unload(name)
                del self._loaded[name]
            self._running.load(self._modules[name], *scheduler.parameters)
            self._loaded[name] = scheduler.parameters

    def run(self, script: str, timeout: float) -> Result:
        return self._running.run(script, timeout)

    @property
    def python_path(self) -> str:
        return str(package_in_guest(self._running.exchange).parent)

    @property
    def trace_here(self) -> Path:
        return self._running.exchange / TRACE

    def ejected(self) -> list[dict[str, str]]:
        return parse_ejected(self._running.run(_EJECTED).stdout)

    def said(self) -> str:
        """What the kernel has said so far."""
        return self._guest.console() if self._guest else ""

    @property
    def _running(self) -> Guest:
        assert self._guest, "boot() comes first"
        return self._guest

    def _new(self) -> Guest:
        vm = replace(self._vm, memory=self._memory)
        machine = vm.machine(self.built.vmlinux, self._patches_code)
        return Guest(self.built, replace(machine, disk=self._disk))


def _build(vm: VmOptions) -> Kernel:
    # As for saakm cost, SAAKM_TEST_KERNEL names a build directory to take instead.
    given = os.environ.get("SAAKM_TEST_KERNEL") or vm.config == "base"
    built = find_target(vm.kernel).built if given else build_kernel(vm.config)
    if not about(built.vmlinux).has_class:
        return built
    build_modules(built)
    build_saakmctl()
    return built
