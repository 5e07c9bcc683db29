# SPDX-License-Identifier: GPL-2.0
"""Fits what a compiler says into few columns: carets stay below what they point at."""

import re
import textwrap
from collections.abc import Sequence

# As gcc shows code: "   12 |         return x", and below it "      |                ^".
_CODE = re.compile(r"^( *\d* \| ?)(.*)$")
_MARKS = re.compile(r"[\^~]")
_TAB = 8


def fitted(lines: Sequence[str], width: int) -> list[str]:
    found: list[str] = []
    for number, line in enumerate(lines):
        match = _CODE.match(line)
        if not match:
            found += textwrap.wrap(line, width, subsequent_indent="    ") or [""]
            continue
        prefix, code = match.groups()
        start = _start(lines, number, width - len(prefix))
        found.append((prefix + code.expandtabs(_TAB)[start:])[:width].rstrip())
    return found


def _start(lines: Sequence[str], number: int, room: int) -> int:
    """The first column of the code that is shown: alike for a line and the carets around it."""
    near = [_code(line) for line in lines[max(number - 1, 0) : number + 2]]
    marks = [match.start() for code in near if (match := _MARKS.search(code)) and _is_marks(code)]
    # What is before a caret tells more than what is after it.
    return max(marks[0] - room * 2 // 3, 0) if marks and marks[0] > room * 3 // 4 else 0


def _code(line: str) -> str:
    match = _CODE.match(line)
    return match[2].expandtabs(_TAB) if match else ""


def _is_marks(code: str) -> bool:
    return not code.strip("^~| ")
