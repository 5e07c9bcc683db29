# SPDX-License-Identifier: GPL-2.0
"""How long saakm shell waits for its guest."""

import itertools
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from saakm.base.errors import GuestHung
from saakm.vm import guest
from saakm.vm.guest import Guest
from saakm.vm.running import hold


class Booting(Guest):
    """One whose boot's deadline is over whenever somebody looks, and whose QEMU ends by itself."""

    def __init__(self, exchange: Path):
        self.exchange = exchange
        self._qemu = subprocess.Popen(["sleep", "0.2"])
        self._clock = SimpleNamespace(spent=lambda: next(self._seconds), idle=lambda: 0.0)
        self._seconds = itertools.count(100, 100)

    def _boot_deadline(self) -> float:
        return 10.0

    def _hung(self, doing: str, seconds: float) -> GuestHung:
        return GuestHung(doing, f"{seconds:g} s", "", "")


@pytest.fixture
def booting(tmp_path):
    it = Booting(tmp_path)
    yield it
    it._qemu.kill()
    it._qemu.wait()


def test_a_boot_has_a_deadline(booting):
    with pytest.raises(GuestHung, match=guest._BOOTING):
        booting._end_of_shell()


def test_who_is_at_the_prompt_may_take_his_time(booting, tmp_path):
    (tmp_path / "prompt").touch()
    assert booting._end_of_shell() == 0


def test_a_boot_that_is_debugged_may_take_its_time(booting, tmp_path):
    hold(tmp_path)
    assert booting._end_of_shell() == 0
