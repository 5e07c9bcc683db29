# SPDX-License-Identifier: GPL-2.0
"""saakm check: what every policy must do, and what this one promises."""

import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import replacing
from ..base.progress import meter
from ..builder import kconfig
from ..builder.policies import find_policy
from ..lab.check import trial as trials
from ..lab.check import verdicts
from ..lab.check.checks import chosen_checks, parse_promises
from ..lab.check.evaluate import Finding
from ..lab.check.plan import USUAL, Level, Trial, fits, plan
from ..vm import appliance
from ..vm.topology import parse_topology


def check(
    policy: Annotated[
        str, typer.Argument(help="A policy's name or directory.", show_default=False)
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the essential checks, on the fast kernel.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Also other machines, and more seeds.")
    ] = False,
    only: Annotated[
        str, typer.Option("--only", help="Comma list of checks, each once: see --list.")
    ] = "",
    seed: Annotated[
        int,
        typer.Option("--seed", min=1, help="The same seed repeats everything, to the instruction."),
    ] = 1,
    promise: Annotated[
        str, typer.Option("--promise", help="Comma list: hold it to these promises as well.")
    ] = "",
    param: Annotated[
        list[str] | None,
        typer.Option("--param", help="Of the module, as slice_us=2000; may be repeated."),
    ] = None,
    config: Annotated[
        str, typer.Option("--config", help="With --only: the kernel, base or debug.")
    ] = "base",
    topology: Annotated[
        str, typer.Option("--topology", help="With --only: the machine, as 2s2c2t.")
    ] = USUAL,
    jobs: Annotated[
        int,
        typer.Option("-j", "--jobs", min=1, help="Guests at a time.", show_default="a CPU each"),
    ] = len(os.sched_getaffinity(0)),
    list_checks: Annotated[bool, typer.Option("--list", help="Say what is checked.")] = False,
    command: Annotated[
        bool,
        typer.Option("--command", help="Do not run the check; print the command that boots it."),
    ] = False,
    gdb: Annotated[
        bool, typer.Option("--gdb", help="With --only NAME: wait for saakm gdb before it begins.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Check a policy: threads, events, wakeups, affinity, storms, and what it promises.

    Each check is a boot of its own in deterministic time. The status is 0 if all held.
    """
    if list_checks:
        verdicts.show_checks(Console())
        return
    source = _source(policy)
    names = chosen_checks(only)
    wanted = parse_promises(promise, "--promise")
    level = _level(quick, full, only)
    planned = _alone(names, config, topology, seed) if only else plan(level, names, seed)
    if not only and (config, topology) != ("base", USUAL):
        raise SaakmError(
            "--config and --topology need --only",
            "without it, each check runs where it says most",
            "saakm check --list, then --only NAME",
        )
    with tempfile.TemporaryDirectory(prefix="saakm-") as files:
        subject = trials.prepare(source, param or [], {t.config for t in planned}, Path(files))
        promised = trials.promises(subject.module(planned[0].config)) + wanted
        # Who names a promise alone wants to know.
        left_out = [] if only else verdicts.skipped(names, promised)
        planned = [t for t in planned if t.check not in {row.check for row in left_out}]
        if command:
            _print_command(subject, planned)
            return
        rows = (_debug if gdb else partial(_run, jobs))(
            subject, planned, policy, _options(param or [])
        )
    rows = verdicts.in_order((rows if only else verdicts.excuse(rows)) + left_out)
    if as_json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    else:
        verdicts.show(subject.name, seed, rows, Console())
    raise typer.Exit(any(row.finding.verdict == "failed" for row in rows))


def _source(policy: str) -> Path:
    if not policy:
        raise SaakmError(
            "no policy is named", "saakm check POLICY, or saakm check --list", "saakm check rr"
        )
    source = find_policy(policy)
    if not source:
        raise SaakmError(
            f"'{policy}' cannot be checked",
            "it is the kernel's own scheduler, no module",
            "name a policy: saakm check rr",
        )
    return source


def _level(quick: bool, full: bool, only: str) -> Level:
    if quick + full + bool(only) > 1:
        raise SaakmError(
            "--quick, --full and --only exclude each other",
            "each says which checks run",
            "leave out all but one",
        )
    return Level.quick if quick else Level.full if full else Level.default


def _alone(names: list[str], config: str, topology: str, seed: int) -> list[Trial]:
    kconfig.fragments(config)
    parse_topology(topology)
    chosen = [Trial(name, config, topology, seed) for name in names]
    for trial in chosen:
        if not fits(trial):
            raise SaakmError(
                f"{trial.check} cannot be checked on {topology}",
                "it needs more than one CPU",
                f"--topology {USUAL}",
            )
    return chosen


def _options(parameters: list[str]) -> list[str]:
    return [word for parameter in parameters for word in ("--param", parameter)]


def _run(
    jobs: int, subject: trials.Subject, planned: list[Trial], policy: str, options: list[str]
) -> list[verdicts.Row]:
    found: dict[Trial, Finding] = {}
    with meter("checking", len(planned)) as progress:

        def on_end(trial: Trial, finding: Finding) -> None:
            found[trial] = finding
            progress.describe(f"{trial.check} {finding.verdict}")
            progress.advance()

        trials.run_all(subject, planned, jobs, on_end)
    return [verdicts.row(trial, found[trial], policy, options) for trial in planned]


def _debug(
    subject: trials.Subject, planned: list[Trial], policy: str, options: list[str]
) -> list[verdicts.Row]:
    trial = _the_only(planned, "--gdb debugs one guest")
    print(
        "saakm: the guest stands still; in another window:\n"
        "         saakm gdb -ex saakm-failures -ex continue",
        file=sys.stderr,
    )
    return [verdicts.row(trial, trials.debug(subject, trial), policy, options)]


def _the_only(planned: list[Trial], what: str) -> Trial:
    if len(planned) != 1:
        raise SaakmError(what, f"this would be {len(planned)} boots", "add --only NAME")
    return planned[0]


def _print_command(subject: trials.Subject, planned: list[Trial]) -> None:
    """What it boots stays in the cache, one file of each content, for whoever runs it."""
    guest = trials.guest_of(subject, _the_only(planned, "--command prints one command"))
    packed = appliance.pack(subject.files, guest)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()[:16]
    image = cache.make(paths.CACHE / "programs") / f"check-{digest}.initrd"
    with replacing(image) as scratch:
        shutil.copy(packed, scratch)
    print(shlex.join(appliance.command(guest, image, "stdio")))
