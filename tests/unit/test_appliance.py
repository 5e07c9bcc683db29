# SPDX-License-Identifier: GPL-2.0
"""A guest of files is the same guest wherever it is made: else it runs differently."""

import os

import pytest

from saakm.vm.appliance import Appliance, pack


@pytest.fixture
def mask():
    """Sets the umask, which is everybody's, for this test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def packed(tmp_path, name, at):
    place = tmp_path / name
    place.mkdir()
    init, module, library = (place / name for name in ("init", "rr.ko", "library"))
    for file in (init, module, library):
        file.write_text("the same")
        os.utime(file, (at, at))
    init.chmod(0o777 & ~os.umask(os.umask(0)))
    files = {"rr.ko": module, "lib/library": library}
    return pack(place, Appliance(place / "vmlinux", init, files)).read_bytes()


def test_neither_time_nor_place_nor_umask_is_seen_in_the_guest(tmp_path, mask):
    mask(0o022)
    usual = packed(tmp_path, "usual", 1_000_000)
    mask(0o077)
    assert packed(tmp_path, "elsewhere", 2_000_000) == usual
    mask(0o002)
    assert packed(tmp_path, "third", 3_000_000) == usual
