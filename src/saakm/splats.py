# SPDX-License-Identifier: GPL-2.0
"""Finds the kernel's complaints in its console."""

import re

# One pattern a kind of complaint, matched within a line.
_PATTERNS = [
    r"WARNING: CPU: ",
    r"WARNING: possible ",  # lockdep: circular locking, recursive locking, irq inversion
    r"WARNING: suspicious RCU usage",
    r"WARNING: inconsistent lock state",
    r"WARNING: bad unlock balance",
    r"WARNING: lock held when returning",
    r"WARNING: .* still has locks held",
    r"possible circular locking",
    r"INFO: possible recursive",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"\bBUG: ",  # KASAN, soft lockup, scheduling while atomic, sleeping function, page fault
    r"kernel BUG at",
    r"\bOops: ",
    r"general protection fault",
    r"double fault: ",
    r"scheduling while atomic",
    r"soft lockup",
    r"INFO: rcu_\w+ (self-)?detected",
    r"INFO: task .* blocked for more than",
    r"UBSAN: ",
    r"ODEBUG: ",
    r"DEBUG_LOCKS_WARN_ON",
    r"list_(add|del) corruption",
    r"refcount_t: ",
    r"Kernel panic - not syncing",
    r"unable to handle kernel",
    r"KCSAN: ",
]
_SPLAT = re.compile("|".join(f"(?:{p})" for p in _PATTERNS))
_STAMP = re.compile(r"^\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?\s?")
_END = re.compile(r"---\[ end |-\[ cut here ")

MAX_LINES = 60


def find_splats(console: str) -> list[str]:
    """Each complaint with the lines that follow it, oldest first."""
    splats: list[list[str]] = []
    left = 0
    for raw in console.splitlines():
        line = _STAMP.sub("", raw)
        if _SPLAT.search(line):
            splats.append([line])
            left = MAX_LINES
        elif _END.search(line):
            left = 0
        elif left:
            splats[-1].append(line)
            left -= 1
    return ["\n".join(lines) for lines in splats]
