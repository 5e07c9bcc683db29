# SPDX-License-Identifier: GPL-2.0
"""docs/tutorial.md, as a newcomer would follow it: commands and code as they stand there."""

import re
import shutil
import signal
import subprocess
import time

import pytest

from saakm import paths

TUTORIAL = (paths.REPO / "docs" / "tutorial.md").read_text()
_COMMAND = re.compile(r"^    (\./saakm .*)$", re.M)
_CODE = re.compile(r"^```c (\S+): before (.*)\n((?:.*\n)*?)```$", re.M)


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

    def __init__(self, checkout):
        self.checkout, self._commands = checkout, _COMMAND.findall(TUTORIAL)

    def run(self, begin, status=0):
        """The next command, which begins so."""
        command = self._commands.pop(0)
        assert command.startswith(begin)
        done = subprocess.run(command, shell=True, cwd=self.checkout, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, begin):
        command = self._commands.pop(0)
        assert command.startswith(begin)
        return subprocess.Popen(
            f"exec {command}", shell=True, cwd=self.checkout, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_let_ctrl_c_through,
        )  # fmt: skip

    def write_code(self):
        """All of it, then one save."""
        blocks = _CODE.findall(TUTORIAL)
        file = self.checkout / blocks[0][0]
        text = file.read_text()
        for path, anchor, code in blocks:
            assert path == blocks[0][0] and anchor in text
            text = text.replace(anchor, code + anchor, 1)
        file.write_text(text)

    def edit(self, old, new):
        file = self.checkout / "policies/mine/mine.c"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def at_the_end(self):
        return not self._commands


def wait_for(child, words):
    for line in child.stdout:
        if words in line:
            return line
    pytest.fail(f"'{words}' never came: {child.stderr.read()}", pytrace=False)


@pytest.mark.kernel("base")
@pytest.mark.limit(280)
def test_tutorial_as_written(checkout):
    reader = Reader(checkout)
    reader.run("./saakm build")
    begin = time.monotonic()
    assert "policies/mine" in reader.run("./saakm new mine")
    assert "Time: " in reader.run("./saakm run mine -- hackbench")
    loop = reader.start("./saakm dev mine")
    wait_for(loop, "version 1 schedules")
    reader.write_code()
    wait_for(loop, "version 2 schedules")
    print(f"first change of one's own runs {time.monotonic() - begin:.0f} s after saakm new")
    reader.edit("READY_TICK, core->id, NULL);", "READY_TICK, core->id, NULL)")
    wait_for(loop, "version 2 goes on")
    reader.edit("READY_TICK, core->id, NULL)", "READY_TICK, core->id, NULL);")
    wait_for(loop, "version 3 schedules")
    loop.send_signal(signal.SIGINT)
    loop.wait()
    assert ".perfetto-trace" in reader.run("./saakm trace mine")
    reader.edit("return saakm_curr(core) ?: saakm_rq_first(&per_cpu(mine_rq, core->id));", "return current;")
    assert "ejected (wrong-election) in schedule" in reader.run("./saakm run mine", status=1)
    assert reader.at_the_end()
