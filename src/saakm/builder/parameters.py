# SPDX-License-Identifier: GPL-2.0
"""Parameters that a policy is loaded with: refused here, where a person reads why.

The kernel ignores a name that a module does not have, and of a value that it does not take it
says EINVAL, in a guest whose console nobody reads.
"""

import difflib
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..base import paths
from ..base.errors import BadInput
from .policies import module_name, source_files

# As linux/kernel/params.c takes them: the least and the greatest value of each type.
_RANGES = {
    name: (-(1 << bits - 1) if signed else 0, (1 << bits - signed) - 1)
    for name, bits, signed in (
        ("byte", 8, 0), ("short", 16, 1), ("ushort", 16, 0), ("int", 32, 1), ("uint", 32, 0),
        ("long", 64, 1), ("ulong", 64, 0), ("ullong", 64, 0), ("hexint", 32, 0),
    )
}  # fmt: skip
_REACTIONS = ("default", "warn", "eject", "panic")
_NUMBER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_BOOL = re.compile(r"[yYtT1nNfF0]|[oO][nNfF]")  # what kstrtobool() looks at
_BASES = {"0x": 16, "0X": 16}
_DECLARED = re.compile(r"\bmodule_param\w*\(\s*(\w+)")
# What SAAKM_POLICY() and module_saakm_policy() declare for each policy.
_LOAD = paths.LINUX / "include/linux/saakm_load.h"
# Of those by module_param_cb(), a module does not say the type.
_SYMBOL = re.compile(rb"__param_str_(\w+)\0")


def split(word: str) -> tuple[str, tuple[str, ...]]:
    """A scheduler, which may be a directory, and its settings: lavd:virt_llc=4-4."""
    directory, slash, name = word.rpartition("/")
    name, *settings = name.split(":")
    return directory + slash + name, tuple(settings)


def check_word(policy: str, settings: Sequence[str]) -> None:
    """What can be said of split()'s answer without the module."""
    check_form(list(settings))
    keys = [setting.partition("=")[0].replace("-", "_") for setting in settings]
    if twice := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
        raise BadInput(
            f"{policy} has two settings of {twice[0]}",
            f"'{':'.join([policy, *settings])}' names it twice",
            "leave out one of them",
        )


def check_form(parameters: list[str]) -> None:
    """What can be said without the module."""
    for parameter in parameters:
        if not parameter.partition("=")[0] or "=" not in parameter or set(parameter) & set(", \"'"):
            raise BadInput(
                f"'{parameter}' is no parameter",
                "it is not of the form NAME=VALUE, without blanks, commas and quotes",
                "for example slice_us=2000",
            )


def check_names(parameters: list[str], directory: Path) -> None:
    """Before a kernel is built: a word that no source of the policy has is no parameter's name."""
    texts = [path.read_text(errors="replace") for path in source_files(directory).values()]
    if any("##" in text for text in texts):
        return  # macros put words together: the module will say
    texts.append(_LOAD.read_text())
    there = set(re.findall(r"\w+", " ".join(texts)))
    declared = sorted({name for text in texts for name in _DECLARED.findall(text)})
    for parameter in parameters:
        name = parameter.partition("=")[0].replace("-", "_")
        if name not in there:
            near = ", ".join(difflib.get_close_matches(name, declared))
            why = f"it has no parameter '{name}': its sources do not have that word"
            why += f", but: {near}" if near else ""
            raise _refused(parameter, module_name(directory), why)


def check_values(parameters: list[str], module: Path) -> None:
    """Names and numbers, of which the module says what it takes."""
    if not parameters:
        return
    done = subprocess.run(
        ["modinfo", "-F", "parmtype", str(module)], capture_output=True, text=True, check=True
    )
    types = {name.decode(): "" for name in _SYMBOL.findall(module.read_bytes())}
    types |= dict(line.split(":", 1) for line in done.stdout.splitlines())
    for parameter in parameters:
        if why := fault_in(parameter, types):
            raise _refused(parameter, module.stem, why)


def _refused(parameter: str, policy: str, why: str) -> BadInput:
    return BadInput(f"{policy} cannot be loaded with {parameter}", why, "mend it, or leave it out")


def fault_in(parameter: str, types: dict[str, str]) -> str | None:
    """Why a module with parameters of these types, empty if unknown, does not take it."""
    name, _, value = parameter.partition("=")
    name = name.replace("-", "_")  # the kernel makes no difference
    if name == "replaces":
        return "the policy is loaded alone: there is none that it could replace"
    if name not in types:
        return f"it has no parameter '{name}', but: {', '.join(sorted(types)) or 'none'}"
    if name == "on_violation" and value not in _REACTIONS:
        return f"on_violation is {', '.join(_REACTIONS[:-1])} or {_REACTIONS[-1]}"
    if types[name] == "bool" and not _BOOL.match(value):
        return f"{name} is 0 or 1"
    if types[name] not in _RANGES:
        return None
    least, greatest = _RANGES[types[name]]
    match = _NUMBER.fullmatch(value)
    if match and (least or match[1] != "-") and least <= _number(*match.groups()) <= greatest:
        return None
    return f"{name} is a whole number from {least} to {greatest}"


def _number(sign: str, digits: str) -> int:
    base = _BASES.get(digits[:2]) or (8 if digits.startswith("0") else 10)
    return int(sign + digits, base)
