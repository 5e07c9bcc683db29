# SPDX-License-Identifier: GPL-2.0
"""Simulated time as people write it, 10s or 500ms, and as the program takes it: nanoseconds."""

import re
from decimal import Decimal

from ..base.errors import SaakmError

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST_NS = 10**18  # 31 years, far below 2^63


def nanoseconds(text: str, option: str) -> int:
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|ms|s|m|h)", text.strip())
    found = int(Decimal(match[1]) * _UNITS[match[2]]) if match else 0
    if not 0 < found <= _LONGEST_NS:
        raise SaakmError(
            f"'{text}' is not a span of simulated time",
            f"it is a number above 0 and one of {', '.join(_UNITS)}, and at most 31 years",
            f"for example {option} 10s, or {option} 500ms",
        )
    return found


def shown(ns: int) -> str:
    """In the unit that suits, with three or four digits: 1.25 ms."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{ns / size:,.{2 if ns < 100 * size else 0}f} {unit}"
    return f"{ns} ns"
