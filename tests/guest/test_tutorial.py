# SPDX-License-Identifier: GPL-2.0
"""docs/tutorial.md, as a newcomer would follow it: commands and code as they stand there."""

import signal
import time

import pytest

from .document import Reader, checkout  # noqa: F401


def wait_for(child, words):
    for line in child.stdout:
        if words in line:
            return line
    pytest.fail(f"'{words}' never came: {child.stderr.read()}", pytrace=False)


@pytest.mark.kernel("base")
@pytest.mark.limit(280)
def test_tutorial_as_written(checkout):  # noqa: F811
    reader = Reader(checkout, "tutorial.md")
    reader.run("./saakm build")
    begin = time.monotonic()
    assert "policies/mine" in reader.run("./saakm new mine")
    assert "Time: " in reader.run("./saakm run mine -- hackbench")
    loop = reader.start("./saakm dev mine")
    wait_for(loop, "version 1 schedules")
    reader.write_code(blocks=1)
    wait_for(loop, "version 2 schedules")
    print(f"first change of one's own runs {time.monotonic() - begin:.0f} s after saakm new")
    reader.write_code(blocks=2)
    wait_for(loop, "version 3 schedules")
    reader.edit("mine_place(event, core);", "mine_place(event, core)")
    wait_for(loop, "version 3 goes on")
    reader.edit("mine_place(event, core)", "mine_place(event, core);")
    wait_for(loop, "version 4 schedules")
    loop.send_signal(signal.SIGINT)
    loop.wait()
    assert ".perfetto-trace" in reader.run("./saakm trace mine")
    assert "mine on 8s64c2t" in reader.run("./saakm sim mine --topology")
    assert "CPU wait" in reader.run("./saakm sim mine --sanitize")
    loop = reader.start("./saakm dev mine --sim")
    wait_for(loop, "version 1 ran")
    loop.send_signal(signal.SIGINT)
    assert loop.wait() == 0
    reader.write_code()
    assert "ejected (wrong-election) in schedule" in reader.run("./saakm run mine", status=1)
    assert reader.at_the_end()
