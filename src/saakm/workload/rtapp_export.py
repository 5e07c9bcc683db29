# SPDX-License-Identifier: GPL-2.0
"""A workload as the real rt-app takes it: strict JSON, without our extension, each key once."""

import json
from typing import Any

from .located import Member, Node, parse
from .rtapp import translate
from .rtapp_keys import event_of

_EXTENSION = "saakm"


def export(text: str, file: str, cpus: int) -> str:
    """Refuses what we refuse, so that both run the same."""
    translate(text, file, cpus)
    return json.dumps(_plain(parse(text, file)), indent="\t") + "\n"


def _plain(node: Node) -> Any:
    if node.kind == "an object":
        taken: dict[str, Any] = {}
        there = {member.key for member in node.members}
        for member in node.members:
            if member.key != _EXTENSION:
                key = _unlike(member, taken, there)
                taken[key] = _plain(member.node)
        return taken
    return [_plain(one) for one in node.nodes] if node.kind == "a list" else node.value


def _unlike(member: Member, taken: dict[str, Any], there: set[str]) -> str:
    """The key, or with a number behind it if it is there already."""
    if member.key not in taken:
        return member.key
    base = event_of(member.key) or f"{member.key}_"
    number = next(
        n for n in range(1, len(there) + len(taken) + 2) if f"{base}{n}" not in there | taken.keys()
    )
    return f"{base}{number}"
