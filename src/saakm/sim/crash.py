# SPDX-License-Identifier: GPL-2.0
"""A simulator that did not come to its end: where it was, in whose code, and how to look into it."""

import re
import shlex
import signal
from collections.abc import Sequence

from ..base.errors import SaakmError

_LINES = 60  # of what it said
# As sim/ says who ran: "handler 'block' of policy 'rr'".
_WHO = re.compile(r"handler '?(?P<handler>\w+)'? of (?:policy )?'?(?P<policy>[\w-]+)'?")
_SANITIZER = re.compile(r"(?:ERROR: AddressSanitizer: |runtime error: )(?P<what>[^\n]*)")
_AT = re.compile(r"^\s*#\d+ \S+ in (?P<function>\S+) (?P<place>/\S+:\d+)", re.M)


class Crashed(SaakmError):
    """`status`: as subprocess has it; the exit status of saakm is 1, whatever it was."""

    def __init__(
        self,
        status: int,
        log: str,
        command: Sequence[str],
        by_sanitizer: bool = False,
        unread: str = "",
    ):
        self.log, self.command = log, tuple(command)
        seed = next((word.partition("=")[2] for word in command if word.startswith("seed=")), "?")
        super().__init__(
            f"the simulation {_how(status, by_sanitizer, unread)}{_who(log)}",
            f"{_reason(log, unread)}seed {seed}; what it said last:\n{_tail(log)}",
            f"the same again, in a debugger: gdb --args {shlex.join(command)}",
        )


def _how(status: int, by_sanitizer: bool, unread: str) -> str:
    if by_sanitizer:
        return "was ended by a sanitizer"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return "printed no result" if unread else f"ended with status {status}"


def _who(log: str) -> str:
    matches = list(_WHO.finditer(log))
    if not matches:
        return ""
    return f" in handler '{matches[-1]['handler']}' of policy '{matches[-1]['policy']}'"


def _reason(log: str, unread: str) -> str:
    if match := _SANITIZER.search(log):
        at = _AT.search(log, match.end())
        where = f" in {at['function']}(), {at['place']}" if at else ""
        return f"{match['what']}{where}; "
    return f"{unread}; " if unread else ""


def _tail(log: str) -> str:
    # What the shadow memory looks like says nothing to whoever wrote a policy.
    lines = log.partition("\nShadow bytes")[0].rstrip().splitlines()
    return "\n".join(f"  | {line}" for line in lines[-_LINES:]) or "  | (nothing)"
