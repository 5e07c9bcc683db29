# SPDX-License-Identifier: GPL-2.0
"""Results on disk: a line of JSON a run, written when it ends, so that nothing is lost.

Before the runs of an invocation stands a line that says where and how they ran.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ...base.files import make_output

FILE = "runs.jsonl"
RUN, ENVIRONMENT = "run", "environment"
# What two runs have in common that need not be done twice.
_KEY = (
    "workload",
    "variant",
    "definition",
    "scheduler",
    "build",
    "round",
    "traced",
    "kernel",
    "machine",
)

Record = dict[str, Any]


def key(record: Record) -> str:
    return json.dumps([record[name] for name in _KEY], sort_keys=True)


class Store:
    def __init__(self, directory: Path):
        self.directory, self.path = directory, directory / FILE

    def begin(self, resume: bool) -> None:
        if self.path.exists() and not resume:
            raise SaakmError(
                f"{self.path} has results already",
                "they would be mixed up with those of other conditions",
                "add --resume to go on with them, or name another directory: --out",
            )
        make_output(self.directory)
        self._mend()

    def append(self, record: Record) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def done(self) -> set[str]:
        """Keys of the runs that need not be repeated; failed ones are tried again."""
        if not self.path.exists():
            return set()
        return {
            key(record)
            for record in read(self.path)
            if record["kind"] == RUN and not record["error"]
        }

    def _mend(self) -> None:
        """Drop a line that was being written when the power went."""
        if not self.path.exists():
            return
        text = self.path.read_text()
        if text and not text.endswith("\n"):
            self.path.write_text(text[: text.rfind("\n") + 1])


def read(path: Path) -> list[Record]:
    """Of a file, or of a directory that saakm bench has written."""
    path = path / FILE if path.is_dir() else path
    try:
        lines = path.read_text().splitlines()
        records = [json.loads(line) for line in lines]
        if not all(record["kind"] in (RUN, ENVIRONMENT) for record in records):
            raise ValueError("a line is neither a run nor an environment")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SaakmError(
            f"{path} has no results of saakm bench",
            str(error),
            "saakm bench --out DIR writes such a directory",
        ) from error
    return records


def runs(records: Iterable[Record]) -> list[Record]:
    """The latest record of each run: one that failed may have been repeated."""
    latest = {key(record): record for record in records if record["kind"] == RUN}
    return list(latest.values())


def environments(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["kind"] == ENVIRONMENT]
