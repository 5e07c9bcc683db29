# SPDX-License-Identifier: GPL-2.0
"""saakm gdb: a debugger on a running guest."""

import sys
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..gdb.session import debug
from ..vm.running import choose_guest, running_guests


def gdb(
    pid: Annotated[
        int | None, typer.Argument(help="The saakm command whose guest it is, if several run.")
    ] = None,
    commands: Annotated[
        list[str] | None, typer.Option("-ex", help="A command of gdb's; may be repeated.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Only these commands, then go on.")
    ] = False,
    wait: Annotated[
        float, typer.Option("--wait", help="Seconds to wait until there is a guest.")
    ] = 0.0,
    as_list: Annotated[bool, typer.Option("--list", help="Show the running guests.")] = False,
) -> None:
    """Stop a running guest in gdb, with the symbols of its kernel and modules.

    Any guest can be debugged: of saakm run, shell, dev, trace, test, check --gdb. It stands still meanwhile, and
    goes on when gdb ends. Beside gdb's own commands and the kernel's (lx-ps, lx-dmesg, ...):

    saakm-rqs shows what each CPU runs and which threads wait in which queue, saakm-task PID a thread,
    saakm-policies the policies; saakm-failures stops where something goes wrong. Breakpoints may name
    functions of modules that are not loaded yet.
    """
    if as_list:
        guests = running_guests()
        for found in guests:
            print(found)
        if not guests:
            print("saakm: no guest runs", file=sys.stderr)
        return
    guest = choose_guest(pid, wait)
    if not batch and not sys.stdin.isatty():
        raise SaakmError(
            "there is no terminal", "gdb is interactive", "saakm gdb --batch -ex COMMAND"
        )
    print(f"saakm: gdb on guest {guest}", file=sys.stderr)
    raise typer.Exit(debug(guest, commands or [], batch))
