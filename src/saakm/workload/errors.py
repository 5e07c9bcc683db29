# SPDX-License-Identifier: GPL-2.0
"""A workload that cannot be used, and where it says so."""

from dataclasses import dataclass

from ..base.errors import SaakmError


class BadWorkload(SaakmError):
    """Bad input: nothing has been run, and nothing is lost."""

    status = 2


@dataclass(frozen=True)
class Place:
    """A line of a file; line 0: the file as a whole, or what has no lines."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


def refusal(place: Place, what: str, why: str, next_step: str) -> BadWorkload:
    return BadWorkload(f"{place}: {what}", why, next_step)


def quoted(word: str) -> str:
    """As it may stand in a message: printable, and not a page long."""
    shown = "".join(one if one.isprintable() else "?" for one in word[:41])
    return f"'{shown[:40]}...'" if len(word) > 40 else f"'{shown}'"
