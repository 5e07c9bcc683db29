# SPDX-License-Identifier: GPL-2.0
"""Comma lists, as options have them."""


def words(text: str) -> tuple[str, ...]:
    """Each once, in the order given."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
