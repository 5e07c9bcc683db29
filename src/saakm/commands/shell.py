# SPDX-License-Identifier: GPL-2.0
"""saakm shell: look around in a guest."""

import shlex
import sys
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..builder.ready import build_all
from ..vm.guest import Guest
from ..vm.options import VmOptions, with_machine_options
from .run import check_policy


@with_machine_options
def shell(
    vm: VmOptions,
    policy: Annotated[
        str, typer.Argument(help="The policy to load, by name or directory; none for none.")
    ] = "none",
) -> None:
    """An interactive shell in a guest, with a policy loaded (but not in use)."""
    source = check_policy(policy)
    if not sys.stdin.isatty():
        raise SaakmError(
            "there is no terminal", "saakm shell is interactive", "saakm run POLICY -- COMMAND"
        )
    vm.check()
    ready = build_all(vm.config, source)
    start = ""
    if ready.module:
        start = f"insmod {shlex.quote(str(ready.module))} && cat /proc/saakm/policies"
    Guest(ready.kernel, vm.machine(ready.kernel.vmlinux)).interact(start)
