# SPDX-License-Identifier: GPL-2.0
"""A run, and the same once more while it is recorded; or that one alone (`unrecorded = false`)."""

from dataclasses import replace
from typing import Any

from msgspec import structs

from ...model import experiment
from ...model.workload import Workload
from ...trace.placement import EVENTS
from ..bench import script
from ..bench.metric import rows_of
from ..bench.rounds import Run
from ..bench.runner import Bench
from ..bench.schedulers import Scheduler
from . import recorded
from .machine import Machine

_TRACE_SECONDS = 180.0
_FAIR = Scheduler("fair", (), 0, "")


class Placed(Bench):
    """A run's round is its seed, which has a guest of its own: one for all workloads, as a scheduler
    that takes minutes to start stays in force from one to the next."""

    def __init__(
        self, place: Machine, workloads: dict[str, Workload], spec: experiment.Placement
    ) -> None:
        super().__init__(place, workloads, traced=False, boot_each=False)
        self._guest, self._spec = place, spec
        self._warm: set[tuple[int, str]] = set()

    def _prepare(self, run: Run) -> None:
        if self._guest.seed != run.round:
            self._guest.seed = run.round
        if self._guest.running:
            self._workload = run.variant.workload
        super()._prepare(run)
        self._guest.keep(run.scheduler.starter)

    def _measure_once(self, run: Run) -> dict[str, Any]:
        prefix = run.scheduler.prefix[len(run.scheduler.starter) :]
        run = replace(run, scheduler=replace(run.scheduler, prefix=prefix))
        self._warm_up(run)
        overhead = self._overhead(run)
        kept: dict[str, Any] = {}
        if self._spec.unrecorded:
            kept = self._figures(run, *self._done(run), overhead)
        said, executed = self._recorded(run)
        kept = kept or self._figures(run, said, executed, overhead)
        found = recorded.of_file(self._guest.trace_here, said["pid"], self._guest.cut)
        found = structs.replace(found, seconds=said["seconds"], executed=executed - overhead)
        return {**kept, "placement": found}

    def _warm_up(self, run: Run) -> None:
        """Files come into the guest's memory, while its clock leaps. How it ends is no matter."""
        name = (self._guest.boots, run.variant.name)
        if self._spec.warm_up and name not in self._warm:
            self._run(replace(run, scheduler=_FAIR), run.variant.command)
            self._warm.add(name)

    def _figures(
        self, run: Run, said: dict[str, Any], executed: float, overhead: float
    ) -> dict[str, Any]:
        rows = rows_of(run.variant, said["output"], counts=True)
        return {**self._kept(run, said, executed - overhead), "rows": rows}

    def _recorded(self, run: Run) -> tuple[dict[str, Any], float]:
        """Instructions of trace-cmd itself do not count."""
        file, kib = self._guest.trace_there, self._spec.buffer * 1024
        start, stop = script.recording(file, EVENTS, kib)
        self._guest.run(start, _TRACE_SECONDS).check()
        try:
            done = self._done(run)
            self._guest.check_kept()
            return done
        finally:
            if self._guest.running:
                self._guest.run(stop, _TRACE_SECONDS).check()
