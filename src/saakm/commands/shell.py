# SPDX-License-Identifier: GPL-2.0
"""saakm shell: look around in a guest."""

import shlex
import sys
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..builder.names import NO_POLICY
from ..builder.ready import build_all
from ..vm import features
from ..vm.guest import Guest
from ..vm.options import VmOptions, with_vm_options
from . import under


@with_vm_options("timeout")
def shell(
    vm: VmOptions,
    policy: Annotated[str, typer.Argument(help=f"What to have at hand: {under.HELP[2:]}")] = "none",
) -> None:
    """An interactive shell in a guest, with a policy loaded (but not in use)."""
    chosen = under.chosen(policy, vm.kernel)
    if not sys.stdin.isatty():
        raise SaakmError(
            "there is no terminal", "saakm shell is interactive", "saakm run POLICY -- COMMAND"
        )
    vm.check()
    ready = build_all(vm.config, chosen.policy, vm.kernel)
    start = [features.commands(vm.set_features)] if vm.set_features else []
    if ready.module:
        start.append(f"insmod {shlex.quote(str(ready.module))} && cat /proc/saakm/policies")
        if chosen.agent:
            agent = shlex.join(chosen.agent.command())
            start.append(f"echo Its agent, to be started first: {shlex.quote(agent)} '&'")
    elif chosen.word not in NO_POLICY:
        start.append(f"echo 'Under {chosen.name}: {chosen.shell(['COMMAND'])}'")
    Guest(ready.kernel, vm.machine(ready.kernel.vmlinux)).interact("\n".join(start))
