# SPDX-License-Identifier: GPL-2.0
"""docs/how-to/debug-a-stall.md, as it is written."""

import re

import pytest

from .document import Reader, checkout  # noqa: F401


@pytest.mark.kernel("base")
@pytest.mark.limit(400)
def test_a_stall_is_found(checkout):  # noqa: F811
    reader = Reader(checkout, "how-to/debug-a-stall.md")
    reader.run("./saakm new stalls")
    reader.write_code(2)
    said = reader.run("./saakm run stalls --exact", status=1)
    stalled = re.search(r"ejected \(stall\) in none: (\S+/\d+) has been READY on CPU (\d)", said)
    assert stalled, said
    with reader.start("./saakm run stalls --exact --cpus 2 --gdb") as again:
        try:
            # There may be others' guests.
            mine = f"./saakm gdb {again.pid} --wait 120"
            queues = reader.run("./saakm gdb", instead=mine)
            again.communicate()
        finally:
            again.kill()
    # The same thread on the same CPU: the run was the same until it was stopped.
    found = rf"^CPU {stalled[2]} .*\n.*\n +core->rq of stalls, FIFO, 1: {stalled[1]} \(30\.\d s\)$"
    assert re.search(found, queues, re.M), queues
    reader.write_code(1)
    reader.run("./saakm run stalls --exact")
    assert reader.at_the_end()
