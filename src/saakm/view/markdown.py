# SPDX-License-Identifier: GPL-2.0
"""Parts of a page in Markdown."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], figures: bool = False) -> str:
    """`figures`: all columns but the first hold numbers, and are aligned to the right."""
    rule = ["---", *["---:" if figures else "---"] * (len(header) - 1)]
    lines = [header, rule, *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    return f"```\n{text}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
