# SPDX-License-Identifier: GPL-2.0
"""Which command lines ran, with which options: for the tests, which must run all of them.

If SAAKM_RECORD_CLI names a directory, each command leaves a file there: tests/options.py.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from ..base.ending import Interrupted
from ..base.errors import SaakmError

DIRECTORY = "SAAKM_RECORD_CLI"
_WORDS = "saakm.words"


class Group(TyperGroup):
    """Keeps the words as they were given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interrupted from interrupt


class Command(TyperCommand):
    def invoke(self, ctx: Any) -> Any:
        with _recorded(ctx):
            return super().invoke(ctx)


@contextlib.contextmanager
def _recorded(ctx: Any) -> Iterator[None]:
    """What is refused has not run; what fails later, in a guest, has."""
    if not (directory := os.environ.get(DIRECTORY)):
        yield
        return
    given = {
        name: str(value)
        for name, value in ctx.params.items()
        if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }
    record = {
        "words": ctx.meta.get(_WORDS, []),
        "command": ctx.info_name,
        "given": given,
        "test": os.environ.get("PYTEST_CURRENT_TEST", ""),
    }
    # Before it runs, for it may be killed.
    file = Path(directory) / f"{uuid.uuid4()}.json"
    file.write_text(json.dumps(record))
    try:
        yield
    except SaakmError as error:
        if type(error) is SaakmError:
            file.unlink()
        raise
