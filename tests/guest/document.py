# SPDX-License-Identifier: GPL-2.0
"""Follows a page of docs/ as a reader would: commands and code as they stand there."""

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths

_COMMAND = re.compile(r"^    (\./saakm .*)$", re.M)
_CODE = re.compile(r"^```c (\S+): (before|instead of) (.*)\n((?:.*\n)*?)```$", re.M)


@pytest.fixture
def checkout(tmp_path):
    """A fresh one, but with the caches of this machine."""
    target = tmp_path / "saakm"
    names = subprocess.run(["git", "ls-files"], cwd=paths.REPO, capture_output=True, text=True)
    for name in names.stdout.splitlines():
        file = paths.REPO / name
        if file.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target / name)
    return target


def _let_ctrl_c_through():
    """Whoever runs the tests in the background may have switched it off for all children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Reader:
    """Follows the text from top to bottom."""

    def __init__(self, checkout: Path, page: str):
        text = (paths.REPO / "docs" / page).read_text()
        self.checkout = checkout
        self._commands, self._code = _COMMAND.findall(text), _CODE.findall(text)

    def run(self, begin, status=0, instead=None):
        """The next command, which begins so; `instead` of that, it shall begin so."""
        command = self._commands.pop(0)
        assert command.startswith(begin)
        command = command.replace(begin, instead or begin, 1)
        done = subprocess.run(
            command, shell=True, cwd=self.checkout, capture_output=True, text=True
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, begin):
        command = self._commands.pop(0)
        assert command.startswith(begin)
        return subprocess.Popen(
            f"exec {command}", shell=True, cwd=self.checkout, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_let_ctrl_c_through,
        )  # fmt: skip

    def write_code(self, blocks=None):
        """So many of the next blocks, else all of them, then one save."""
        now, self._code = self._code[:blocks], self._code[len(self._code[:blocks]) :]
        file = self.checkout / now[0][0]
        text = file.read_text()
        for path, where, anchor, code in now:
            assert path == now[0][0] and anchor in text
            text = text.replace(
                anchor, code + anchor if where == "before" else code.rstrip("\n"), 1
            )
        file.write_text(text)

    def edit(self, old, new):
        file = self.checkout / "policies/mine/mine.c"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def at_the_end(self):
        return not self._commands and not self._code
