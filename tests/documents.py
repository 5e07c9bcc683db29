# SPDX-License-Identifier: GPL-2.0
"""The documentation as tests see it.

Every command on a page is run as it stands there. Who does it stands in a comment before the block:

    <!-- run by: tests/guest/test_x.py -->          these run each command, word for word
    <!-- run smaller by: tests/guest/test_x.py -->  the same command with these options and other
                                                    values, perhaps also with more options
    <!-- run by: tests/..., smaller by: tests/... -->   one or the other
    <!-- run in a guest -->                         tests/guest/test_documents.py, in the page's order
    <!-- not run: REASON -->

A page may instead name, anywhere, the test that runs all of it, which then must name the page. That
it is so is seen at the end of a run of all tests, from what was run: tests/options.py. All commands
of ours, run or not, must at least be understood by the program. A C block names the file that its
lines are from: ```c policies/fifo/fifo.c
"""

import re
import shlex
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from markdown_it import MarkdownIt

from saakm.base import paths

_MARK = re.compile(r"<!-- ((?:not )?run\b.*?) -->")
_TESTS = r"((?:tests/[\w/]+\.py ?)+)"
_TEST = re.compile(r"tests/[\w/]+\.py")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    info: str  # behind the fence
    text: str
    mark: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(paths.REPO)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """Without the comments behind them."""
        if self.info not in ("", "console", "sh"):
            return []
        lines = [re.sub(r"\s+#.*", "", line) for line in self.text.splitlines()]
        first = ("./saakm ", "saakmctl ", "echo ")
        return [line for line in lines if line.startswith(first)]

    @property
    def exact(self) -> list[Path]:
        """The tests that run its commands as they are."""
        match = re.match(rf"run by: {_TESTS}", self.mark)
        return _files(match[1]) if match else [] if self.mark else runners_of(self.page)

    @property
    def smaller(self) -> list[Path]:
        match = re.search(rf"\bsmaller by: {_TESTS}", self.mark)
        return _files(match[1]) if match else []


def words(command: str) -> list[str]:
    """What the program is given, without where its output goes."""
    return list(takewhile(lambda word: not word.startswith(">"), shlex.split(command)))[1:]


def _files(text: str) -> list[Path]:
    return [paths.REPO / name for name in _TEST.findall(text)]


def pages() -> list[Path]:
    return [paths.REPO / "README.md", *sorted((paths.REPO / "docs").rglob("*.md"))]


def runners_of(page: Path) -> list[Path]:
    """Those that run the whole page."""
    found = dict.fromkeys(_files(re.sub(r"<!-- .*? -->", "", page.read_text())))
    return [test for test in found if test.exists() and page.name in test.read_text()]


def blocks(page: Path) -> list[Block]:
    found, mark = [], ""
    for token in MarkdownIt().enable("table").parse(page.read_text()):
        if token.type == "html_block":
            match = _MARK.search(token.content)
            mark = match[1] if match else ""
        elif token.type in ("code_block", "fence"):
            found.append(Block(page, token.map[0] + 1, token.info.strip(), token.content, mark))
            mark = ""
        elif token.type != "html_inline":
            mark = ""
    return found


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]


def table(page: Path, heading: str) -> list[list[str]]:
    """Rows of the first table behind a heading."""
    text = page.read_text()
    assert heading in text, f"{page} has no '{heading}'"
    lines = text[text.index(heading) :].splitlines()[1:]
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(cell: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)
