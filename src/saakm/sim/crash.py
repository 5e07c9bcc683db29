# SPDX-License-Identifier: GPL-2.0
"""A simulator that did not come to its end: where it was, in whose code, and how to look into it."""

import re
import shlex
import signal
from collections.abc import Sequence

from ..base.errors import SaakmError

_LINES = 60  # of what it said
_SEARCHED = 1 << 20  # characters of that: who ran is said last
# As sim/ says who ran: "handler 'block' of policy 'rr'", or "of policy (none)".
_WHO = re.compile(r"handler '?(?P<handler>\w+)'? of (?:policy )?+'?(?P<policy>[\w-]+|\(none\))'?")
_SANITIZER = re.compile(r"(?:ERROR: AddressSanitizer: |runtime error: )(?P<what>[^\n]*)")
_HINTS = {
    signal.SIGABRT: "something called abort(): perhaps libc, which found its memory damaged",
    signal.SIGKILL: "somebody killed it, or Linux did, which had no memory left",
}
# By somebody else: nothing that a policy does sends it.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXFSZ)
# Of the simulator: all faults; of the class: an ejection.
_STOPS = ("sim_misbehaved", "saakm_veject")
_REFUSES = "saakm_refuse"  # of the class, which then registers no policy
_AT = re.compile(r"^\s*#\d+ \S+ in (?P<function>\S+) (?P<place>/\S+:\d+)", re.M)


class Failed(SaakmError):
    """There is no result, and that is a fault of the class or a policy, if `status` is 1."""

    def __init__(self, what: str, why: str, next_step: str, log: str, command: Sequence[str]):
        super().__init__(what, why, next_step)
        self.log, self.command = log, tuple(command)


class NotLoaded(Failed):
    """The simulator then refuses a workload that is for that policy."""

    def __init__(self, module: str, error: str, log: str, command: Sequence[str]):
        super().__init__(
            f"module '{module}' could not be loaded: {error}",
            f"its init function failed; {_said(log)}",
            f"mend that function, or give it what it needs (--param); "
            f"{debugger(command, _REFUSES)}",
            log,
            command,
        )


class Crashed(Failed):
    """`status`: as subprocess has it; the exit status of saakm is 1, or 2 if it was killed."""

    def __init__(
        self,
        status: int,
        log: str,
        command: Sequence[str],
        by_sanitizer: bool = False,
        unread: str = "",
    ):
        self.status = 2 if -status in _FROM_OUTSIDE else 1
        seed = next((word.partition("=")[2] for word in command if word.startswith("seed=")), "?")
        super().__init__(
            f"the simulation {_how(status, by_sanitizer, unread)}{_who(log)}",
            f"{_reason(status, log, unread)}seed {seed}; {_said(log)}",
            debugger(command),
            log,
            command,
        )


def debugger(command: Sequence[str], *more: str) -> str:
    """Stops at the first fault, in the midst of it: of a loop as well, which a timer interrupts."""
    stops = " ".join(f"-ex 'break {function}'" for function in (*_STOPS, *more))
    return (
        "the same again, in a debugger that stops there: "
        f"gdb {stops} -ex run -ex 'backtrace 30' --args {shlex.join(command)}"
    )


def _how(status: int, by_sanitizer: bool, unread: str) -> str:
    if by_sanitizer:
        return "was ended by a sanitizer"
    if status < 0:
        return f"was ended by {_name(-status)}"
    return "printed no result" if unread else f"ended with status {status}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _who(log: str) -> str:
    matches = list(_WHO.finditer(log, max(len(log) - _SEARCHED, 0)))
    if not matches:
        return ""
    handler, policy = matches[-1]["handler"], matches[-1]["policy"]
    return f" in handler '{handler}'" + (f" of policy '{policy}'" if policy != "(none)" else "")


def _reason(status: int, log: str, unread: str) -> str:
    if match := _SANITIZER.search(log):
        at = _AT.search(log, match.end())
        where = f" in {at['function']}(), {at['place']}" if at else ""
        return f"{match['what']}{where}; "
    hint = unread or next((text for number, text in _HINTS.items() if number == -status), "")
    return f"{hint}; " if hint else ""


def _said(log: str) -> str:
    # What the shadow memory looks like says nothing to whoever wrote a policy.
    lines = log.partition("\nShadow bytes")[0].rstrip().splitlines()
    if not lines:
        return "it said nothing before"
    return "\n".join(["what it said last:", *(f"  | {line}" for line in lines[-_LINES:])])
