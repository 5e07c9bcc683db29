# SPDX-License-Identifier: GPL-2.0
"""saakm dev: a guest that runs each version of a policy as it is saved."""

import contextlib
import os
import shlex
import sys
import time
from dataclasses import replace
from typing import Annotated

import typer

from ..base.errors import SaakmError
from ..base.progress import meter
from ..dev import sample
from ..dev.loop import Session
from ..dev.plain import Plain
from ..dev.screen import Screen
from ..trace.events import enabled_at_boot
from ..vm.options import VmOptions, with_machine_options
from .run import boot, check_policy, report_splats

_POLL_SECONDS = 0.1
_SAMPLE_SECONDS = 1.0


@with_machine_options
def dev(
    vm: VmOptions,
    policy: Annotated[str, typer.Argument(help="A policy's name or directory.")],
    workload: Annotated[
        str, typer.Option("--workload", help="The command that runs again and again.")
    ] = "hackbench -g 4 -l 200",
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live view.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The lines as JSON objects.")] = False,
    seconds: Annotated[float, typer.Option("--for", help="End after so many seconds.")] = 0.0,
) -> None:
    """Edit a policy while it runs: every save is built and replaces it, live.

    A version that does not compile or is refused changes nothing. One that is ejected is
    replaced by the next.
    """
    source = check_policy(policy)
    if not source:
        raise SaakmError(
            f"'{policy}' cannot be edited", "it is the kernel's own scheduler", "saakm new NAME"
        )
    append = [*(vm.append or []), enabled_at_boot(sample.EVENTS)]
    with boot(replace(vm, append=append)) as guest:
        sample.prepare(guest)
        session = Session(guest, source, shlex.split(workload))
        try:
            with meter("building the first version"):
                session.start()
            lines = plain or as_json or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb"
            view = Plain(source, as_json) if lines else Screen(source)
            with contextlib.suppress(KeyboardInterrupt), view:
                view.started(workload)
                _follow(session, view, time.monotonic() + seconds if seconds else float("inf"))
        finally:
            session.close()
            report_splats(guest)


def _follow(session: Session, view: Plain | Screen, until: float) -> None:
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
