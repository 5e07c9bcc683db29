# SPDX-License-Identifier: GPL-2.0
"""What the kernel's fair class is called in commands, files and tables, and what it was called.

Until schema 1 it was `eevdf`, and no policy could be called so; since then that is a policy's name.
"""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from .schema import SCHEMA, schema_of

FAIR = "fair"
_BEFORE = "eevdf"
_LAST_WITH_IT = 1
# Whoever repeats the command of old results shall get the same.
_IN_COMMAND = re.compile(rf"(--schedulers[= ](?:\S*,)?){_BEFORE}(?![^\s,])")


def renamed(content: Any, file: Path) -> Any:
    """Returns what was read from `file` with the names of today, and says so if one was another.

    `content` is a row of results, a list of rows, or has a list of them in `rows`.
    """
    if isinstance(content, list):
        return [_row(row, file) for row in content]
    if isinstance(content, dict) and isinstance(rows := content.get("rows"), list):
        return content | {"rows": [_row(row, file) for row in rows]}
    return _row(content, file)


def _row(row: Any, file: Path) -> Any:
    if not isinstance(row, dict) or schema_of(row) != _LAST_WITH_IT:
        return row
    new: dict[str, Any] = {}
    if row.get("scheduler") == _BEFORE:
        new["scheduler"] = FAIR
    if isinstance(names := row.get("schedulers"), list) and _BEFORE in names:
        new["schedulers"] = [FAIR if name == _BEFORE else name for name in names]
        new["command"] = _IN_COMMAND.sub(rf"\1{FAIR}", str(row.get("command", "")))
    if not new:
        return row
    _tell(file)
    return {**row, **new, "schema": SCHEMA}


@cache
def _tell(file: Path) -> None:
    """Once a file, not once a row."""
    print(
        f"saakm: {file} is of an earlier version, which called the kernel's fair class '{_BEFORE}'; "
        f"it is read as '{FAIR}' ('{_BEFORE}' is a policy now), and the file stays as it is",
        file=sys.stderr,
    )
