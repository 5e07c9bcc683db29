# SPDX-License-Identifier: GPL-2.0
"""saakm run: one command under a policy, in a guest."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..base import cache
from ..base.errors import BadInput, SaakmError
from ..base.procfs import parse_ejected, tell_end, unanswered, went_to_fair
from ..base.progress import meter
from ..builder.agents import POLICY, Agent
from ..builder.parameters import check_values
from ..builder.ready import build_all
from ..vm import features
from ..vm.exact import HOW_TO_ATTACH, exactly, run_exactly
from ..vm.guest import Guest
from ..vm.options import VmOptions, with_vm_options
from . import under


def refuse_hidden_program(command: list[str]) -> None:
    """A program of the host's that the guest does not see would only be 'not found' there."""
    program = Path(command[0])
    hidden = cache.hidden_by_guest(program) if "/" in command[0] and program.exists() else None
    if hidden:
        raise SaakmError(
            f"the guest does not see {program}",
            f"it has its own {hidden} in the place of the host's",
            f"copy it out of {hidden}, or use --exact, which packs it into the guest",
        )


def boot(vm: VmOptions, policy: Path | None = None, parameters: Sequence[str] = ()) -> Guest:
    """A running guest; builds first what is needed, the policy included, which shall take these."""
    vm.check()
    ready = build_all(vm.config, policy, vm.kernel)
    if ready.module:
        check_values(list(parameters), ready.module)
    return start(Guest(ready.kernel, vm.machine(ready.kernel.vmlinux)), vm)


def start(guest: Guest, vm: VmOptions) -> Guest:
    with meter("booting", usual=guest.usual_boot_seconds):
        guest.start()
    try:
        features.set_in(guest, vm.set_features)
    except SaakmError:
        guest.close()
        raise
    return guest


def report_splats(guest: Guest) -> None:
    for splat in guest.splats():
        print(f"saakm: the kernel complained:\n{splat}", file=sys.stderr)


def report_ejections(guest: Guest) -> bool:
    """Tells if a policy lost its threads to fair: what ran then was not what was asked for."""
    found = parse_ejected(guest.run("cat /proc/saakm/ejected 2>/dev/null").stdout)
    for end in found:
        print(f"saakm: {tell_end(end)}\n{_consequence(end)}", file=sys.stderr)
    return any(map(went_to_fair, found))


def report_unanswered(guest: Guest, agent: Agent | None, before: int = 0) -> int:
    """Tells if threads ran without a decision, which the kernel does after a while, and silently.

    `before`: how many had until the agent began; the sum is returned.
    """
    dump = guest.run(f"saakmctl dump {POLICY} 2>/dev/null").stdout if agent else ""
    count = unanswered(dump)
    if agent and count > before:
        print(
            f"saakm: the agent '{agent.text}' has not answered {count - before:,} times\n"
            "  why:  a thread had waited for its decision for 100 ms, or as answer_ms says, or the agent had ended; "
            "then a CPU ran it without one\n"
            "  next: does each thread that `ready` tells of get a turn, and without a long computation? "
            "A test as saakm new --user writes it finds who is forgotten",
            file=sys.stderr,
        )
    return max(count, before)


def _consequence(end: dict[str, str]) -> str:
    if not went_to_fair(end):
        return (
            "  why:  its threads went on under the other policy, so this was a run under "
            f"'{end['name']}' until then only\n"
            "  next: nothing if that was meant; else look for what loads a module with "
            f"replaces={end['name']}"
        )
    return (
        "  why:  its threads went on under the fair class, so this was no run under the policy\n"
        f"  next: docs/reference/safety.md on '{end['kind']}'; to look into it: "
        "docs/how-to/debug-a-stall.md"
    )


@with_vm_options()
def run(
    vm: VmOptions,
    policy: Annotated[str, typer.Argument(help=under.HELP)],
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    param: under.Params = None,
    agent: under.AgentOption = None,
    gdb: Annotated[
        bool, typer.Option("--gdb", help="Wait for saakm gdb before the policy is loaded.")
    ] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="A run that repeats to the bit: --deterministic, and no files but the command's own.",
        ),
    ] = False,
) -> None:
    """Run a command under a policy in a guest; its output and status are the command's.

    If the policy is ejected meanwhile, a message says so, and a status of 0 becomes 1.
    """
    chosen = under.chosen(policy, vm.kernel, param or [], under.one_agent(agent))
    if exact and chosen.is_partial:
        raise BadInput(
            f"{policy} cannot run with --exact",
            "it is started beside the command, by a script that needs files of the host",
            f"saakm run {policy} --deterministic",
        )
    if exact:
        vm = exactly(vm, command)
    else:
        refuse_hidden_program(command)
    vm.check()
    ready = build_all(vm.config, chosen.policy, vm.kernel)
    if ready.module:
        check_values(list(chosen.parameters), ready.module)
    machine = vm.machine(ready.kernel.vmlinux)
    words = [] if exact else chosen.words(command)  # builds an agent, before a guest waits for it
    if exact:
        prefix = [] if chosen.policy else chosen.words([])
        decides = chosen.agent.command() if chosen.agent else ()
        exit_status = run_exactly(ready, machine, command, vm, gdb, prefix, param or (), decides)
        raise typer.Exit(exit_status)
    with start(Guest(ready.kernel, machine), vm) as guest:
        if gdb:
            guest.wait_for_debugger()
            print(HOW_TO_ATTACH, file=sys.stderr)
        if ready.module:
            guest.load(ready.module, *chosen.parameters)
        # Where the user is, if the guest has that directory.
        if hidden := cache.hidden_by_guest(Path.cwd()):
            print(
                f"saakm: the guest has its own {hidden}: the command starts in its empty /tmp, "
                f"not in {Path.cwd()}",
                file=sys.stderr,
            )
        here = f"cd {shlex.quote(str(Path.cwd()))} 2>/dev/null\n"
        result = guest.run(here + shlex.join(words), vm.timeout, stream=True)
        report_splats(guest)
        report_unanswered(guest, chosen.agent)
        failed = report_ejections(guest)
    raise typer.Exit(result.status or int(failed))
