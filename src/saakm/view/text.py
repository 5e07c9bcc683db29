# SPDX-License-Identifier: GPL-2.0
"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """Returns "1 switch", "1,234 switches"."""
    many = "es" if noun.endswith(("s", "ch", "sh", "x")) else "s"
    return f"{number:,} {noun}{many if number != 1 else ''}"
