# SPDX-License-Identifier: GPL-2.0
"""saakm dev: a guest, or a simulated machine, that runs each version of a policy as it is saved."""

import contextlib
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..base.progress import meter
from ..builder import agents
from ..builder.agents import Agent
from ..builder.modules import module_file
from ..dev import sample
from ..dev.agent import AgentSession
from ..dev.loop import Session
from ..dev.plain import Plain
from ..dev.screen import Screen
from ..dev.simulated import OnProgress, Run, Simulated
from ..dev.simulated_view import SimulatedView
from ..sim.asked import Asked, source_of
from ..sim.verdict import statuses
from ..trace.events import enabled_at_boot
from ..vm.guest import Guest
from ..vm.options import OUR_KERNEL, VmOptions, with_vm_options
from . import dev_options as options
from .run import boot, report_splats
from .under import check_policy, one_agent

_POLL_SECONDS = 0.1
_SAMPLE_SECONDS = 1.0
_WORKLOAD = "hackbench -g 4 -l 200"
_SIMULATED_WORKLOAD = "hackbench"


@with_vm_options("timeout", *OUR_KERNEL)
def dev(
    vm: VmOptions,
    policy: Annotated[
        str, typer.Argument(help="A policy's name or directory; user: its agent is edited.")
    ],
    workload: Annotated[
        str,
        typer.Option(
            "--workload",
            help="The command that runs again and again; with --sim one of saakm sim --list, or a file.",
            show_default=f"{_WORKLOAD}; {_SIMULATED_WORKLOAD}",
        ),
    ] = "",
    agent: options.AgentOption = None,
    sim: Annotated[
        bool, typer.Option("--sim", help="In a simulated machine, anew for each save: no VM.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live view.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The lines as JSON objects.")] = False,
    seconds: Annotated[float, typer.Option("--for", help="End after so many seconds.")] = 0.0,
    each_for: options.EachFor = "",
    load: options.Load = None,
    param: options.Param = None,
    settings: options.Set = None,
    free: options.Free = False,
    sanitize: options.Sanitize = False,
    check: options.Check = False,
    interleave: options.Interleave = 0,
) -> None:
    """Edit a policy while it runs: every save is built and replaces it, live.

    A version that does not compile or is refused changes nothing. One that is ejected is
    replaced by the next. Of the policy user the agent is edited: each version is started with
    --take-over. With --sim each version is run from the beginning, in a simulated machine, and
    compared with the one before.
    """
    choices = options.Choices(
        load or (), param or (), settings or (), sanitize, check, interleave, free, each_for
    )
    if sim:
        with statuses():
            asked = choices.asked(policy, one_agent(agent), workload or _SIMULATED_WORKLOAD, vm)
            _simulate(asked, as_json, seconds)
        return
    choices.refuse_in_guest()
    decides = agents.chosen(policy, one_agent(agent))
    if decides:
        decides.refuse_hidden()
    source = check_policy(agents.apart(policy)[0])
    if not source:
        raise SaakmError(
            f"'{policy}' cannot be edited", "it is the kernel's own scheduler", "saakm new NAME"
        )
    lines = plain or as_json or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb"
    view = partial(_view, source, decides, as_json, lines)
    _live(vm, source, decides, workload or _WORKLOAD, view, seconds)


def _live(
    vm: VmOptions,
    source: Path,
    agent: Agent | None,
    workload: str,
    make_view: Callable[[], Plain | Screen],
    seconds: float,
) -> None:
    append = [*(vm.append or []), enabled_at_boot(sample.EVENTS)]
    with boot(replace(vm, append=append)) as guest:
        sample.prepare(guest)
        session = _session(guest, source, agent, shlex.split(workload))
        try:
            with meter("building the first version"):
                session.start()
            until = time.monotonic() + seconds if seconds else float("inf")
            with contextlib.suppress(KeyboardInterrupt), make_view() as view:
                view.started(workload)
                _follow(session, view, until)
        finally:
            session.close()
            report_splats(guest)


def _session(
    guest: Guest, source: Path, agent: Agent | None, workload: list[str]
) -> Session | AgentSession:
    if agent:
        return AgentSession(guest, agent, module_file(guest.kernel, source), workload)
    return Session(guest, source, workload)


def _view(source: Path, agent: Agent | None, as_json: bool, lines: bool) -> Plain | Screen:
    name = agent.text if agent else ""
    if agent:
        source = agent.project or (agent.sources() or [source])[-1]
    return Plain(source, as_json, name) if lines else Screen(source, name=name)


def _follow(session: Session | AgentSession, view: Plain | Screen, until: float) -> None:
    now, due = None, 0.0
    while time.monotonic() < until:
        if saves := session.saved():
            view.building()
            view.updated(session.update(saves))
        if time.monotonic() > due:
            now = sample.take(session.guest, session.policy, now)
            view.sampled(now)
            due = time.monotonic() + _SAMPLE_SECONDS
        time.sleep(_POLL_SECONDS)


def _simulate(asked: Asked, as_json: bool, seconds: float) -> None:
    """A first Ctrl-C in the middle of a run ends that one, whose beginning is shown, too."""
    source = source_of(agents.apart(asked.policy)[0])
    title = asked.course().title  # refuses what it must before anything is said
    session, view = Simulated(asked, source), SimulatedView(source, as_json)
    until = time.monotonic() + seconds if seconds else float("inf")
    try:
        with contextlib.suppress(KeyboardInterrupt), view:
            view.started(title)
            _tell(session.first, view)
            while time.monotonic() < until:
                if saves := session.saved():
                    _tell(partial(session.update, saves), view)
                time.sleep(_POLL_SECONDS)
    finally:
        session.close()


def _tell(step: Callable[[OnProgress], Run], view: SimulatedView) -> None:
    with meter("building and simulating") as progress:
        run = step(lambda _, events: progress.describe(f"{events:,} events"))
    view.ran(run)
    if run.result and run.result.simulation.interrupted:
        raise KeyboardInterrupt
