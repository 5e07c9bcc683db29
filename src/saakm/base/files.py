# SPDX-License-Identifier: GPL-2.0
"""Files that others find whole or not at all, and that are made again when they are damaged."""

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import SaakmError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to; what is there at the end becomes `path` in one step."""
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield scratch
        _flush(scratch)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Writes it out, or a power failure could leave the new name with nothing in it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def make_output(directory: Path, *marks: str) -> Path:
    """The directory that a user has named for what a command writes.

    `marks`: files of which the command leaves one in each, the usual one first: what is not empty and
    has none is somebody else's. Without any, what is there already is not looked at.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):  # root has access, it seems, to all there is
            pass
    except OSError as error:
        raise SaakmError(
            f"cannot write into {directory}", _why(error, directory), "give another directory"
        ) from error
    known = any((directory / mark).exists() for mark in marks)
    if marks and not known and any(directory.iterdir()):
        raise SaakmError(
            f"{directory} has files of something else",
            f"it is not empty, and has no {marks[0]}, as if this command had written there before",
            "give a directory that is new or empty",
        )
    return directory


def _why(error: OSError, directory: Path) -> str:
    if isinstance(error, FileExistsError):
        return "it is a file, and no directory"
    if isinstance(error, NotADirectoryError):
        return "a part of that path is a file"
    if isinstance(error, PermissionError | FileNotFoundError):  # as /proc says it
        return "it may not be written there"
    return error.strerror or str(error)


def check_output(path: Path) -> None:
    """Refuses a file that cannot be written, before anybody works for it."""
    if path.is_dir():
        why = "it is a directory"
    elif _is_virtual(path) or (path.exists() and not os.access(path, os.W_OK)):
        why = "it may not be written there"
    else:
        if not path.exists():  # a device, as /dev/null, is all that there needs to be
            make_output(path.parent)
        return
    raise SaakmError(f"cannot write {path}", why, "name another file")


def refuse_input(output: Path, *inputs: Path) -> None:
    """Nobody wants what is written in the place of what it is made of."""
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise SaakmError(
                f"{output} would be written, and is read", "it is an input", "write somewhere else"
            )


def _is_virtual(path: Path) -> bool:
    """Root may write anywhere, it seems, but nobody can make files in /proc."""
    virtual = path.parent.is_dir() and path.parent.resolve().is_relative_to("/proc")
    return virtual and not path.exists()


def write_text(path: Path, text: str) -> None:
    with replacing(path) as scratch:
        scratch.write_text(text)


def read_json(path: Path) -> dict[str, Any]:
    """What a file in the cache says; nothing if it is not there or cannot be understood."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


# --- stamps: what a product was made from, and what it looked like then ---


def write_stamp(stamp: Path, inputs: str, product: Path) -> None:
    write_text(stamp, json.dumps({"inputs": inputs, "product": _look(product)}))


def is_fresh(stamp: Path, inputs: str, product: Path) -> bool:
    return is_whole(stamp, product) and read_json(stamp).get("inputs") == inputs


def is_whole(stamp: Path, product: Path) -> bool:
    """Whether the product is as it was when it was finished, whatever it was made from."""
    look = _look(product)
    return look is not None and read_json(stamp).get("product") == look


def _look(product: Path) -> list[int] | None:
    try:
        stat = product.stat()
    except OSError:
        return None
    # Whole seconds: archives of the cache keep no more.
    return [stat.st_size, int(stat.st_mtime)]


def hash_files(files: Iterable[Path], root: Path, *more: str) -> str:
    """A hash of names and contents, and of whatever else decides the outcome."""
    return hash_named({str(file.relative_to(root)): file for file in sorted(files)}, *more)


def hash_named(files: Mapping[str, Path], *more: str) -> str:
    """The same of files under names of their own, in the order given."""
    digest = hashlib.sha256("\0".join(more).encode())
    for name, file in files.items():
        content = file.read_bytes()
        digest.update(f"\0{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
