# SPDX-License-Identifier: GPL-2.0
"""Results on disk: a line of JSON a run, written when it ends, so that nothing is lost.

Before the runs of an invocation stands a line that says where and how they ran.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from ...base.errors import BadInput, SaakmError
from ...base.files import make_output
from ...model.fair_class import renamed
from ...model.results import EnvironmentRecord, Record, RunRecord
from ...model.schema import fit, parse_json, plain

FILE = "runs.jsonl"


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
            file.write(json.dumps(plain(record)) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def done(self) -> set[str]:
        """Keys of the runs that need not be repeated; failed ones are tried again."""
        return {record.key for record in self.runs() if not record.error}

    def runs(self) -> list[RunRecord]:
        return runs(read(self.path)) if self.path.exists() else []

    def _mend(self) -> None:
        """Drop a line that was being written when the power went."""
        if not self.path.exists():
            return
        if not self.path.is_file():
            raise BadInput(
                f"{self.path} is no file",
                "results are lines of an ordinary one",
                "move it away, or name another directory: --out",
            )
        whole = self.path.read_bytes()
        if whole and not whole.endswith(b"\n"):
            self.path.write_bytes(whole[: whole.rfind(b"\n") + 1])


def read(path: Path) -> list[Record]:
    """Reads a file, or a directory that saakm bench has written."""
    path = path / FILE if path.is_dir() else path
    records: list[Record] = []
    try:
        for line in path.read_text().splitlines():
            records.append(fit(renamed(parse_json(line), path), Record))
    except (OSError, ValueError) as error:
        at = "" if isinstance(error, OSError) else f"line {len(records) + 1}: "
        hint = "name DIR of saakm bench --out DIR, or OUT/NAME of saakm lab NAME --out OUT"
        raise SaakmError(f"{path} has no results", f"{at}{error}", hint) from error
    return records


def runs(records: Iterable[Record]) -> list[RunRecord]:
    """The latest record of each run: one that failed may have been repeated."""
    latest = {record.key: record for record in records if isinstance(record, RunRecord)}
    return list(latest.values())


def environments(records: Iterable[Record]) -> list[EnvironmentRecord]:
    return [record for record in records if isinstance(record, EnvironmentRecord)]
