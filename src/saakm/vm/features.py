# SPDX-License-Identifier: GPL-2.0
"""The fair class's own switches, as NEXT_BUDDY: the kernel's debugfs has them, and a run can set them."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Protocol

from ..base.errors import BadInput
from ..builder import kconfig
from ..model.fair_class import FAIR
from .guest import Result

FILE = "/sys/kernel/debug/sched/features"
# Until 6.14; what later kernels have always had.
_OPTION = "CONFIG_SCHED_DEBUG"
_FORM = re.compile(r"[A-Z][A-Z0-9_]*")
_OFF = "NO_"
_SECONDS = 30.0


def parse(text: str) -> tuple[str, ...]:
    """A comma list of names, each as it is or with NO_ before it."""
    return checked(filter(None, (word.strip() for word in text.split(","))))


def checked(words: Iterable[str]) -> tuple[str, ...]:
    found = tuple(words)
    for name in found:
        if not _FORM.fullmatch(name):
            raise BadInput(
                f"'{name}' is no feature of {FAIR}",
                "their names are capitals, digits and _",
                "as NEXT_BUDDY and NO_RUN_TO_PARITY",
            )
    names = [name.removeprefix(_OFF) for name in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise BadInput(
            f"{FAIR} has two settings of {twice[0]}",
            f"{', '.join(found)} names it twice",
            f"name it once, as {twice[0]} or {_OFF}{twice[0]}",
        )
    return found


def refuse_without_ours(config: str) -> None:
    """Before a kernel of ours is built that has none."""
    if config not in (having := _ours()):
        raise BadInput(
            f"the {config} kernel has no scheduler features that could be set",
            f"it is built without {_OPTION}, and they are constants in it",
            f"--kernel 7.3 has them; where there is --config, so has {' or '.join(having)}",
        )


def _ours() -> list[str]:
    """Our kernels that have them."""
    options = {name: kconfig.wanted(kconfig.fragments(name)) for name in kconfig.CONFIGS}
    return [name for name in options if options[name].get(_OPTION, ("n", ""))[0] == "y"]


class Place(Protocol):
    """Where shell commands run: a guest, or whatever stands for one."""

    def run(self, command: str, timeout: float, /) -> Result: ...


def there(place: Place) -> list[str]:
    """As they are set now, so that to write them sets them again."""
    said = place.run(f"cat {FILE}", _SECONDS)
    if said.status:
        raise BadInput(
            "this kernel has no scheduler features that could be set",
            said.stderr.strip(),
            f"before 6.15 they need {_OPTION}=y, else they are constants: of ours, {' and '.join(_ours())} have it",
        )
    return said.stdout.split()


def set_in(place: Place, names: Sequence[str]) -> list[str]:
    """Before the workload starts. Returns what they were, to be set again with write()."""
    if not names:
        return []
    before = there(place)
    refuse_unknown(names, before)
    write(place, names)
    ours = {name.removeprefix(_OFF) for name in names}
    return [name for name in before if name.removeprefix(_OFF) in ours]


def write(place: Place, names: Sequence[str]) -> None:
    if names:
        place.run(commands(names), _SECONDS).check()


def commands(names: Iterable[str]) -> str:
    """For a shell; it goes on, with a status, if one is unknown."""
    return " && ".join(f"echo {shlex.quote(name)} >{FILE}" for name in names)


def refuse_unknown(names: Iterable[str], there: Sequence[str]) -> None:
    """`there`: what the kernel's file says, each feature as it is now."""
    known = {name.removeprefix(_OFF) for name in there}
    if unknown := [name for name in names if name.removeprefix(_OFF) not in known]:
        raise BadInput(
            f"this kernel has no scheduler feature {unknown[0]}",
            f"it has, as they are set now: {' '.join(there)}",
            f"name some of these, to turn one off with {_OFF} before it",
        )
