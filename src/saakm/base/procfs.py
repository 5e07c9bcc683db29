# SPDX-License-Identifier: GPL-2.0
"""Reads the tables in /proc/saakm: a header line, then a row a thing; and a count of a dump."""

import re


def parse_table(text: str) -> list[dict[str, int | str]]:
    """Rows as dictionaries by the header's names; whole numbers become int.

    Columns that a later kernel adds come through by themselves.
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    header, *rows = lines
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"row {row} does not fit the header {header}")
    return [dict(zip(header, map(_number, row))) for row in rows]


def parse_ejected(text: str) -> list[dict[str, str]]:
    """Rows of /proc/saakm/ejected, whose last column, the reason, is a sentence."""
    header, *rows = [line for line in text.splitlines() if line.strip()] or [""]
    names = header.split()
    return [dict(zip(names, row.split(maxsplit=len(names) - 1))) for row in rows]


def unanswered(dump: str) -> int:
    """How often a CPU ran a thread since the agent of the policy `user` had not answered."""
    return sum(map(int, re.findall(r"; no answer (\d+)", dump)))


def went_to_fair(end: dict[str, str]) -> bool:
    """Else a successor has taken the policy's threads over."""
    return end["kind"] != "replaced"


def tell_end(end: dict[str, str]) -> str:
    """A row of /proc/saakm/ejected as a sentence."""
    how = f"ejected ({end['kind']}) in {end['handler']}:" if went_to_fair(end) else "replaced"
    return f"policy '{end['name']}' was {how} {end['reason']}"


def _number(word: str) -> int | str:
    return int(word) if word.isdecimal() else word
