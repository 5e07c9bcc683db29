# SPDX-License-Identifier: GPL-2.0
"""A guest whose caches are cut, and which boots with another seed for each round."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from ...model.results import Shape
from ...trace.cut import Cut
from ...vm.options import VmOptions
from ..bench.in_guest import InGuest


class Machine(InGuest):
    def __init__(
        self, vm: VmOptions, policies: Mapping[str, Path | None], patches_code: bool, cut: Cut
    ):
        super().__init__(vm, policies, patches_code)
        self.cut, self.boots = cut, 0

    @property
    def machine(self) -> Shape:
        return structs.replace(super().machine, vllc=self.cut.groups)

    @property
    def seed(self) -> int:
        return self._vm.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        """The next boot's: this one ends."""
        self.close()
        self._vm = replace(self._vm, seed=seed)

    def boot(self) -> None:
        super().boot()
        self.boots += 1
