# SPDX-License-Identifier: GPL-2.0
"""What a command runs under: a policy, one of our sched_ext schedulers, SCHED_FIFO, or fair."""

import shlex
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..base import paths
from ..base.errors import BadInput, SaakmError
from ..builder import agents, given, peers
from ..builder.agents import Agent
from ..builder.names import CHRT, REALTIME
from ..builder.parameters import check_names
from ..builder.policies import find_policy, module_name
from ..model.fair_class import FAIR

HELP = (
    f"A policy's name or directory; none or fair: the kernel's own; {REALTIME}; "
    f"{', '.join([*peers.OURS, *peers.PARTIAL])}; {', '.join([agents.POLICY, *agents.SCHEDULERS])}."
)

Params = Annotated[
    list[str] | None,
    typer.Option("--param", help="Of the policy's module, as slice_us=2000; may be repeated."),
]

# A list, for of several the last would count without a word: one_agent().
AgentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="<str>",
        help=f"Of {agents.POLICY}: the program that decides, with its options, as 'python3 mine.py'; one of "
        f"{', '.join(agents.OURS)}, the directory of a project of cargo's, or any other.",
        show_default=agents.DEFAULT,
    ),
]


def one_agent(given: Sequence[str] | None) -> str | None:
    """What --agent says, which may be given once."""
    if given and len(given) > 1:
        raise BadInput(
            f"--agent is given {len(given)} times: {', '.join(map(repr, given))}",
            "one decides at a time",
            f"--agent {shlex.quote(given[-1])}; options of the program stand within its quotes",
        )
    return given[0] if given else None


@dataclass(frozen=True)
class Under:
    word: str  # as the user has it
    policy: Path | None = None
    parameters: tuple[str, ...] = ()  # of the policy's module
    agent: Agent | None = None  # that decides for the policy

    @property
    def is_peer(self) -> bool:
        return self.word in peers.OURS or self.is_partial

    @property
    def _peer(self) -> str:
        return peers.apart(self.word)[0]

    @property
    def is_partial(self) -> bool:
        return self._peer in peers.PARTIAL

    @property
    def has_starter(self) -> bool:
        """Whether a script starts who decides, beside the command."""
        return bool(self.agent) or self.is_partial

    @property
    def name(self) -> str:
        """How tables call it."""
        if self.policy:
            return module_name(self.policy)
        return self._peer if self.is_peer or self.word == REALTIME else FAIR

    @property
    def title(self) -> str:
        """The same, and who decides, or how."""
        if self.is_partial:
            return self.word
        return f"{self.name}:{self.agent.text}" if self.agent else self.name

    def words(self, command: list[str], program: str = "") -> list[str]:
        """The command line that runs `command` under it. `program`: where a guest has the peer's."""
        if self.policy:
            first = self.agent.prefix() if self.agent else []
            return [*first, "saakmctl", "exec", self.name, "--", *command]
        if self.word == REALTIME:
            return [*CHRT, *command]
        if self.is_partial:
            return [*peers.prefix(*peers.apart(self.word)), *command]
        if self.is_peer:
            # For the command's threads alone, as policies are.
            return [program or str(peers.build(self.word)), "-p", *command]
        return command

    def shell(self, command: list[str]) -> str:
        return shlex.join(self.words(command))


def chosen(
    word: str, kernel: str = "", parameters: Sequence[str] = (), agent_option: str | None = None
) -> Under:
    """Refuses what there is not, or not on this kernel: what --kernel says; builds nothing."""
    if agent := agents.chosen(word, agent_option):
        agent.refuse_hidden()
        word = agents.apart(word)[0]
    is_other = word == REALTIME or peers.apart(word)[0] in (*peers.OURS, *peers.PARTIAL)
    policy = None if is_other else check_policy(word, kernel)
    for parameter in parameters:
        name, equals, _ = parameter.partition("=")
        if not (name and equals) or set(parameter) & set(string.whitespace):
            raise BadInput(
                f"--param '{parameter}' is no parameter",
                "it is not of the form NAME=VALUE, without blanks",
                "--param NAME=VALUE, once for each",
            )
    if policy:
        check_names(list(parameters), policy)
    elif parameters:
        raise BadInput(
            f"--param {parameters[0]} says nothing about '{word}'",
            "only policies are modules that take parameters here",
            "leave it out, or name a policy",
        )
    return Under(word, policy, tuple(parameters), agent)


def check_policy(word: str, kernel: str = "") -> Path | None:
    """The policy's directory; None for the kernel's own scheduler."""
    source = find_policy(word)
    if source and not (paths.CRATES / "Cargo.toml").exists():
        raise SaakmError(
            "cannot put a command under a policy",
            "this checkout has no saakmctl",
            "check out crates/",
        )
    if source and kernel:
        given.refuse_without_class(kernel, f"the policy '{module_name(source)}'")
    return source


def under_policy(policy: Path | None, command: list[str]) -> str:
    """The shell command that runs `command` under `policy`, or as it is."""
    return Under("", policy).shell(command)
