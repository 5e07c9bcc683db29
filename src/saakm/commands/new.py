# SPDX-License-Identifier: GPL-2.0
"""saakm new: a policy of one's own, or a scheduler in user space, which runs as it is."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..base import paths
from ..base.errors import BadInput, SaakmError
from ..base.progress import meter
from ..builder import agents
from ..builder.kernel import latest_builds
from ..builder.policies import own_policies, policies
from ..dev import agent_scaffold
from ..dev.clashes import fault_in_kernel
from ..dev.scaffold import SMALLEST, fault_in_name, main_file, policy_files, shipped

_NEXT = """\
It schedules as it is. What to do next:
  saakm run {it} -- hackbench -g 4 -l 200       run something under it, in a VM
  saakm dev {it}                                edit {file}, and see it run on every save
  saakm trace {it} -- hackbench -g 4 -l 200     see what it did
  saakm check {it}                              see whether it does what every policy must
  saakm build compile-commands {it}             for clangd"""

_NEXT_OF_AGENT = """\
It schedules as it is. What to do next:
  saakm run {policy} --agent {it} -- hackbench -g 4 -l 200      run something under it, in a VM
  saakm dev {policy} --agent {it}                               edit {file}, and see each save take over
  saakm trace {policy} --agent {it} -- hackbench -g 4 -l 200    see what it did
  docs/how-to/schedulers-in-user-space.md                       how to go on from there"""

# Each shows one decision more than the one before.
Origin = StrEnum("Origin", ["fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", "lavd"])


def new(
    name: Annotated[str, typer.Argument(help="Name of the new policy.")],
    user: Annotated[
        bool,
        typer.Option("--user", help="A program in Rust, in user space, that decides instead."),
    ] = False,
    origin: Annotated[
        Origin | None,
        typer.Option(
            "--from", help="The policy to start from; default: none, the class decides everything."
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="Its place; default: policies/ in the checkout, else here; with --user here.",
        ),
    ] = None,
) -> None:
    """Create a policy that builds and runs, with comments on what you have to decide."""
    if user:
        _new_agent(name, (directory or Path.cwd()).resolve(), origin)
        return
    sources = shipped(origin) if origin else SMALLEST
    where = (directory or _default_directory()).resolve()
    _check(name, where, origin, sources)
    target = where / name
    files = policy_files(name, origin, sources)
    _write(target, files)
    found = target in own_policies() or where == paths.POLICIES
    print(_NEXT.format(it=name if found else shlex.quote(str(target)), file=main_file(files)))


def _new_agent(name: str, where: Path, origin: str | None) -> None:
    target = where / name
    if origin:
        raise BadInput(
            f"--from {origin} and --user exclude each other",
            "a policy is in C, and what decides in user space in Rust",
            "leave out one of them",
        )
    why = agent_scaffold.fault_in_name(name)
    if why or target.exists():
        raise BadInput(
            f"a scheduler in user space cannot be called '{name}'",
            why or f"{target} exists already",
            "choose another name" if why else "choose another name, or another --dir",
        )
    _write(target, agent_scaffold.agent_files(name, target))
    it = shlex.quote(str(target))
    print(_NEXT_OF_AGENT.format(it=it, policy=agents.POLICY, file=agent_scaffold.MAIN))


def _write(target: Path, files: Mapping[str, str]) -> None:
    try:
        target.mkdir(parents=True)
    except OSError as error:
        raise _cannot_create(target, error) from error
    try:
        for file, text in files.items():
            (target / file).parent.mkdir(exist_ok=True)
            (target / file).write_text(text)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)  # or the next try would find it there
        raise _cannot_create(target, error) from error
    print(f"created  {target}")


def _cannot_create(target: Path, error: OSError) -> SaakmError:
    return SaakmError(f"cannot create {target}", str(error), "choose another folder with --dir")


def _default_directory() -> Path:
    here = Path.cwd()
    return paths.POLICIES if here == paths.REPO or paths.REPO in here.parents else here


def _check(name: str, where: Path, origin: str | None, sources: Mapping[str, str]) -> None:
    why, place = fault_in_name(name, sources), ", or another --dir"
    if name in policies():
        why = f"policies/{name} is a policy already"
    elif not why and (where / name).exists():
        why = f"{where / name} exists already"
    elif why := why or _clash(name, origin, sources):
        place = ""  # no other makes the name a better one
    if not why:
        return
    other = f"my_{name}"
    fits = bool(name) and not (fault_in_name(other, sources) or (where / other).exists())
    example = f", {other} for example" if fits else ""
    raise BadInput(
        f"a policy cannot be called '{name}'", why, f"choose another name{example}{place}"
    )


def _clash(name: str, origin: str | None, sources: Mapping[str, str]) -> str | None:
    """What of the kernel's has a name that the code gives to the policy or to its functions."""
    builds = latest_builds()
    if not builds:
        print(
            "saakm: no kernel is built yet: the first build will say if it has this name, too",
            file=sys.stderr,
        )
        return None
    with meter("comparing the name with the kernel's"):
        faults = (
            fault_in_kernel(name, lambda it: policy_files(it, origin, sources), build)
            for build in builds
        )
        return next(filter(None, faults), None)
