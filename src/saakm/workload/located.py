# SPDX-License-Identifier: GPL-2.0
"""JSON in which each key and value knows its line, so that an error can name it.

It takes what json-c, and so rt-app, takes beyond the standard: comments (/* */ and //) and a comma after
the last member. Numbers with a point or an exponent are kept as floats: nothing here wants one.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

from .errors import BadWorkload, Place, quoted, refusal

Kind = Literal[
    "an object", "a list", "a string", "a whole number", "a fraction", "true or false", "null"
]
_DEEPEST = 32
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.S)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORDS = {"true": True, "false": False, "null": None}
_NEXT = "JSON as rt-app takes it: src/saakm/workload/rtapp.py says which keys"


@dataclass(frozen=True)
class Node:
    """A value; `place` is where it begins. Members keep their order, and a key may come twice."""

    kind: Kind
    place: Place
    value: str | int | float | bool | None = None
    nodes: tuple["Node", ...] = ()  # of a list
    members: tuple["Member", ...] = ()  # of an object


@dataclass(frozen=True)
class Member:
    key: str
    node: Node
    place: Place


def parse(text: str, file: str) -> Node:
    return _Parser(text, file).document()


class _Parser:
    def __init__(self, text: str, file: str):
        self._text, self._file = text, file
        self._at = self._line_from = 0
        self._line = 1

    def document(self) -> Node:
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise self._refuse("more follows after the end of the object")
        return node

    def _here(self) -> Place:
        self._line += self._text.count("\n", self._line_from, self._at)
        self._line_from = self._at
        return Place(self._file, self._line)

    def _refuse(self, why: str) -> BadWorkload:
        there = self._text[self._at : self._at + 20].partition("\n")[0]
        if self._at >= len(self._text):
            why = f"the file ends too early: {why}"
            there = ""
        return refusal(self._here(), quoted(there) if there else "no JSON", why, _NEXT)

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        if self._text.startswith("/*", self._at):
            raise self._refuse("the comment has no end")

    def _peek(self) -> str:
        self._skip()
        return self._text[self._at : self._at + 1]

    def _take(self, wanted: str, why: str) -> None:
        if self._peek() != wanted:
            raise self._refuse(why)
        self._at += 1

    def _value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._refuse(f"it is nested deeper than {_DEEPEST}")
        match self._peek():
            case "{":
                return self._object(depth)
            case "[":
                return self._list(depth)
            case '"':
                place = self._here()
                return Node("a string", place, self._string())
            case _:
                return self._plain()

    def _object(self, depth: int) -> Node:
        place, members = self._here(), list[Member]()
        self._at += 1
        while self._peek() != "}":
            if self._peek() != '"':
                raise self._refuse('a key in " or the } of the object is missing')
            key_place = self._here()
            key = self._string()
            self._take(":", f"the : after the key {quoted(key)} is missing")
            members.append(Member(key, self._value(depth + 1), key_place))
            if self._peek() != "}":
                self._take(",", f"a comma or }} after the value of {quoted(key)} is missing")
        self._at += 1
        return Node("an object", place, members=tuple(members))

    def _list(self, depth: int) -> Node:
        place, nodes = self._here(), list[Node]()
        self._at += 1
        while self._peek() != "]":
            nodes.append(self._value(depth + 1))
            if self._peek() != "]":
                self._take(",", "a comma or the ] of the list is missing")
        self._at += 1
        return Node("a list", place, nodes=tuple(nodes))

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if not match:
            raise self._refuse("the string has no end in its line")
        try:
            found = json.loads(match[0])
        except ValueError as error:
            raise self._refuse(f"the string is none: {error}") from error
        self._at = match.end()
        return str(found)

    def _plain(self) -> Node:
        place = self._here()
        for word, value in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return Node("null" if value is None else "true or false", place, value)
        match = _NUMBER.match(self._text, self._at)
        if not match:
            raise self._refuse("it is no value")
        if len(match[0]) > 30:
            raise self._refuse("the number is too long")
        self._at = match.end()
        if match[1] or match[2]:
            return Node("a fraction", place, float(match[0]))
        return Node("a whole number", place, int(match[0]))
