# SPDX-License-Identifier: GPL-2.0
"""What the simulated kernel said, where all of it would be too much: a policy may print for hours."""

import re

_FIRST, _LAST = 200, 50
_FAULTS = 20
_FAULT = re.compile(r"^.* is at fault\b.*$", re.M)


def is_long(log: str) -> bool:
    return log.count("\n") > _FIRST + _LAST


def shortened(log: str, where: str = "") -> str:
    """The first and the last lines, and what the class says in between of a policy at fault."""
    if not is_long(log):
        return log
    begin, end = _after_line(log, _FIRST), _before_line(log, _LAST)
    middle = log[begin:end]
    left_out = f"saakm: {middle.count(chr(10)):,} lines are left out here"
    faults = [match[0] for _, match in zip(range(_FAULTS), _FAULT.finditer(middle))]
    lines = [left_out + (f"; the whole is in {where}" if where else ""), *faults]
    return log[:begin] + "\n".join(lines) + "\n" + log[end:]


def _after_line(log: str, number: int) -> int:
    """Without a list of all lines: there may be millions."""
    at = 0
    for _ in range(number):
        at = log.index("\n", at) + 1
    return at


def _before_line(log: str, number: int) -> int:
    """A line that does not end is none."""
    at = log.rindex("\n")
    for _ in range(number):
        at = log.rindex("\n", 0, at)
    return at + 1
