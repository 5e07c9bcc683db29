# SPDX-License-Identifier: GPL-2.0
"""Comma lists, as options have them."""

from ..base.errors import BadInput


def words(text: str) -> tuple[str, ...]:
    """Each once, in the order given; none if the option was not given."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if text and not found:
        raise BadInput(f"'{text}' names nothing", "a list has words between commas", "leave it out")
    return found
