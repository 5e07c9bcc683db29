# SPDX-License-Identifier: GPL-2.0
"""Runs workloads in a guest."""

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ...base.procfs import parse_ejected
from ...builder.ctl import build_saakmctl
from ...builder.kernel import Kernel, build_kernel
from ...builder.modules import build_modules
from ...builder.policies import find_policy
from ...model.results import Shape
from ...vm.command import package_in_guest
from ...vm.exchange import new_exchange
from ...vm.guest import Guest, Result
from ...vm.options import VmOptions
from ..cost.target import find_target
from .schedulers import hash_of
from .script import TRACE

_EJECTED = "cat /proc/saakm/ejected 2>/dev/null"


class InGuest:
    """boot() starts a fresh one, also after a guest that died."""

    saakmctl = "saakmctl"
    trace_there = f"/run/saakm/{TRACE}"

    def __init__(self, vm: VmOptions, policies: Mapping[str, Path | None], patches_code: bool):
        """`patches_code`: sched_ext will come and go while the CPUs are busy."""
        vm.check()
        self.built = _build(vm.config)
        self.kernel = hash_of(self.built.vmlinux)
        self._vm, self._patches_code = vm, patches_code
        # Whoever edits a policy meanwhile must not change what is measured. Not in /tmp,
        # which the guest has of its own.
        copies = new_exchange()
        sources = [path or find_policy(name) for name, path in policies.items()]
        built = build_modules(self.built, sources=[path for path in sources if path])
        self._modules = [str(shutil.copy(module, copies)) for module in built]
        self._memory = vm.memory
        self._guest: Guest | None = None

    def need(self, memory: str) -> None:
        """Sets the memory of the next boot; what the user asked for goes first."""
        self._memory = self._vm.memory or memory or None

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
        for module in self._modules:
            self._guest.run(f"insmod {shlex.quote(module)}").check()

    def close(self) -> None:
        if self._guest:
            self._guest.close()
        self._guest = None

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
        return Guest(self.built, vm.machine(self.built.vmlinux, self._patches_code))


def _build(config: str) -> Kernel:
    # As for saakm cost, SAAKM_TEST_KERNEL names a build directory to take instead.
    given = os.environ.get("SAAKM_TEST_KERNEL") or config == "base"
    built = find_target().built if given else build_kernel(config)
    build_modules(built)
    build_saakmctl()
    return built
