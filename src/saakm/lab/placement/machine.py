# SPDX-License-Identifier: GPL-2.0
"""A guest whose caches are cut, which boots with another seed for each round, and in which a scheduler
stays in force from one command to the next."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from ...model.results import Shape
from ...model.workload import Workload
from ...trace.cut import Cut
from ...vm.options import VmOptions
from ..bench.in_guest import InGuest

# One from crates.io takes some minutes, for its verification.
_START_SECONDS = 900.0
_STOP_SECONDS = 120.0
# The command that it is started for writes down its own number, and waits until it is killed.
_START = """\
cd /run/saakm && rm -f waits ended
({{ setsid {command} </dev/null; echo $? >ended; }} >said 2>&1 &)
until [ -s waits ]; do
	[ ! -e ended ] || {{ cat said >&2; exit 1; }}
	sleep 0.1
done
"""
_WAIT = "echo $$ >waits; exec sleep infinity"
_STOP = """\
cd /run/saakm && kill $(cat waits)
until [ -s ended ]; do sleep 0.1; done
read status <ended && [ $status = 143 ] || { cat said >&2; exit 1; }
"""
_CHECK = """grep -qx enabled /sys/kernel/sched_ext/state || { cat /run/saakm/said >&2; exit 1; }
"""


class Machine(InGuest):
    def __init__(
        self,
        vm: VmOptions,
        policies: Mapping[str, Path | None],
        patches_code: bool,
        cut: Cut,
        workloads: Collection[Workload],
    ):
        super().__init__(vm, policies, patches_code)
        self.cut, self.boots, self._workloads = cut, 0, workloads
        self._started: tuple[str, ...] = ()

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

    def need(self, *_: Workload) -> None:
        """What any of them does: one guest runs them all."""
        super().need(*self._workloads)

    def boot(self) -> None:
        super().boot()
        self.boots += 1
        self._started = ()

    def keep(self, starter: tuple[str, ...]) -> None:
        """Starts a scheduler that is not in force yet; whichever was ends."""
        if starter == self._started:
            return
        if self._started:
            self._started = ()
            self.run(_STOP, _STOP_SECONDS).check()
        if starter:
            command = shlex.join([*starter, "sh", "-c", _WAIT])
            self.run(_START.format(command=command), _START_SECONDS).check()
            self._started = starter

    def check_kept(self) -> None:
        """Whoever chose a scheduler that is gone runs under fair."""
        if not self._started:
            return
        found = self.run(_CHECK, _STOP_SECONDS)
        if found.status:
            self._started = ()
            self.run(_STOP, _STOP_SECONDS)  # its status is not the next one's fault
            found.check()
