# SPDX-License-Identifier: GPL-2.0
"""Finds the conditions and statements of C functions, as far as the kernel's style goes.

Not a parser of C: it knows functions whose braces stand in the first column, and what
looks like a loop or a scope that a macro opens. What it takes for something else than it
is, the compiler refuses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"(case\b[^;{}:?]+|default\s*|[a-z_]\w*\s*):(?!:)")
_BLANKED = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.S | re.M,
)
_ATTRIBUTE = re.compile(r"__printf\([^)]*\)")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Span:
    """A condition, or a statement with its semicolon; text[start:end] of the file."""

    kind: str  # "condition" or "statement"
    start: int
    end: int
    function: str
    returns: str  # the function's type, as it is written


def blanked(text: str) -> str:
    """The text without comments, literals and directives: blanks stand in their place."""

    def blank(match: re.Match[str]) -> str:
        kept = match[0][0] if match[0][0] in "\"'" else " "
        inner = "".join("\n" if c == "\n" else " " for c in match[0][1:-1])
        return kept + inner + (kept if len(match[0]) > 1 else "")

    return _BLANKED.sub(blank, text)


def spans(text: str) -> list[Span]:
    """In order, and without overlap."""
    code = blanked(text)
    found: list[Span] = []
    for brace in re.finditer(r"^\{$", code, re.M):
        end = code.index("\n}", brace.start())
        header = _ATTRIBUTE.sub("", _header(code, brace.start()))
        name = re.search(r"(\w+)\s*\(", header)
        if name:
            reader = _Reader(code, name[1], header[: name.start()].strip())
            reader.block(brace.start(), end)
            found += reader.found
    return found


def _header(code: str, brace: int) -> str:
    before = code[:brace].rstrip()
    return before[max(before.rfind(";"), before.rfind("}")) + 1 :]


class _Reader:
    """Of one function."""

    def __init__(self, code: str, function: str, returns: str):
        self._code, self._function, self._returns = code, function, returns
        self.found: list[Span] = []

    def block(self, start: int, end: int) -> None:
        at = start + 1
        while (at := self._skip(at)) < end:
            at = self._statement(at)

    def _skip(self, at: int) -> int:
        while at < len(self._code) and self._code[at].isspace():
            at += 1
        return at

    def _matching(self, at: int) -> int:
        """Of the bracket at `at`: where it is closed."""
        depth = 0
        for i in range(at, len(self._code)):
            depth += (self._code[i] in _OPEN) - (self._code[i] in _CLOSE)
            if not depth:
                return i
        raise ValueError(f"{self._function}: a bracket is not closed")

    def _note(self, kind: str, start: int, end: int) -> None:
        self.found.append(Span(kind, start, end, self._function, self._returns))

    def _statement(self, at: int) -> int:
        """Where the statement at `at` ends."""
        at = self._skip(at)
        if self._code[at] == "{":
            close = self._matching(at)
            self.block(at, close)
            return close + 1
        if label := _LABEL.match(self._code, at):
            return self._statement(label.end())
        match = _WORD.match(self._code, at)
        word = match[0] if match else ""
        if word == "do":
            return self._simple_end(self._statement(at + 2))
        paren = self._skip(at + len(word))
        if word not in ("", "return") and self._code[paren] == "(":
            close = self._matching(paren)
            follows = self._code[self._skip(close + 1)]
            if word in ("if", "while", "for", "switch") or follows == "{" or follows.isidentifier():
                return self._controlled(word, paren, close)
        end = self._simple_end(at)
        self._note("statement", at, end)
        return end

    def _controlled(self, word: str, paren: int, close: int) -> int:
        if word in ("if", "while"):
            self._note("condition", paren + 1, close)
        elif word == "for":
            first = self._simple_end(paren + 1)
            second = self._simple_end(first)
            if self._code[first : second - 1].strip():
                self._note("condition", self._skip(first), second - 1)
        end = self._statement(close + 1)
        other = self._skip(end)
        if word == "if" and re.match(r"else\b", self._code[other : other + 5]):
            return self._statement(other + 4)
        return end

    def _simple_end(self, at: int) -> int:
        """Behind the next semicolon that is in no bracket."""
        while self._code[at] != ";":
            at = (self._matching(at) if self._code[at] in _OPEN else at) + 1
        return at + 1


def operators(code: str) -> Iterator[re.Match[str]]:
    """Binary operators as the kernel's style writes them, in blanked text."""
    return re.finditer(r"(?<=\s)(<=|>=|==|!=|<|>|&&|\|\||\+|-|&|\|)(?=\s)", code)
