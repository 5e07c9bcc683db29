# SPDX-License-Identifier: GPL-2.0
"""Boots a guest for each scheduler and seed, and collects what it says."""

import re
import shlex
import shutil
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...base import paths
from ...base.errors import BadInput, SaakmError
from ...builder import agents, peers
from ...builder.about import About
from ...builder.agents import Agent
from ...builder.parameters import check_values
from ...builder.programs import compile_static
from ...model.cost_rows import Row
from ...vm import appliance, features
from ...vm.appliance import Appliance, counted_machine
from .operations import apart, is_policy
from .target import Target, policy_files

_RESULT = re.compile(r"^RESULT (\w+) ([\d.]+) (\d+)\s*$", re.M)
# What there is, from a guest that could not set what it was asked for.
_FEATURES = re.compile(r"^FEATURES (.*)$", re.M)
_ERROR = re.compile(r"^ERROR (.*)", re.M)
# Of the host's, for an operation on a machine that does much else.
_SECONDS = 180
_BOOT_SECONDS = 300
_SECONDS_PER_CPU = 20
_SECONDS_PER_THREAD = 0.1
# BPF programs of thousands of lines, verified under emulation.
_LOAD_SECONDS = 900
# What a large one and its maps take.
_PEER_MIB = 1536
# Where linkers put no program of their own accord: --where tells programs apart by their addresses.
_APART = "-Wl,-Ttext-segment=0x20000000"
_NO_PLACE = (
    "the kernel's command line, that it comes by, has no place for blanks or quotes in a word"
)
# A thread's stack, its kernel stack and what the kernel knows of it.
_KIB_PER_THREAD = 64


@dataclass(frozen=True)
class Conditions:
    """Figures can be compared if these are the same."""

    cpus: int = 1
    runnable: int = 0
    switches: bool = False
    besides: tuple[str, ...] = ()  # policies that are loaded and have no threads
    scale: int = 100  # per cent of the usual rounds
    bystanders: int = 0  # more such policies, all alike
    features: tuple[str, ...] = ()  # of the fair class, as they are set


def loaded_policies(scheduler: str, conditions: Conditions) -> list[str]:
    besides = list(conditions.besides)
    policy, _ = apart(scheduler)
    own = is_policy(scheduler) and policy not in besides
    return besides + ([policy] if own else [])


def check_parameters(target: Target, scheduler: str) -> None:
    """Before anything is measured. Builds the policy."""
    policy, parameters = apart(scheduler)
    if parameters:
        [module] = policy_files(target, [policy])
        check_values(parameters, module)


def guest_of(
    target: Target, scheduler: str, operations: list[str], conditions: Conditions
) -> Appliance:
    first = [paths.BYSTANDERS.name] if conditions.bystanders else []
    peer, options = peers.apart(scheduler)
    if peer in peers.CRATES:
        _refuse_kernel(target, peer)
    files = policy_files(target, first + loaded_policies(scheduler, conditions))
    # Where a process lies in memory decides how often it faults.
    policy, parameters = apart(scheduler)
    name = peers.CRATES[peer].file if peer in peers.CRATES else policy
    words = ["norandmaps", f"scheduler={name}", f"operations={','.join(operations)}"]
    words.append(f"scale={conditions.scale}")
    if files:
        words.append("modules=" + ",".join(file.name for file in files))
    if parameters:
        words.append("parameters=" + ",".join(parameters))
    if conditions.runnable:
        words.append(f"runnable={conditions.runnable}")
    if conditions.bystanders:
        words.append(f"bystanders={conditions.bystanders}")
    if conditions.switches:
        words.append("switches=1")
    if conditions.features:
        words.append("features=" + ",".join(conditions.features))
    places = {file.name: file for file in files}
    if peer in (*peers.OURS, *peers.CRATES):
        places |= appliance.with_libraries(peers.build(peer))
    if options:
        _refuse_blanks(scheduler, options)
        words.append(f'options="{" ".join(options)}"')
    if agent := agents.chosen(scheduler):
        command = agent.command()
        places |= appliance.with_libraries(_program_of(agent, command))
        words.append(f'agent="{" ".join([Path(command[0]).name, *command[1:]])}"')
    program = compile_static(paths.GUEST_FILES / "cost", _APART)
    memory = 512 + conditions.runnable * _KIB_PER_THREAD // 1024
    memory += _PEER_MIB if peer in peers.CRATES else 0
    machine = counted_machine(conditions.cpus, memory)
    return Appliance(target.vmlinux, program, places, tuple(words), machine)


def _program_of(agent: Agent, command: Sequence[str]) -> Path:
    """This guest has no files of the host's: of an agent the program and its libraries alone."""
    program = Path(shutil.which(command[0]) or command[0])
    why = ""
    if program.read_bytes()[:4] != b"\x7fELF":
        why = (
            f"{program} is a script, whose interpreter and files the measuring guest does not have"
        )
    elif re.search(r"[\s\"]", "".join(command)):
        why = _NO_PLACE
    if why:
        raise BadInput(
            f"the agent '{agent.text}' cannot be measured",
            why,
            "name a program that needs no other, or take saakm bench --deterministic",
        )
    return program


def _refuse_blanks(scheduler: str, options: Sequence[str]) -> None:
    """They come to the guest in one line, which it takes apart at blanks."""
    if not all(re.fullmatch(r"[^\s\"]+", option) for option in options):
        raise BadInput(
            f"'{scheduler}' cannot be measured",
            _NO_PLACE,
            "leave out the option, or take saakm bench --deterministic",
        )


def _refuse_kernel(target: Target, scheduler: str) -> None:
    if target.about.options and target.about.options.get("CONFIG_KALLSYMS_ALL") != "y":
        raise SaakmError(
            f"{scheduler} cannot be loaded into this kernel",
            "it asks for variables of the kernel by name (sd_llc_id)",
            "build the kernel with CONFIG_KALLSYMS_ALL=y: linux/configs/base.config",
        )


def time_limit(scheduler: str, operations: list[str], conditions: Conditions) -> float:
    boot = _BOOT_SECONDS + _SECONDS_PER_CPU * conditions.cpus
    load = _LOAD_SECONDS if peers.apart(scheduler)[0] in peers.CRATES else 0
    threads = conditions.runnable * _SECONDS_PER_THREAD
    return boot + load + (_SECONDS + threads) * len(operations)


def measure(
    target: Target,
    scheduler: str,
    operations: list[str],
    conditions: Conditions,
    seeds: list[int],
    on_result: Callable[[], None] = lambda: None,
) -> list[Row]:
    """A row for each operation; `on_result` hears of each figure as it comes."""
    guest = guest_of(target, scheduler, operations, conditions)

    def listen(line: str) -> None:
        if _RESULT.match(line):
            on_result()

    runs = []
    for seed in seeds:
        seeded = replace(guest, machine=replace(guest.machine, seed=seed))
        text = appliance.run(seeded, listen, time_limit(scheduler, operations, conditions))
        refuse_features(conditions, text)
        runs.append(results(scheduler, operations, text))
    return [
        _row(scheduler, name, conditions, seeds, [run[name] for run in runs], target.about)
        for name in operations
    ]


def refuse_features(conditions: Conditions, text: str) -> None:
    if conditions.features and (said := _FEATURES.search(text)):
        features.refuse_unknown(conditions.features, said[1].split())


def results(scheduler: str, operations: list[str], text: str) -> dict[str, float]:
    """Returns the result of each operation, from the guest's console."""
    found = {name: float(value) for name, value, _ in _RESULT.findall(text)}
    missing = [name for name in operations if name not in found]
    said = _ERROR.search(text)
    if missing or said:
        raise SaakmError(
            f"{scheduler} could not be measured: {', '.join(missing) or 'its figures are not valid'}",
            f"{said[1].strip() if said else 'the guest printed no result'}; "
            f"the end of its console:\n{text[-1000:]}",
            f"leave it, or the operation, out; or try it by hand: {_by_hand(scheduler)}",
        )
    return found


def _by_hand(scheduler: str) -> str:
    policy, parameters = apart(scheduler)
    if not parameters:
        return f"saakm run {shlex.quote(scheduler)} -- true"
    agent = agents.apart(scheduler)[1]
    words = ["--agent", agent] if agent else []
    words += [word for one in parameters for word in ("--param", one)]
    return f"saakm run {shlex.join([policy, *words])} -- true"


def counted(operation: str, text: str) -> int:
    """How many operations that were."""
    return next(int(count) for name, _, count in _RESULT.findall(text) if name == operation)


def _row(
    scheduler: str,
    operation: str,
    conditions: Conditions,
    seeds: list[int],
    values: list[float],
    about: About,
) -> Row:
    mean = statistics.fmean(values)
    spread = (max(values) - min(values)) / mean
    return Row(
        scheduler,
        operation,
        round(mean, 2),
        round(spread, 6),
        conditions.cpus,
        seeds,
        values,
        loaded_policies(scheduler, conditions),
        conditions.runnable,
        conditions.switches,
        conditions.scale,
        conditions.bystanders,
        list(conditions.features),
        about.release,
        about.preemption,
        about.has_class,
    )
