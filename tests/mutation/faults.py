# SPDX-License-Identifier: GPL-2.0
"""What is done to a line of the class, and the source in which a number chooses what is done.

One kernel serves for all faults: where one can be put, the rewritten source asks whether
it is the live one. Each such place notes that it was reached, too.

What no outcome of a test can show is left alone: locks and memory order (the storms and the
debug kernel look for races), memory that is not freed, messages, declarations with their
initial values, macros, static tables, and functions written in one line.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from saakm.base.errors import SaakmError

from .parser import Span, blanked, operators, spans

CHOSEN_LINES = Path(__file__).with_name("lines.toml")
_FLIPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "&": "|",
    "|": "&",
}
_DECLARES = re.compile(
    r"(const|static|struct|union|enum|unsigned|signed|int|bool|char|long|short|void|va_list"
    r"|[us](8|16|32|64)|\w+_t)\b[\s*]+[\w(]|(?!return|goto)\w+\s+\*?\w+\s*[=;,[]"
)
_UNSEEN = re.compile(
    r"lockdep_|cond_resched|might_sleep|smp_\w*mb\b|rcu_read_|pr_|dump_stack|printk|WARN_ON|BUILD_BUG"
    r"|BUG_ON|va_start|va_end|\w*_(un)?(lock|pin_lock|repin_lock)\b|cpus_read_|percpu_(down|up)_|guard\b"
    r"|CLASS\b|k[v]?free|free_percpu|saakm_free_|console_|goto\b|DEFINE_|panic\b|ratelimit"
)


@dataclass(frozen=True)
class Fault:
    """What the text of a span becomes; `text` is empty where the statement goes."""

    file: str
    line: int
    function: str
    kind: str  # remove, negate, operator, return, or the name of a chosen line
    original: str
    text: str
    span: Span
    same: int = 0  # which of those that are alike in the function

    @property
    def key(self) -> str:
        """The same as long as its own text is, wherever it moves in the file."""
        told = "\0".join([self.file, self.function, self.kind, self.original, self.text])
        return hashlib.sha256(f"{told}\0{self.same}".encode()).hexdigest()[:12]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.original, self.text))
        return f"{self.file}:{self.line} {self.function}: {before} -> {after or 'nothing'}"


def faults_of(file: str, text: str) -> list[Fault]:
    """All that the tool thinks of, in order."""
    code = blanked(text)
    found: list[Fault] = []
    seen: dict[tuple[str, str, str, str], int] = {}
    for span in spans(text):
        original = text[span.start : span.end]
        for kind, changed in _changes(span, original, code[span.start : span.end]):
            told = (span.function, kind, original, changed)
            seen[told] = seen.get(told, -1) + 1
            line = text.count("\n", 0, span.start) + 1
            found.append(
                Fault(file, line, span.function, kind, original, changed, span, seen[told])
            )
    return found


def _changes(span: Span, text: str, code: str) -> list[tuple[str, str]]:
    if span.kind == "condition":
        return [("negate", f"!({text})"), *_flipped(text, code, alone=True)]
    if _DECLARES.match(code) or _UNSEEN.match(code):
        return []
    if re.match(r"return\b\s*[^;\s]", code):
        return _returns(span, text, code) + _flipped(text, code, alone=True)
    return [("remove", ""), *_flipped(text, code, alone=False)]


def _returns(span: Span, text: str, code: str) -> list[tuple[str, str]]:
    value = text[len("return") : -1].strip()
    if "*" in span.returns:
        return [] if value == "NULL" else [("return", "return NULL;")]
    if re.search(r"\bbool\b", span.returns):
        return [("return", f"return !({value});")]
    return [] if value == "0" else [("return", "return 0;")]


def _flipped(text: str, code: str, alone: bool) -> list[tuple[str, str]]:
    """`alone`: what is negated anyway; then == instead of != is nothing new."""
    found = list(operators(code))
    joined = any(match[0] in ("&&", "||") for match in found)
    return [
        ("operator", text[: match.start()] + _FLIPS[match[0]] + text[match.end() :])
        for match in found
        if not (alone and not joined and match[0] in ("==", "!="))
    ]


# --- lines that somebody chose ---


def chosen_faults(sources: dict[str, str], file: Path = CHOSEN_LINES) -> list[Fault]:
    """Those of lines.toml; each must still apply."""
    rows = tomllib.loads(file.read_text())["line"]
    return [_chosen(row, sources, file) for row in rows]


def _chosen(row: dict[str, str], sources: dict[str, str], file: Path) -> Fault:
    text = sources.get(row["file"], "")
    inside = [
        span
        for span in spans(text)
        if span.function == row["function"] and row["find"] in text[span.start : span.end]
    ]
    if len(inside) != 1:
        raise SaakmError(
            f"the line '{row['name']}' of {file.name} does not apply",
            f"{len(inside)} conditions or statements of {row['file']}, {row['function']}(), "
            f"have '{row['find']}'",
            f"adapt the entry in {file}, or delete it with the line",
        )
    span = inside[0]
    original = text[span.start : span.end]
    changed = original.replace(row["find"], row["replace"])
    line = text.count("\n", 0, span.start) + 1
    return Fault(row["file"], line, span.function, row["name"], original, changed, span)


# --- the rewritten source ---


def rewrite(text: str, numbered: Iterable[tuple[int, Fault]]) -> str:
    """The text of one file, with all of its faults in it; none is live by itself."""
    by_span: dict[Span, list[tuple[int, Fault]]] = {}
    for n, fault in numbered:
        by_span.setdefault(fault.span, []).append((n, fault))
    for span in sorted(by_span, key=lambda span: span.start, reverse=True):
        original = text[span.start : span.end]
        form = _condition if span.kind == "condition" else _statement
        text = text[: span.start] + form(original, by_span[span]) + text[span.end :]
    return text


def _condition(original: str, numbered: list[tuple[int, Fault]]) -> str:
    choice = "".join(f"saakm_live({n}) ? !!({fault.text}) : " for n, fault in numbered)
    return f"({choice}!!({original}))"


def _statement(original: str, numbered: list[tuple[int, Fault]]) -> str:
    choice = "".join(f"if (saakm_live({n})) {{ {fault.text} }} else " for n, fault in numbered)
    return f"{{ {choice}{{ {original} }} }}"
