# SPDX-License-Identifier: GPL-2.0
"""The handlers of a policy, as linux/saakm.h describes them.

Of each the first paragraph says when it is called, and in which context: `@tick: Timer tick. [R]`. The end
of a paragraph says what happens without it: `Default: nothing.` Functions that a policy may name instead of
writing one say so in their first line: `saakm_prev_cpu() - a @prepare: the thread stays where it was`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from saakm.base import paths

INCLUDE = paths.LINUX / "include/linux"
HEADER = INCLUDE / "saakm.h"

_GROUP = re.compile(
    r"struct_group_tagged\(saakm_module_routines, routines, /\* events: \*/\n(.*?)\n\t\);", re.S
)
_MEMBER = re.compile(r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?([\w *]+)\(\*(\w+)\)\(([^;]*)\);", re.S)
_FIRST = re.compile(r"@(\w+): (.*?) \[([PRBS])\](.*)")
_DEFAULT = re.compile(r"\bDefault: (.*)\.$")
_READY_MADE = re.compile(r"^ \* (saakm_\w+)\(\) - an? @(\w+): ", re.M)


@dataclass(frozen=True)
class Handler:
    name: str
    arguments: str
    when: str
    letter: str
    context: str  # what else is said of it: "of both"
    default: str
    ready_made: tuple[str, ...]

    @property
    def row(self) -> str:
        """Of the table in docs/reference/api.md."""
        cells = [
            f"`{self.name}`",
            _marked(self.when),
            f"[{self.letter}]{self.context}",
            _marked(self.default),
            ", ".join(f"`{name}`" for name in self.ready_made),
        ]
        return "| " + " | ".join(cells).rstrip() + " |"


class NotDescribed(Exception):
    pass


def handlers(header: Path = HEADER) -> list[Handler]:
    """In the order of the struct. A handler that lacks one of the parts is an error."""
    text = header.read_text()
    (group,) = _GROUP.findall(text)
    found = [_handler(*match) for match in _MEMBER.findall(group)]
    if len(found) != group.count("(*"):
        raise NotDescribed("there are members that are no handlers")
    return found


def _handler(comment: str, _: str, name: str, arguments: str) -> Handler:
    paragraphs = _paragraphs(comment)
    first = _FIRST.match(paragraphs[0])
    if not first or first[1] != name:
        raise NotDescribed(f"{name}: when, and in which context? {paragraphs[0]}")
    defaults = [match[1] for one in paragraphs if (match := _DEFAULT.search(one))]
    if len(defaults) != 1:
        raise NotDescribed(f"{name}: what happens without it?")
    return Handler(
        name,
        " ".join(arguments.split()),
        first[2],
        first[3],
        re.sub(r" ?\bDefault: .*", "", first[4]).rstrip(),
        defaults[0],
        tuple(_ready_made().get(name, ())),
    )


def _paragraphs(comment: str) -> list[str]:
    lines = [re.sub(r"^\s*\* ?", "", line).strip() for line in comment.splitlines()]
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip()] or [
        ""
    ]


def _ready_made() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for header in sorted(INCLUDE.glob("saakm*.h")):
        for function, handler in _READY_MADE.findall(header.read_text()):
            found.setdefault(handler, []).append(function)
    return found


def _marked(text: str) -> str:
    """Kernel-doc's marks as Markdown's."""
    return re.sub(r"[@%](\w+)|(core->\w+|\w+\(\)|&?saakm_policy\.\w+)", _code, text)


def _code(match: re.Match[str]) -> str:
    return f"`{match[1] or match[2].lstrip('&')}`"
