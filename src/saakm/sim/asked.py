# SPDX-License-Identifier: GPL-2.0
"""What a user asks of the simulator, in his words, and what is built and run then."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SaakmError
from ..builder import agents
from ..builder.agents import Agent
from ..builder.policies import find_policy
from ..vm.topology import Topology
from ..workload.program import Program
from ..workload.program_text import lines_of, to_text
from ..workload.registry import input_file, load, text_file
from . import linking
from .costs import MEASURED, text_for
from .durations import nanoseconds
from .kbuild import Module, read_module
from .kinds import Compiler, Kind, Recipe
from .machine import USUAL, nr_cpus, parse_machine
from .scenario import Origin, Scenario

USUAL_TIME = "10s"


@dataclass(frozen=True)
class Course:
    """What is built and run, and how it is called."""

    modules: list[Module]
    recipe: Recipe
    scenario: Scenario
    title: str
    agent: Agent | None = None


@dataclass(frozen=True)
class Asked:
    """`simulated`: for how long at most; empty: as the workload says, or as usual."""

    policy: str
    besides: Sequence[str] = ()
    topology: str = USUAL
    workload: str = "hackbench"
    seed: int = 1
    simulated: str = ""
    params: Sequence[str] = ()
    settings: Sequence[str] = ()
    costs: Path | None = None
    free: bool = False
    rate: int | None = None
    sanitize: bool = False
    check: bool = False
    interleave: int = 0
    compiler: Compiler | None = None
    coverage: Path | None = None
    agent: str | None = None  # what --agent says

    def course(self) -> Course:
        """Reads all that it names, as it is now; refuses what makes no sense."""
        agent = agents.chosen(self.policy, self.agent)
        policy = agents.apart(self.policy)[0]
        modules = [read_module(source_of(word)) for word in [policy, *self.besides]]
        machine = parse_machine(self.topology)
        recipe = self._recipe(machine)
        if agent:
            linking.refuse(agent, recipe)
        costs = self._costs(modules[0])
        program = load(self.workload, machine.cpus)
        scenario = Scenario(
            topology=machine,
            program=to_text(program),
            seed=self.seed,
            end_ns=self._end_ns(program),
            costs=costs,
            interleave=self.interleave,
            check=self.check,
            params=tuple(_param(text, modules) for text in self.params),
            settings=tuple(_pair(text, "--set", "handler_limit_ms=500") for text in self.settings),
            program_of=Origin(self.workload, text_file(self.workload), lines_of(program)),
            costs_of=_costs_of(self.costs or MEASURED),
            agent=agent.words[1:] if agent else (),
            called=Path(agent.words[0]).name if agent else "",
        )
        name = f"{modules[0].name}:{agent.text}" if agent else modules[0].name
        title = f"{name} on {self.topology}: {self.workload}, seed {self.seed}"
        return Course(modules, recipe, scenario, title, agent)

    def inputs(self) -> list[Path]:
        """Files that must not be written while they are read."""
        return [file for file in (input_file(self.workload), self.costs) if file]

    def _recipe(self, machine: Topology) -> Recipe:
        if self.sanitize and self.coverage:
            raise SaakmError(
                "--sanitize and --coverage exclude each other",
                "each compiles in its own way",
                "one after the other",
            )
        kind = Kind.SANITIZE if self.sanitize else Kind.COVERAGE if self.coverage else Kind.PLAIN
        usual = Compiler.CLANG if self.coverage else Compiler.GCC
        return Recipe(kind, self.compiler or usual, nr_cpus(machine))

    def _costs(self, policy: Module) -> str | None:
        if self.free and self.costs:
            raise SaakmError(
                "--free and --costs exclude each other",
                "one says that nothing costs anything",
                "leave out one of them",
            )
        if self.free and self.rate:
            raise SaakmError(
                "--free and --rate exclude each other",
                "what costs nothing takes no time at any rate",
                "leave out one of them",
            )
        return None if self.free else text_for(self.costs or MEASURED, policy.name, self.rate)

    def _end_ns(self, program: Program) -> int:
        if not self.simulated and program.duration_ns:
            return program.duration_ns
        return nanoseconds(self.simulated or USUAL_TIME, "--for")


def source_of(policy: str) -> Path:
    """The directory of a policy, by what the command line calls it."""
    if not policy:
        raise SaakmError(
            "no policy is named",
            "a simulation is of a policy, by its name or directory",
            "saakm sim rr; its workloads are shown by saakm sim --list",
        )
    path = Path(policy)
    if ("/" in policy or path.suffix) and path.is_file():
        raise SaakmError(
            f"{policy} is not a policy's directory",
            "it is a file",
            f"name its directory: saakm sim {path.resolve().parent}",
        )
    directory, colon, module = policy.rpartition(":")
    if colon and not path.exists() and Path(directory).is_dir():
        raise SaakmError(
            f"{policy} names no policy",
            f"a directory stands for one policy, and {module or 'a module'} in it cannot be chosen",
            f"name the directory alone, {directory}, or give {module or 'the module'} one of its own",
        )
    source = find_policy(policy)
    if not source:
        raise SaakmError(
            f"'{policy}' cannot be simulated",
            "it is the kernel's own scheduler, which the simulator has only in rough, beside policies",
            "name a policy: saakm sim rr; for the kernel's own: saakm run fair, in a guest",
        )
    return source


def _costs_of(file: Path) -> Origin:
    """JSON is no form that the program reads; a pipe could be read only once."""
    return Origin(str(file), file if file.suffix != ".json" and file.is_file() else None)


def _param(text: str, modules: list[Module]) -> str:
    """Without a module's name before it, it is of the policy that the run is for."""
    name, _, _ = _pair(text, "--param", "slice_us=2000").partition("=")
    module, dot, _ = name.partition(".")
    if not dot:
        return f"{modules[0].modname}.{text}"
    if module not in (known := [m.modname for m in modules]):
        raise SaakmError(
            f"--param {text} is of no module that is loaded",
            f"'{module}' is none of {', '.join(known)}",
            f"add --load {module}, or name one of these",
        )
    return text


def _pair(text: str, option: str, example: str) -> str:
    name, equals, _ = text.partition("=")
    if not name or not equals:
        raise SaakmError(
            f"{option} {text} sets nothing",
            "it is not NAME=VALUE",
            f"for example {option} {example}",
        )
    return text
