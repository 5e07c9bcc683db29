# SPDX-License-Identifier: GPL-2.0
"""What applications are run under, and how a command gets there."""

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...base.files import hash_named
from ...builder import agents, peers
from ...builder.names import CHRT, REALTIME
from ...builder.parameters import check_names, split
from ...builder.policies import (
    by_name,
    find_policy,
    module_name,
    own_policies,
    policies,
    refuse_namesakes,
    source_files,
)
from ...model.fair_class import FAIR
from .settings import check

DEFAULT = f"{FAIR},scx_fifo,fifo"
EXT = (*peers.OURS, *peers.PARTIAL)
# As sched_getscheduler() says.
_OTHER, _FIFO, _EXT, _SAAKM = 0, 1, 7, 8


@dataclass(frozen=True)
class Named:
    """A scheduler as it was asked for."""

    name: str  # without settings
    directory: Path | None  # of a policy that the user has named so
    settings: tuple[str, ...]
    agent: str = ""  # of the policy `user`, as the user has it
    options: tuple[str, ...] = ()  # of a scheduler from crates.io

    @property
    def is_policy(self) -> bool:
        return self.name not in (FAIR, REALTIME, *EXT)

    @property
    def label(self) -> str:
        named = ":".join(filter(None, [self.name, self.agent, *self.settings]))
        return " ".join([named, *map(shlex.quote, self.options)])


@dataclass(frozen=True)
class Scheduler:
    name: str  # with settings: those of the same name are compared as one
    prefix: tuple[str, ...]  # of a command
    number: int  # what its threads see as their class
    build: str  # figures of another version are another scheduler's
    policy: str = ""  # its module
    parameters: tuple[str, ...] = ()  # that the policy is loaded with
    features: tuple[str, ...] = ()  # of the kernel's, while it is measured
    starter: tuple[str, ...] = ()  # the first words of `prefix`, if others can start it as well


def known() -> list[str]:
    own = [module_name(path) for path in own_policies()]
    ours = [FAIR, REALTIME, *EXT, *policies(), *agents.SCHEDULERS]
    return list(dict.fromkeys([*ours, *own]))


def chosen(wanted: Sequence[str]) -> list[Named]:
    found = [_named(word) for word in wanted or DEFAULT.split(",")]
    refuse_namesakes((named.name, named.directory) for named in found if named.is_policy)
    return list({named.label: named for named in found}.values())


def _named(word: str) -> Named:
    agents.chosen(word)  # refuses one that there is not
    word, agent = agents.apart(word)
    word, options = peers.apart(word)
    word, settings = split(word)
    [(name, directory)] = by_name([word]).items()
    if not directory and name not in known():
        raise SaakmError(
            f"there is no scheduler '{name}' to run applications under",
            f"there are {', '.join(known())}",
            "saakm bench --schedulers NAME[,NAME]; the first is compared with, and a policy elsewhere is named by its directory",
        )
    check(name, settings)
    found = Named(name, directory, settings, agent, options)
    if settings and found.is_policy and (sources := directory or find_policy(name)):
        check_names(list(settings), sources)
    return found


def find(named: Named, saakmctl: str = "saakmctl") -> Scheduler:
    """Builds a peer that is not built yet. `saakmctl`: where the commands run."""
    name, label = named.name, named.label
    if name == FAIR:
        return Scheduler(label, (), _OTHER, "", features=named.settings)
    if name == REALTIME:
        return Scheduler(label, CHRT, _FIFO, "")
    if name in EXT:
        # For the workload's threads alone, as policies are.
        prefix = peers.prefix(name, named.options)
        starter = peers.starter(name, named.options)
        return Scheduler(label, prefix, _EXT, peers.identity(name), starter=starter)
    build = _of_sources(named.directory or find_policy(name))
    prefix = (saakmctl, "exec", name, "--")
    if agent := agents.chosen(label):
        agent.refuse_hidden()
        prefix = (*agent.prefix(), *prefix)
        build = f"{build} {agent.identity()}"
    return Scheduler(label, prefix, _SAAKM, build, policy=name, parameters=named.settings)


def _of_sources(directory: Path | None) -> str:
    assert directory, "fair is no policy"
    return hash_named(source_files(directory))[:12]


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
