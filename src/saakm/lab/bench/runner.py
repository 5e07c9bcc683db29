# SPDX-License-Identifier: GPL-2.0
"""Does the runs of a plan and makes a record of each."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from ...base.errors import GuestError, SaakmError
from ...builder.programs import compile_static
from ...model.results import RunRecord
from ...model.workload import Variant, Workload, program_source
from ...vm import features
from ...vm.guest import Result
from ...vm.splats import find_splats
from . import latency, script
from .in_guest import InGuest
from .metric import rows_of, value_of
from .on_host import OnHost
from .rounds import Run

_SETUP_SECONDS = 300.0
# The guest's own timeout comes first; this one means that the guest hangs.
_MARGIN = 90.0
_TRACE_SECONDS = 120.0
# While a deterministic guest waits for the host to read a file, its clock jumps from timer to timer.
_JUMPS = 1000
MILLIONS = "M instructions"
_GIVE_UP_AFTER = 2  # failures of a variant under a scheduler
_TIMED_OUT = (124, 137)  # timeout(1), and when it had to kill


class Bench:
    """Runs in a place. `traced`: with wakeup latencies, which disturbs the times."""

    def __init__(
        self, place: InGuest | OnHost, workloads: dict[str, Workload], traced: bool, boot_each: bool
    ):
        self._place, self._workloads = place, workloads
        self._traced, self._boot_each = traced, boot_each
        self._counts = bool(place.machine.deterministic)
        self._workload = ""
        self._ready: set[tuple[str, str]] = set()
        self._heard = 0
        self._overheads: dict[str, float] = {}
        self._failed: Counter[tuple[str, str, str]] = Counter()
        self.failures: list[str] = []
        self.splats: list[str] = []

    def todo(self, plan: Iterable[Run], done: set[str]) -> list[Run]:
        """What is not done, with the warm-ups for it: an earlier guest's do not help this one."""
        plan = list(plan)
        left = {id(run) for run in plan if run.counts and self._frame(run).key not in done}
        wanted = {(run.variant.workload, run.variant.name) for run in plan if id(run) in left}
        return [
            run
            for run in plan
            if id(run) in left
            or not run.counts
            and (run.variant.workload, run.variant.name) in wanted
        ]

    def frames(self, plan: Iterable[Run]) -> list[RunRecord]:
        """What the records of these will say before anything has run."""
        return [self._frame(run) for run in plan]

    def record(self, run: Run) -> RunRecord | None:
        """None when there have been too many failures to try again."""
        name = (run.variant.workload, run.variant.name, run.scheduler.name)
        if self._failed[name] >= _GIVE_UP_AFTER:
            return None
        record = self._frame(run)
        try:
            self._prepare(run)
            record = replace(record, **self._measure(run))
        except SaakmError as error:
            words = f"{error.what}: {error.why}"
            words += f"\n{error.tail}" if isinstance(error, GuestError) else ""
            record = replace(record, error=words)
            self._failed[name] += 1
            self.failures.append(f"{' '.join(name)}: {words}")
        return replace(record, splats=tuple(self._new_splats()))

    def _frame(self, run: Run) -> RunRecord:
        variant = run.variant
        self._place.need(self._workloads[variant.workload])
        # Time that counts instructions is what something costs, not how long it takes.
        by_count = self._counts and variant.meaning == "time"
        unit = MILLIONS if _is_cost(variant, self._counts) else variant.unit
        return RunRecord(
            workload=variant.workload,
            variant=variant.name,
            family=variant.family,
            point=variant.point,
            definition=variant.definition,
            scheduler=run.scheduler.name,
            build=run.scheduler.build,
            round=run.round,
            traced=self._traced,
            kernel=self._place.kernel,
            linux=self._place.linux,
            machine=self._place.machine,
            unit=unit,
            better=variant.better,
            meaning="cost" if by_count else variant.meaning,
            when=time.strftime("%Y-%m-%dT%H:%M:%S"),
        )

    def _prepare(self, run: Run) -> None:
        """A guest with the workload's input in it; another one for another workload."""
        name = run.variant.workload
        if name != self._workload or self._boot_each or not self._place.running:
            self._place.need(self._workloads[name])
            self._place.boot()
            self._workload, self._ready, self._heard, self._overheads = name, set(), 0, {}
        self._place.check(run.variant)
        programs = {one: compile_static(program_source(one)) for one in run.variant.programs}
        text = script.setup(run.variant, programs)
        if text and (name, text) not in self._ready:
            done = self._place.run(text, _SETUP_SECONDS)
            _check_setup(run.variant, done.status, done.stderr or done.stdout)
            self._ready.add((name, text))
        self._place.use(run.scheduler)

    def _measure(self, run: Run) -> dict[str, Any]:
        before = features.set_in(self._place, run.scheduler.features)
        try:
            return self._measure_once(run)
        finally:
            if self._place.running:
                features.write(self._place, before)

    def _measure_once(self, run: Run) -> dict[str, Any]:
        overhead = self._overhead(run) if self._counts else 0.0
        said, executed = self._done(run)
        kept = self._kept(run, said, executed - overhead)
        if self._traced:
            return {**kept, "latency": latency.of_file(self._place.trace_here, said["pid"])}
        return {**kept, "rows": rows_of(run.variant, said["output"], self._counts)}

    def _done(self, run: Run) -> tuple[dict[str, Any], float]:
        """What a run said that went well, and the millions of instructions that were executed."""
        place = self._place
        ended = {row["name"] for row in place.ejected()}
        done, executed = self._run(run, run.variant.command)
        if new := [row for row in place.ejected() if row["name"] not in ended]:
            place.close()  # what runs after an ejection is fair's
            raise _ejected(new[0])
        if done.status in _TIMED_OUT:
            raise SaakmError(
                f"did not end within {run.variant.timeout:g} s",
                "it hangs under this scheduler, or is slow on this machine",
                "",
            )
        said = _said(done.stdout, done.stderr)
        _check_said(run, said)
        return said, executed

    def _kept(self, run: Run, said: dict[str, Any], executed: float) -> dict[str, Any]:
        """The figure, and what any run says."""
        kept = {
            name: said[name] for name in ("seconds", "user", "system", "switches", "involuntary")
        }
        if self._counts:
            kept["executed"] = executed
        if _is_cost(run.variant, self._counts):
            return {"value": executed, **kept}
        return {"value": value_of(run.variant, said["output"], said["seconds"]), **kept}

    def _run(self, run: Run, command: str) -> tuple[Result, float]:
        """And the millions of instructions that were executed meanwhile."""
        place, timeout = self._place, run.variant.timeout
        text = script.one_run(
            command,
            run.scheduler.prefix,
            timeout * (_JUMPS if self._counts else 1),
            place.python_path,
            place.trace_there if self._traced else "",
        )
        limit = timeout + _MARGIN + (_TRACE_SECONDS if self._traced else 0)
        if not self._counts:
            return place.run(text, limit), 0.0
        begin = place.instructions
        done = place.run(text, limit)
        return done, (place.instructions - begin) / 1e6

    def _overhead(self, run: Run) -> float:
        """Measures what it costs to start a run, which is not the workload's. The first one fills caches."""
        name = run.scheduler.name
        if name not in self._overheads:
            self._overheads[name] = [self._run(run, "true")[1] for _ in range(2)][-1]
        return self._overheads[name]

    def _new_splats(self) -> list[str]:
        text = self._place.said()
        new = find_splats(text[self._heard :])
        self._heard = len(text)
        self.splats += new
        return new


def do_all(bench: Bench, runs: list[Run], keep: Callable[[RunRecord], None], progress: Any) -> None:
    for run in runs:
        progress.describe(f"{run.variant.workload} {run.variant.name} {run.scheduler.name}")
        if record := bench.record(run):
            keep(record)
        progress.advance()


def _is_cost(variant: Variant, counts: bool) -> bool:
    """The clock of a guest that counts leaps while all its CPUs idle, and runs once for all of them: of
    what takes time, the instructions are the figure. A rate is taken as the program says it."""
    return counts and variant.meaning == "time" and variant.better == "lower"


def _check_said(run: Run, said: dict[str, Any]) -> None:
    if said["status"]:
        raise SaakmError(f"ended with status {said['status']}", said["output"].strip()[-800:], "")
    if said["classes"] != [run.scheduler.number] * 2:
        raise SaakmError(
            "was not run under the scheduler",
            f"its class was {said['classes']}, not {run.scheduler.number}",
            "",
        )


def _check_setup(variant: Variant, status: int, said: str) -> None:
    if status:
        raise SaakmError(
            f"the setup of {variant.workload} ended with status {status}",
            said.strip()[-800:] or "it said nothing",
            "",
        )


def _said(stdout: str, stderr: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(stdout)
        return said
    except ValueError as error:
        raise SaakmError("could not be started", (stderr or stdout).strip()[-800:], "") from error


def _ejected(row: dict[str, str]) -> SaakmError:
    return SaakmError(
        f"the policy was ejected ({row['kind']})", f"in {row['handler']}: {row['reason']}", ""
    )
