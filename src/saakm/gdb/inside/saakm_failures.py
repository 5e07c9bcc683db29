# SPDX-License-Identifier: GPL-2.0
"""saakm-failures."""

import gdb

_EXIT_1 = 1 << 8


class CheckFails(gdb.Breakpoint):
    """Where the program of saakm check gives up, before it ends."""

    def __init__(self) -> None:
        super().__init__("do_group_exit")

    def stop(self) -> bool:
        if int(gdb.parse_and_eval("exit_code")) != _EXIT_1:
            return False
        return bool(gdb.parse_and_eval("$lx_current().comm").string() == "init")


class Failures(gdb.Command):
    """Stop from now on where something has gone wrong: where the class finds a policy at fault, where
    the kernel warns or panics, and where a check of saakm check finds that something does not hold."""

    def __init__(self) -> None:
        super().__init__("saakm-failures", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument: str, from_tty: bool) -> None:
        for function in ("saakm_violation", "panic", "__warn"):
            gdb.Breakpoint(function)
        CheckFails()


Failures()
