# SPDX-License-Identifier: GPL-2.0
"""Does the runs of a plan and makes a record of each."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import GuestError, SaakmError
from ..splats import find_splats
from . import latency, script
from .in_guest import InGuest
from .metric import value_of
from .on_host import OnHost
from .plan import Run
from .store import RUN, Record, key
from .workloads import Variant, Workload

_SETUP_SECONDS = 300.0
# The guest's own timeout comes first; this one means that the guest hangs.
_MARGIN = 90.0
_TRACE_SECONDS = 120.0
# While a deterministic guest waits for the host to read a file, its clock jumps from timer to timer.
_JUMPS = 1000
_GIVE_UP_AFTER = 2  # failures of a variant under a scheduler
_TIMED_OUT = (124, 137)  # timeout(1), and when it had to kill


class Bench:
    """Runs in a place. `traced`: with wakeup latencies, which disturbs the times."""

    def __init__(self, place: InGuest | OnHost, workloads: dict[str, Workload], traced: bool,
                 boot_each: bool):
        self._place, self._workloads = place, workloads
        self._traced, self._boot_each = traced, boot_each
        self._workload = ""
        self._ready: set[tuple[str, str]] = set()
        self._heard = 0
        self._failed: Counter[tuple[str, str, str]] = Counter()
        self.failures: list[str] = []
        self.splats: list[str] = []

    def todo(self, plan: Iterable[Run], done: set[str]) -> list[Run]:
        """What is not done, with the warm-ups for it: an earlier guest's do not help this one."""
        plan = list(plan)
        left = {id(run) for run in plan if run.counts and key(self._frame(run)) not in done}
        wanted = {(run.variant.workload, run.variant.name) for run in plan if id(run) in left}
        return [run for run in plan
                if id(run) in left
                or not run.counts and (run.variant.workload, run.variant.name) in wanted]

    def record(self, run: Run) -> Record | None:
        """None when there have been too many failures to try again."""
        name = (run.variant.workload, run.variant.name, run.scheduler.name)
        if self._failed[name] >= _GIVE_UP_AFTER:
            return None
        record = self._frame(run)
        try:
            self._prepare(run)
            record |= self._measure(run)
        except SaakmError as error:
            record["error"] = f"{error.what}: {error.why}"
            if isinstance(error, GuestError):
                record["error"] += "\n" + error.tail
            self._failed[name] += 1
            self.failures.append(f"{' '.join(name)}: {record['error']}")
        record["splats"] = self._new_splats()
        return record

    def _frame(self, run: Run) -> Record:
        variant = run.variant
        self._place.need(self._workloads[variant.workload].memory)
        machine = self._place.machine
        # Time that counts instructions is what something costs, not how long it takes.
        by_count = machine.get("deterministic") and variant.meaning == "time"
        return {
            "kind": RUN, "workload": variant.workload, "variant": variant.name,
            "family": variant.family, "point": variant.point, "definition": variant.definition,
            "scheduler": run.scheduler.name, "build": run.scheduler.build, "round": run.round,
            "traced": self._traced, "kernel": self._place.kernel, "machine": machine,
            "unit": variant.unit, "better": variant.better,
            "meaning": "cost" if by_count else variant.meaning,
            "when": time.strftime("%Y-%m-%dT%H:%M:%S"), "value": None, "error": None,
        }

    def _prepare(self, run: Run) -> None:
        """A guest with the workload's input in it; another one for another workload."""
        name = run.variant.workload
        if name != self._workload or self._boot_each or not self._place.running:
            self._place.need(self._workloads[name].memory)
            self._place.boot()
            self._workload, self._ready, self._heard = name, set(), 0
        if run.variant.setup and (name, run.variant.setup) not in self._ready:
            done = self._place.run(script.setup(run.variant.setup), _SETUP_SECONDS)
            _check_setup(run.variant, done.status, done.stderr or done.stdout)
            self._ready.add((name, run.variant.setup))

    def _measure(self, run: Run) -> dict[str, Any]:
        variant, place = run.variant, self._place
        jumps = _JUMPS if place.machine.get("deterministic") else 1
        text = script.one_run(variant.command, run.scheduler.prefix, variant.timeout * jumps,
                              place.python_path, place.trace_there if self._traced else "")
        ended = {row["name"] for row in place.ejected()}
        limit = variant.timeout + _MARGIN + (_TRACE_SECONDS if self._traced else 0)
        done = place.run(text, limit)
        if new := [row for row in place.ejected() if row["name"] not in ended]:
            place.close()  # what runs after an ejection is fair's
            raise _ejected(new[0])
        if done.status in _TIMED_OUT:
            raise SaakmError(f"did not end within {variant.timeout:g} s",
                             "it hangs under this scheduler, or is slow on this machine", "")
        return self._results(run, _said(done.stdout, done.stderr))

    def _results(self, run: Run, said: dict[str, Any]) -> dict[str, Any]:
        if said["status"]:
            raise SaakmError(f"ended with status {said['status']}", said["output"].strip()[-800:], "")
        if said["classes"] != [run.scheduler.number] * 2:
            raise SaakmError("was not run under the scheduler",
                             f"its class was {said['classes']}, not {run.scheduler.number}", "")
        # Such a clock jumps while nobody runs: what was executed is the cost.
        counted = self._place.machine.get("deterministic")
        seconds = said["user"] + said["system"] if counted else said["seconds"]
        value = value_of(run.variant, said["output"], seconds)
        kept = {name: said[name] for name in ("seconds", "user", "system", "switches", "involuntary")}
        if self._traced:
            kept["latency"] = latency.of_file(self._place.trace_here, said["pid"])
        return {"value": value, **kept}

    def _new_splats(self) -> list[str]:
        text = self._place.said()
        new = find_splats(text[self._heard:])
        self._heard = len(text)
        self.splats += new
        return new


def do_all(bench: Bench, runs: list[Run], keep: Callable[[Record], None],
           progress: Any) -> None:
    for run in runs:
        progress.describe(f"{run.variant.workload} {run.variant.name} {run.scheduler.name}")
        if record := bench.record(run):
            keep(record)
        progress.advance()


def _check_setup(variant: Variant, status: int, said: str) -> None:
    if status:
        raise SaakmError(f"the setup of {variant.workload} ended with status {status}",
                         said.strip()[-800:] or "it said nothing", "")


def _said(stdout: str, stderr: str) -> dict[str, Any]:
    try:
        return json.loads(stdout)
    except ValueError as error:
        raise SaakmError("could not be started", (stderr or stdout).strip()[-800:], "") from error


def _ejected(row: dict[str, str]) -> SaakmError:
    return SaakmError(f"the policy was ejected ({row['kind']})",
                      f"in {row['handler']}: {row['reason']}", "")
