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
    """In the unit that suits, with three digits: 1.25 ms, 12.5 ms, 125 ms."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns} ns"


def shown_count(number: int) -> str:
    """As it is up to five digits, then 123 k, 1.25 M."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= max(size, 10**5):
            return f"{_three_digits(number / size)} {unit}"
    return f"{number:,}"


def _three_digits(number: float) -> str:
    return f"{number:,.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"
