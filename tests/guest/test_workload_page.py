# SPDX-License-Identifier: GPL-2.0
"""docs/how-to/run-my-workload.md: its commands, and what it says of the guest."""

import hashlib
import re

import pytest

from saakm.base import paths

from .document import Reader, checkout  # noqa: F401
from .support import run_ok

PAGE = "how-to/run-my-workload.md"


@pytest.mark.kernel("base")
def test_page_as_written(checkout):  # noqa: F811
    reader = Reader(checkout, PAGE)
    assert "Time: " in reader.run("./saakm run rr -- hackbench")
    assert "Time: " in reader.run("./saakm run none -- hackbench")
    assert "before\n4\nafter\n" in reader.run("./saakm run rr -- sh -c")
    assert hashlib.sha256(bytes(8 << 20)).hexdigest() in reader.run("./saakm run rr -- sh -c")
    assert re.search(
        r"(?m)^rr .* RUNNING .* saakmctl$", reader.run("./saakm run rr -- saakmctl ps")
    )
    assert reader.at_the_end()


def test_what_the_guest_is(guest):
    said = run_ok(guest, "echo $HOME $(id -u); cat /proc/mounts; ip -o addr")
    assert said.startswith("/tmp 0\n")
    assert set(re.findall(r"^\d+: (\S+) +inet", said, re.M)) == {"lo"}
    for place in ("/tmp", "/var/tmp", "/run"):
        assert f" {place} tmpfs rw" in said
    sizes = run_ok(guest, "df -k --output=size /tmp | tail -1; grep MemTotal /proc/meminfo").split()
    assert 0.45 < int(sizes[0]) / int(sizes[2]) < 0.55
    assert guest.run("touch /root/x").status == 1


def test_what_the_kernel_is():
    page = (paths.REPO / "docs" / PAGE).read_text()
    config = (paths.CONFIGS / "base.config").read_text().splitlines()
    assert "`HZ=250`" in page and "CONFIG_HZ_250=y" in config
    assert "`PREEMPT=y`" in page and "CONFIG_PREEMPT=y" in config
    assert "tickless when idle" in page and "CONFIG_NO_HZ_IDLE=y" in config
