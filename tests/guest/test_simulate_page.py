# SPDX-License-Identifier: GPL-2.0
"""docs/how-to/simulate.md: its commands."""

import json
import signal

import pytest

from .document import Reader, checkout  # noqa: F401

PAGE = "how-to/simulate.md"


@pytest.mark.limit(300)
def test_page_as_written(checkout):  # noqa: F811
    reader = Reader(checkout, PAGE)
    assert "vtime on 1s4c: hackbench" in reader.run("./saakm sim vtime")
    assert "rr on 8s64c2t" in reader.run("./saakm sim rr --topology 8s64c2t")
    found = reader.run("./saakm sim rr --topology 2s4c2t")
    assert json.loads(found[found.index("{") : found.rindex("}") + 1])["cpus"] == 16
    assert "CPU wait" in reader.run("./saakm sim rr --sanitize --check")
    assert "CPU wait" in reader.run("./saakm sim rr --sanitize --interleave")
    assert "hypervisor" in reader.run("./saakm sim rr --load vtime --workload torture")
    loop = reader.start("./saakm dev rr --sim")
    assert any("version 1 ran" in line for line in loop.stdout)
    loop.send_signal(signal.SIGINT)
    assert loop.wait() == 0
    assert "vtime.c" in reader.run("./saakm sim vtime --topology 2s4c2t --coverage")
    assert (checkout / "covered" / "index.html").is_file()
    assert "traced" in reader.run("./saakm sim rr --trace")
    assert list((checkout / "traced").glob("*.perfetto-trace"))
    assert "thundering" in reader.run("./saakm sim --list").lower()
    assert "rr on 1s4c: traced" in reader.run("./saakm sim rr --free --workload traced")
    assert reader.at_the_end()
