# SPDX-License-Identifier: GPL-2.0
"""Finds policies: the checkout's, the user's own, and any directory that is named."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..base import paths
from ..base.errors import BadInput, SaakmError
from . import agents
from .names import NO_POLICY, fault_in_form, fault_in_module

LIB = "lib"  # headers that policies share, beside them
KBUILD = "Kbuild"
_OBJ_M = re.compile(r"^[ \t]*obj-m[ \t]*(:{0,3}|[+?!])=[ \t]*(.*)$", re.M)
_SOURCES = (".c", ".h", ".S")


def policies() -> list[str]:
    """Returns those of the checkout."""
    return sorted(module_name(path) for path in _in(paths.POLICIES))


def is_policy(directory: Path) -> bool:
    try:
        module_name(directory)
    except SaakmError:
        return False
    return True


def module_name(directory: Path) -> str:
    """Its Kbuild says it: /proc/saakm/policies and users call the policy by this name.

    Of several modules the one that has the directory's name is the policy.
    """
    try:
        objects = _objects(directory)
    except _NotOne as fault:
        raise _no_policy(directory, str(fault)) from fault
    if len(objects) == 1:
        return objects[0]
    if directory.name in objects:
        return directory.name
    named = f"its {KBUILD} names {len(objects)} modules in obj-m: {', '.join(objects) or 'none'}"
    raise _no_policy(directory, named)


def source_files(directory: Path) -> dict[str, Path]:
    """What a policy is built from, by the place in its copy: shared headers are in lib/.

    The checkout's policies/lib; what the folder of the policy has of its own goes first, and what
    the policy itself has before that.
    """
    found: dict[str, Path] = {}
    for lib in (paths.POLICIES / LIB, directory.parent / LIB):
        found |= {f"{LIB}/{file.name}": file for file in sorted(lib.glob("*.h"))}
    for file in sorted(directory.rglob("*")):
        if file.name in (KBUILD, "Makefile") or _is_source(file.name):
            found[str(file.relative_to(directory))] = file
    # To open a FIFO would take for ever; a link may lead nowhere.
    found = {place: file for place, file in found.items() if os.path.isfile(file)}
    for file in found.values():
        if not _is_text(file):
            raise SaakmError(
                f"{_printable(file)} cannot be built", "its path is not UTF-8", "rename it"
            )
    return found


def _is_source(name: str) -> bool:
    """Not what editors leave for a moment, nor what an earlier `make` has made."""
    return name.endswith(_SOURCES) and not name.startswith(".") and not name.endswith(".mod.c")


class _NotOne(Exception):
    """Why a directory is not a policy's."""


def _objects(directory: Path) -> list[str]:
    """The modules that its Kbuild names, each by a plain name: it becomes part of paths."""
    if not _is_text(directory):
        raise _NotOne("its path is not UTF-8")
    names = [_object_name(word) for word in _obj_m(_kbuild(directory))]
    for name in names:
        if why := fault_in_module(name):
            raise _NotOne(f"its {KBUILD} names '{name}' in obj-m: {why}")
    return list(dict.fromkeys(names))


def _kbuild(directory: Path) -> str:
    """Without comments and broken lines."""
    kbuild = directory / KBUILD
    if not os.path.isdir(directory):
        raise _NotOne("there is no such directory")
    if not os.path.lexists(kbuild):
        raise _NotOne(f"it has no {KBUILD}")
    if not os.path.isfile(kbuild):  # to open a FIFO would take for ever
        raise _NotOne(f"its {KBUILD} is not a file")
    try:
        text = kbuild.read_text(errors="replace")
    except OSError as error:
        raise _NotOne(f"its {KBUILD} cannot be read: {error.strerror}") from error
    return re.sub(r"#.*", "", text.replace("\\\n", " "))


def _obj_m(text: str) -> list[str]:
    """The words that make has in obj-m at the end, but for directories."""
    words: list[str] = []
    for operator, value in _OBJ_M.findall(text):
        if operator in ("?", "!"):
            # kbuild has set obj-m to nothing before, so that ?= has no effect.
            raise _NotOne(f"its {KBUILD} says obj-m {operator}=, which names no module to SaaKM")
        words = [*(words if operator == "+" else []), *value.split()]
    return [word for word in words if not word.endswith("/") or "$" in word]


def _object_name(word: str) -> str:
    if "$" in word:
        raise _NotOne(f"its {KBUILD} has '{word}' in obj-m, and only make knows what that becomes")
    if not word.endswith(".o"):
        raise _NotOne(f"its {KBUILD} has '{word}' in obj-m, which is not NAME.o")
    return word.removesuffix(".o")


def _in(folder: Path) -> list[Path]:
    found = [kbuild.parent for kbuild in sorted(folder.glob("*/Kbuild"))]
    return [path for path in found if is_policy(path)]


def own_policies() -> list[Path]:
    """Policies in the folders of $SAAKM_POLICIES.

    Not in the current directory: in somebody else's, a name alone would build and load
    what he put there.
    """
    # saakmctl reads the same variable.
    given = os.environ.get("SAAKM_POLICIES", "").split(":")
    folders = [Path(folder).resolve() for folder in given if folder]
    ours = (paths.POLICIES, paths.GUEST_MODULES)
    return [path for folder in folders if folder not in ours for path in _in(folder)]


def find_policy(word: str) -> Path | None:
    """The policy's directory, by name or path; None if the word means no policy at all."""
    if word in NO_POLICY:
        return None
    if _is_path(word):
        return _directory(Path(word).resolve())
    for path in [*own_policies(), *_in(paths.POLICIES)]:
        if module_name(path) == word:
            return path
    here = f"./{word} for the one in this directory, " if is_policy(Path.cwd() / word) else ""
    raise SaakmError(
        f"there is no policy '{word}'",
        f"policies/ has: {', '.join(policies()) or 'nothing yet'}; $SAAKM_POLICIES does not have it",
        f"choose one of them, {here}none for the kernel's own scheduler{_or_new(word)}",
    )


def by_name(words: Iterable[str]) -> dict[str, Path | None]:
    """Each word by what it is called: of a directory its policy's name, and the directory."""
    named = [(word, _directory_of(word)) for word in words]
    return {module_name(path) if path else word: path for word, path in named}


def refuse_namesakes(named: Iterable[tuple[str, Path | None]]) -> None:
    """A kernel has one module of a name: all columns would be of the policy that is named last."""
    places: dict[str, Path | None] = {}
    for name, directory in named:
        place = directory or find_policy(name)
        other = places.setdefault(name, place)
        if other != place:
            raise BadInput(
                f"two policies are called '{name}'",
                f"{other} and {place}",
                "measure one after the other, or rename the module of one in its Kbuild",
            )


def _directory_of(word: str) -> Path | None:
    is_path = _is_path(word) and not agents.apart(word)[1]  # an agent's is none of a policy
    return _directory(Path(word).resolve()) if is_path else None


def _is_path(word: str) -> bool:
    return "/" in word or word == "."


def _or_new(word: str) -> str:
    return f", or: saakm new {word}" if fault_in_form(word) is None else ""


def _directory(path: Path) -> Path:
    module_name(path)
    return path


def _is_text(path: Path) -> bool:
    """Names that are not UTF-8 have surrogates in Python, which nothing can print or write."""
    return not re.search(r"[\ud800-\udfff]", str(path))


def _printable(text: object) -> str:
    return os.fsencode(str(text)).decode(errors="backslashreplace")


def _no_policy(path: Path, why: str) -> SaakmError:
    name = "NAME" if fault_in_form(path.name) else path.name
    if (path / agents.MANIFEST).exists():
        return SaakmError(
            f"{_printable(path)} is a project of cargo's, not a policy's directory",
            why,
            f"if it is a scheduler in user space: saakm run {agents.POLICY} --agent {_printable(path)}",
        )
    return SaakmError(
        f"{_printable(path)} is not a policy's directory",
        why,
        f"a policy is a directory whose {KBUILD} says obj-m := NAME.o, with NAME.c, or NAME-y := the "
        f"objects of several files; saakm new {name} makes one",
    )
