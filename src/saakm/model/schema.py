# SPDX-License-Identifier: GPL-2.0
"""Reads files into structures, and says where a file does not fit."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from ..base.errors import SaakmError
from ..base.sizes import megabytes

# Of what is kept. A file without one is of the first, which did not say so. A new one is due when
# a key gets another meaning or is taken away, not when one comes with a default. The second calls
# the kernel's fair class otherwise (fair_class.py).
SCHEMA = 2
_FIRST = 1
T = TypeVar("T")
# JSON as Python reads it has numbers that are none.
Finite = Annotated[float, msgspec.Meta(ge=-1e18, le=1e18)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e18)]
Word = Annotated[str, msgspec.Meta(min_length=1)]


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Is for what people write: an unknown key is a mistake."""


class Kept(msgspec.Struct, frozen=True):
    """Is for what we write: a later version may add keys, and this one still reads the file."""


def read_toml(path: Path, kind: type[T], what: str, hint: str) -> T:
    """`what`: such a file is, as "a workload"; `hint`: what to do about one that is none."""
    return _read(path, tomllib.loads, kind, what, hint)


def read_json(path: Path, kind: type[T], what: str, hint: str) -> T:
    return _read(path, json.loads, kind, what, hint)


def fit(content: Any, kind: Any) -> Any:
    """A ValueError says at which key `content` does not fit."""
    refuse_later(content)
    try:
        return msgspec.convert(content, kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("`$.", "`")) from error


def parse_json(text: str) -> Any:
    return _parsed(json.loads, text)


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def check_memory(size: str) -> None:
    """Has a ValueError for a guest's memory that is none."""
    try:
        megabytes(size)
    except SaakmError as error:
        raise ValueError(f"`memory`: {error.what}; {error.why}") from error


def plain(structure: Any) -> Any:
    """Returns it as dictionaries, lists, numbers and strings, as for JSON."""
    return msgspec.to_builtins(structure)


def _read(path: Path, parse: Callable[[str], Any], kind: type[T], what: str, hint: str) -> T:
    try:
        found: T = fit(_parsed(parse, path.read_text()), kind)
    except (OSError, ValueError) as error:
        raise refusal(path, what, str(error), hint) from error
    return found


def refusal(path: Path, what: str, why: str, hint: str) -> SaakmError:
    return SaakmError(f"{path} is not {what}", why, hint)


def schema_of(row: dict[str, Any]) -> Any:
    return row.get("schema", _FIRST)


def refuse_later(content: Any) -> None:
    """Looks at what it is given, and at the rows of it, where it has some."""
    for one in content if isinstance(content, list) else [content]:
        if isinstance(one, dict):
            _refuse_later_schema(schema_of(one))
    if isinstance(content, dict) and isinstance(content.get("rows"), list):
        refuse_later(content["rows"])


def _refuse_later_schema(schema: Any) -> None:
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(
            f"a later version of saakm wrote it: schema {schema}, and this has {SCHEMA}"
        )
