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
    r"\bBUG: (?!KCSAN)",  # KASAN, soft lockup, scheduling while atomic, sleeping function, page fault
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
    # The kernel has data races of its own, many of them meant: ours, or a module's.
    r"BUG: KCSAN: .*(saakm|\[\w+\])",
]
_SPLAT = re.compile("|".join(f"(?:{p})" for p in _PATTERNS))
_STAMP = re.compile(r"^\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?\s?")
_END = re.compile(r"---\[ end |-\[ cut here ")

# Register dumps: of use in the whole log, noise in an error message.
_REGISTERS = re.compile(r"^(Code|R(?!IP)[A-Z0-9]{2}|FS|CS|CR2|PKRU|DR0|DR3|RSP): ")
_CPU_REPORT = re.compile(r"NMI backtrace for cpu ")

MAX_LINES = 60
_LONGEST = 120  # lines from a complaint to the panic that follows; with KASAN they are many


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


def last_words(console: str, lines: int = 40) -> str:
    """What the kernel said when it died: from the complaint that led to its panic on.

    The stacks of idle CPUs that follow a panic say nothing and are left out.
    """
    text = [_STAMP.sub("", line) for line in console.splitlines()]
    panics = [i for i, line in enumerate(text) if "Kernel panic - not syncing" in line]
    if not panics:
        return "\n".join(text[-lines:])
    cause = next(
        i for i in range(max(0, panics[-1] - _LONGEST), panics[-1] + 1) if _SPLAT.search(text[i])
    )
    end = next((i for i in range(panics[-1], len(text)) if _CPU_REPORT.search(text[i])), len(text))
    told = [line for line in text[cause:end] if not _REGISTERS.match(line)][:lines]
    for report in _cpu_reports(text[end:]):
        if not any("default_idle" in line for line in report):
            told += [line for line in report if not _REGISTERS.match(line)]
    return "\n".join(told[: 2 * lines])


def _cpu_reports(text: list[str]) -> list[list[str]]:
    starts = [i for i, line in enumerate(text) if _CPU_REPORT.search(line)]
    return [text[begin:end] for begin, end in zip(starts, [*starts[1:], len(text)])]
