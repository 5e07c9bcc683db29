# SPDX-License-Identifier: GPL-2.0
"""What a policy's Kbuild says: of which files its module is made, and with which flags.

Make is not asked: it would need a configured kernel. What only make could know is refused.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SaakmError
from ..builder.policies import KBUILD, module_name

_ASSIGNMENT = re.compile(r"^[ \t]*([\w.-]+)[ \t]*(:{0,3}|[+?!])=[ \t]*(.*)$", re.M)
_IN_PLACE = re.compile(r"\$[({](?:src|obj|M)[)}]")
_FOR_THE_COMPILER = ("-D", "-U", "-I", "-W", "-f", "-O", "-g", "-std=", "-include")


@dataclass(frozen=True)
class Module:
    """One module of a policy's directory, as the simulator compiles it."""

    name: str
    directory: Path
    sources: tuple[Path, ...]
    flags: tuple[str, ...] = ()

    @property
    def modname(self) -> str:
        """As the kernel calls it, and parameters are called by."""
        return self.name.replace("-", "_")


def read_module(directory: Path, name: str = "") -> Module:
    """The module that is the policy, or another one that the same Kbuild names."""
    said = _assignments(directory)
    known = [word.removesuffix(".o") for word in said.get("obj-m", [])]
    name = name or module_name(directory)
    if name not in known:
        raise SaakmError(
            f"{directory} has no module '{name}'",
            f"its {KBUILD} names {', '.join(known) or 'none'} in obj-m",
            "name one of these, or none for the policy's own",
        )
    objects = said.get(f"{name}-y", []) + said.get(f"{name}-objs", []) or [f"{name}.o"]
    sources = tuple(_source(directory, word) for word in dict.fromkeys(objects))
    return Module(name, directory, sources, _flags(directory, said, sources))


def _assignments(directory: Path) -> dict[str, list[str]]:
    """The words that each variable has at the end."""
    text = (directory / KBUILD).read_text(errors="replace")
    text = re.sub(r"#.*", "", text.replace("\\\n", " "))
    found: dict[str, list[str]] = {}
    for name, operator, value in _ASSIGNMENT.findall(text):
        if operator == "?" and name in found:
            continue
        before = found.get(name, []) if operator == "+" else []
        found[name] = [*before, *_words(directory, value)]
    return found


def _words(directory: Path, value: str) -> list[str]:
    try:
        return shlex.split(_IN_PLACE.sub(lambda _: str(directory), value))
    except ValueError:
        return value.split()


def _source(directory: Path, word: str) -> Path:
    source = directory / f"{word.removesuffix('.o')}.c"
    if "$" in word or not word.endswith(".o"):
        why = f"its {KBUILD} has '{word}' among the objects, and only make knows what that becomes"
    elif not source.is_file():
        why = f"its {KBUILD} has {word}, and there is no {source.name}: only C is compiled"
    else:
        return source
    raise SaakmError(
        f"the simulator cannot build {directory}",
        why,
        f"name the objects one by one in the {KBUILD}, each of a C file; a guest builds with make: "
        "saakm run",
    )


def _flags(
    directory: Path, said: dict[str, list[str]], sources: tuple[Path, ...]
) -> tuple[str, ...]:
    names = ["ccflags-y", "EXTRA_CFLAGS", *(f"CFLAGS_{source.stem}.o" for source in sources)]
    found = [word for name in names for word in said.get(name, [])]
    for word in found:
        if "$" in word or not word.startswith(_FOR_THE_COMPILER):
            raise SaakmError(
                f"the simulator cannot build {directory}",
                f"its {KBUILD} gives the compiler '{word}', which means something to make alone",
                f"give plain options ({', '.join(_FOR_THE_COMPILER)}); a guest builds with make: "
                "saakm run",
            )
    return tuple(found)
