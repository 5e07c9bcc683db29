# SPDX-License-Identifier: GPL-2.0
"""saakm sim: a policy in a simulated machine, without a kernel."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from ..base.files import check_output, make_output, refuse_input, write_text
from ..base.progress import meter
from ..model.schema import plain
from ..sim import coverage as covering
from ..sim import table as results
from ..sim import traced, verdict
from ..sim.asked import Asked, Course
from ..sim.build import build
from ..sim.crash import Failed
from ..sim.elsewhere import described
from ..sim.machine import USUAL
from ..sim.run import Outcome, run
from ..sim.scenario import Scenario
from ..sim.verdict import statuses
from ..view.terminal import label, table
from ..workload.builtin.options import Builtin
from ..workload.registry import listing
from . import sim_options as options
from .under import one_agent

_KEPT = _RESULT, _PROGRAM, _COSTS = "result.json", "workload.program", "costs.txt"
_MANY_EVENTS = 5_000_000  # in a trace: some 500 MB while it is written


@dataclass(frozen=True)
class Output:
    """Where the results go."""

    as_json: bool
    trace: Path | None
    coverage: Path | None
    out: Path | None

    def prepare(self, *inputs: Path) -> None:
        """Refuses what cannot be written, before anybody waits."""
        if self.coverage:
            make_output(self.coverage, covering.PROFILE, covering.RAW)
        if self.out:
            make_output(self.out, verdict.LOG)
            for name in _KEPT:
                refuse_input(self.out / name, *inputs)
        if self.trace and traced.is_file(self.trace):
            check_output(self.trace)
            make_output(self.trace.parent)  # it takes the place of an earlier one
        elif self.trace:
            make_output(self.trace, traced.TRACE)
        if self.trace:
            refuse_input(traced.file_of(self.trace), *inputs)


def sim(
    policy: options.Policy = "",
    agent: options.AgentOption = None,
    besides: options.Load = None,
    topology: options.Topology = USUAL,
    workload: options.Workload = "hackbench",
    seed: options.Seed = 1,
    simulated: options.For = "",
    param: options.Param = None,
    settings: options.Set = None,
    costs: options.Costs = None,
    free: options.Free = False,
    rate: options.Rate = None,
    sanitize: options.Sanitize = False,
    check: options.Check = False,
    interleave: options.Interleave = 0,
    compiler: options.CompilerOption = None,
    trace: options.Trace = None,
    coverage: options.Coverage = None,
    out: options.Out = None,
    as_json: options.Json = False,
    elsewhere: options.Elsewhere = False,
    list_them: options.List = False,
) -> None:
    """Run a policy in a simulated machine: the class and the policy, compiled as they are.

    The model of Linux around them is deterministic: a seed repeats to the event. The status is 1 if
    the class or a policy misbehaved, and 2 if something else kept it from a result: bad input.
    """
    if list_them:
        _list(as_json)
        return
    output = Output(as_json, trace, coverage, out)
    asked = Asked(
        policy=policy,
        besides=besides or (),
        topology=topology,
        workload=workload,
        seed=seed,
        simulated=simulated,
        params=param or (),
        settings=settings or (),
        costs=costs,
        free=free,
        rate=rate,
        sanitize=sanitize,
        check=check,
        interleave=interleave,
        compiler=compiler,
        coverage=coverage,
        agent=one_agent(agent),
    )
    with statuses():
        course = asked.course()
        if elsewhere:
            print(json.dumps(described(course)))
            return
        output.prepare(*asked.inputs())
        status = _conduct(course, output)
    raise typer.Exit(status)


def _conduct(course: Course, output: Output) -> int:
    program = build(course.modules, course.recipe, course.agent)
    with traced.events_file() if output.trace else nullcontext() as events:
        environment = covering.environment(output.coverage) if output.coverage else None
        try:
            outcome = _run(program, course.scenario, events, environment)
        except Failed as failure:
            _keep_failure(failure, course.scenario, output)
            raise
        if events and output.trace:
            found, machine = outcome.simulation, course.scenario.topology
            traced.write(events, found, machine, output.trace, course.title)
    covered = covering.report(program, output.coverage, course.modules) if output.coverage else None
    document = _document(course, outcome, covered)
    if output.out:
        _keep(output.out, course.scenario, outcome, document)
    if output.as_json:
        print(json.dumps(document, indent=2))
    else:
        results.show(outcome, course.title, Console())
        if covered is not None:
            covering.show(covered, Console())
        _tell_files(output)
    status = verdict.tell(outcome, output.out / verdict.LOG if output.out else None)
    if outcome.simulation.interrupted and not status:
        raise KeyboardInterrupt  # a loop of simulations ends as well
    return status


def _run(
    program: Path, scenario: Scenario, events: Path | None, environment: dict[str, str] | None
) -> Outcome:
    with meter("simulating (%)", total_comes=True) as progress:

        def on_progress(ns: int, happened: int) -> None:
            large = events and happened > _MANY_EVENTS
            hint = ", all in the trace: a shorter --for makes it smaller" if large else ""
            progress.describe(f"{happened:,} events{hint}")
            progress.reach(min(100 * ns / scenario.end_ns, 100), 100)

        return run(program, scenario, events, on_progress, environment, partial=True)


# --- what came of it ---


def _document(
    course: Course, outcome: Outcome, covered: list[covering.Covered] | None
) -> dict[str, Any]:
    found: dict[str, Any] = plain(outcome.simulation)
    found |= {
        "misbehaved": outcome.misbehaved,
        "cpu_seconds": round(outcome.cpu_seconds, 6),
        "events_per_second": outcome.events_per_second,
        "command": list(outcome.command),
    }
    if covered is not None:
        found["coverage"] = [one.as_json for one in covered]
    return found


def _keep(directory: Path, scenario: Scenario, outcome: Outcome, document: dict[str, Any]) -> None:
    write_text(directory / _RESULT, json.dumps(document, indent=2) + "\n")
    _keep_inputs(directory, scenario, outcome.log)


def _keep_inputs(directory: Path, scenario: Scenario, log: str) -> None:
    write_text(directory / verdict.LOG, log)
    write_text(directory / _PROGRAM, scenario.program)
    if scenario.costs is not None:
        write_text(directory / _COSTS, scenario.costs)


def _keep_failure(failure: Failed, scenario: Scenario, output: Output) -> None:
    """All that there is of a result."""
    if output.out:
        _keep_inputs(output.out, scenario, failure.log)
    if output.as_json:
        error = {"what": failure.what, "why": failure.why, "next": failure.next_step}
        document = {
            "misbehaved": failure.status == 1,
            "error": error,
            "command": list(failure.command),
        }
        print(json.dumps(document, indent=2))


def _tell_files(output: Output) -> None:
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if output.trace:
        console.print(
            f"{traced.file_of(output.trace)}: open it in https://ui.perfetto.dev (nothing is sent)"
        )
    if output.coverage:
        console.print(f"{output.coverage / covering.PAGE}: line by line")


def _list(as_json: bool) -> None:
    if as_json:
        print(json.dumps([_listed(one) for one in listing()], indent=2))
        return
    console = Console(highlight=False)
    for one in listing():
        # In columns side by side each would be a few words wide on a terminal of 80.
        rows = table("", label(""), "")
        rows.box, rows.show_header = None, False
        for option in one.options:
            rows.add_row(f"{option.name}={option.shown(option.default_for(4))}", option.what)
        console.print(f"[bold]{one.name}[/]: {escape(one.what)}")
        console.print(Padding(rows, (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(f"Source: {one.source}", "dim"), (0, 0, 1, 3), expand=False))
    console.print(
        "Values are those for 4 CPUs: saakm sim rr --workload hackbench:groups=2,loops=50"
    )


def _listed(one: Builtin) -> dict[str, Any]:
    options_of = [
        {"name": option.name, "what": option.what, "default": option.shown(option.default_for(4))}
        for option in one.options
    ]
    return {"name": one.name, "what": one.what, "source": one.source, "options": options_of}
