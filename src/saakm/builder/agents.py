# SPDX-License-Identifier: GPL-2.0
"""Agents: programs that decide for the policy `user`. Ours, and projects of cargo's, are built on demand.

A scheduler is written as user, user:AGENT, or user:AGENT:NAME=VALUE with parameters of the module. An
agent is one of OURS, the directory of a project of cargo's, or any program; options come behind it.
"""

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import cache, paths
from ..base.errors import BadInput, SaakmError
from ..base.files import is_fresh, replacing, write_stamp
from ..base.locks import locked
from .cargo import forget, inputs_of_crates, run_cargo

POLICY = "user"
OURS = ("fifo", "rustland", "rustland-llc")
DEFAULT = OURS[0]
SCHEDULERS = tuple(f"{POLICY}:{name}" for name in OURS)
MANIFEST = "Cargo.toml"

CRATE = "saakm-schedulers"  # whose programs ours are
TRIPLE = "x86_64-unknown-linux-gnu"
_PLACE = paths.CARGO / "agents"
_STAMP = "saakm.stamp"  # each use changes its time
_UNUSED_SECONDS = 7 * 24 * 3600
_PARAMETER = re.compile(r"[A-Za-z_][\w-]*=\S*")
_SCRIPT = paths.GUEST_FILES / "under_agent"


@dataclass(frozen=True)
class Agent:
    words: tuple[str, ...]  # as the user has them, but for where the program is

    @property
    def is_ours(self) -> bool:
        return self.words[0] in OURS

    @property
    def project(self) -> Path | None:
        """Whose sources cargo builds."""
        if self.is_ours:
            return paths.CRATES
        return Path(self.words[0]) if os.path.isdir(self.words[0]) else None

    @property
    def text(self) -> str:
        return shlex.join(self.words)

    def command(self) -> list[str]:
        """Its words, of a program that is there. Builds it."""
        first = self.words[0]
        if self.is_ours:
            return [str(build_ours(first)), *self.words[1:]]
        if self.project:
            return [str(_build_project(self.project)), *self.words[1:]]
        return [*self.words]

    def prefix(self) -> list[str]:
        """What a command line begins with that shall have this agent while it runs. Builds it."""
        return prefix(self.command(), Path.cwd())

    def sources(self) -> list[Path]:
        """What is to be watched: a change of them makes another scheduler."""
        if project := self.project:
            kinds = (".rs", ".toml", ".lock")
            found = (file for file in project.rglob("*") if file.suffix in kinds)
            return sorted(f for f in found if "target" not in f.relative_to(project).parts)
        return [Path(word).resolve() for word in self.words if os.path.isfile(word)]

    def identity(self) -> str:
        """Of the program and of files that it is given. Builds it."""
        files = [word for word in self.command() if os.path.isfile(word)]
        digest = hashlib.sha256(self.text.encode())
        for file in files:
            digest.update(Path(file).read_bytes())
        return digest.hexdigest()[:12]

    def refuse_hidden(self) -> None:
        """What the guest does not see would only be 'not found' there."""
        for file in [] if self.project else self.sources():
            if hidden := cache.hidden_by_guest(file):
                raise SaakmError(
                    f"the guest does not see the agent's {file}",
                    f"it has its own {hidden} in the place of the host's",
                    f"copy it out of {hidden}",
                )


def prefix(command: Sequence[str], directory: Path | None = None) -> list[str]:
    """The same of words that are known. `directory`: where the agent begins, if it is there."""
    there = f"cd {shlex.quote(str(directory))} 2>/dev/null; " if directory else ""
    return ["sh", "-c", script(), _SCRIPT.name, f"{there}exec {shlex.join(command)}"]


def script() -> str:
    return _SCRIPT.read_text()


# Names


def apart(word: str) -> tuple[str, str]:
    """A scheduler without its agent, and the agent: empty where the word has none."""
    policy, colon, rest = word.partition(":")
    if policy != POLICY or not colon:
        return word, ""
    pieces = rest.split(":")
    settings: list[str] = []
    while pieces and _PARAMETER.fullmatch(pieces[-1]):
        settings.insert(0, pieces.pop())
    return ":".join([policy, *settings]), ":".join(pieces)


def is_user(word: str) -> bool:
    """Whether an agent decides under this scheduler."""
    policy = apart(word)[0].partition(":")[0]
    return policy == POLICY or "/" in policy and _is_ours(policy)


def _is_ours(directory: str) -> bool:
    return Path(directory).resolve() == paths.POLICIES / POLICY


def chosen(word: str, option: str | None = None) -> Agent | None:
    """The agent of a scheduler that has one. `option`: what --agent says. Builds nothing."""
    agent = apart(word)[1]
    if not is_user(word):
        if option is not None:
            raise BadInput(
                f"--agent '{option}' says nothing about '{word}'",
                f"a program decides under the policy '{POLICY}' alone",
                f"leave it out, or name {POLICY}",
            )
        return None
    if agent and option is not None:
        raise BadInput(
            f"'{word}' and --agent '{option}' name two agents",
            "one decides at a time",
            f"{POLICY} --agent '{option}', or {word} alone",
        )
    return parse((agent or DEFAULT) if option is None else option)


def with_option(schedulers: Sequence[str], option: str | None) -> tuple[str, ...]:
    """Puts what --agent says into the words that name no agent themselves."""
    if option is None:
        return tuple(schedulers)
    if not any(map(_lacks_agent, schedulers)):
        raise BadInput(
            f"--agent '{option}' says nothing about {', '.join(schedulers) or 'all schedulers'}",
            f"it is the agent of '{POLICY}', which --schedulers does not name without one",
            f"--schedulers {','.join([*schedulers, POLICY])}, or leave it out",
        )
    parse(option)
    return tuple(
        word.replace(POLICY, f"{POLICY}:{option}", 1) if _lacks_agent(word) else word
        for word in schedulers
    )


def _lacks_agent(word: str) -> bool:
    return word.partition(":")[0] == POLICY and not apart(word)[1]


def parse(text: str) -> Agent:
    """Refuses what cannot be started."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"'{text}' is no command line", str(error), "close its quotes") from error
    if not words:
        raise BadInput("the agent has no name", "--agent is empty", f"--agent {DEFAULT}")
    first = words[0]
    if first in OURS:
        return Agent(tuple(words))
    if os.path.isdir(first) and ("/" in first or first == "." or _has_manifest(first)):
        _refuse_no_project(first)
        return Agent((str(Path(first).resolve()), *words[1:]))
    found = shutil.which(first)
    if not found:
        raise _unknown(first)
    return Agent((os.path.abspath(found) if "/" in first else first, *words[1:]))


def _has_manifest(directory: str) -> bool:
    return Path(directory, MANIFEST).is_file()


def _refuse_no_project(directory: str) -> None:
    if not _has_manifest(directory):
        raise BadInput(
            f"{directory} is no agent",
            f"it is a directory, and has no {MANIFEST}",
            "name the program; or: saakm new --user NAME, which makes a project of cargo's",
        )


def _unknown(name: str) -> BadInput:
    why = f"ours are {', '.join(OURS)}, and $PATH has no program of that name"
    if "/" in name:
        there = os.path.exists(name)
        why = "the file cannot be executed" if there else "there is no such file"
    return BadInput(
        f"there is no agent '{name}'",
        why,
        "--agent './mine --an-option' or 'python3 mine.py' or the directory of a project of cargo's: "
        "saakm new --user NAME makes one",
    )


# Building


def build_ours(name: str) -> Path:
    inputs = _inputs()
    program = _PLACE / inputs[:16] / name
    stamp = program.with_name(f"{name}.{_STAMP}")
    if not is_fresh(stamp, inputs, program):
        refuse_without_crates()
        with locked(paths.CARGO / "lock"):
            if not is_fresh(stamp, inputs, program):
                cache.make(program.parent)
                release = paths.CARGO / TRIPLE / "release"
                # Cargo compares times only: see ctl.py.
                forget(release)
                log, what = paths.LOGS / f"agent-{name}.log", f"building the agent {name}"
                run_cargo([*_words(), "--bin", name], log, what, paths.CARGO, paths.CRATES)
                _copy(release / name, program)
                write_stamp(stamp, inputs, program)
                _remove_unused()
    with contextlib.suppress(OSError):  # in a guest, which sees the host's files
        stamp.touch()
    return program


def _inputs() -> str:
    return inputs_of_crates("saakmctl")


def refuse_without_crates() -> None:
    if not (paths.CRATES / CRATE / MANIFEST).exists():
        raise SaakmError(
            f"the agents {', '.join(OURS)} cannot be built",
            f"this checkout has no crates/{CRATE}",
            "check out crates/, or name an agent of your own: --agent COMMAND",
        )


def _words() -> list[str]:
    """What `cargo guest` means: it is not known outside of crates/."""
    config = tomllib.loads((paths.CRATES / ".cargo" / "config.toml").read_text())
    words: list[str] = config["alias"]["guest"]
    return words


def _build_project(directory: Path) -> Path:
    """The program of a project of the user's: of each content another file.

    One that runs cannot be written, and a guest goes on serving a file that it has read once.
    """
    name = program_of(directory)
    target = _PLACE / f"{directory.name}-{paths.checkout_key(directory)}"
    # Its lock file is its author's, who may have added something since.
    words = [word for word in _words() if word != "--locked"]
    cache.make(target)
    with locked(target / "lock"):
        log, what = paths.LOGS / f"agent-{name}.log", f"building the agent {name}"
        run_cargo([*words, "--bin", name], log, what, target, directory)
        built = target / TRIPLE / "release" / name
        digest = hashlib.sha256(built.read_bytes()).hexdigest()[:16]
        program = _PLACE / digest / name
        if not program.exists():
            cache.make(program.parent)
            _copy(built, program)
        write_stamp(program.with_name(f"{name}.{_STAMP}"), digest, program)
        _remove_unused()
    return program


def program_of(directory: Path) -> str:
    manifest = directory / MANIFEST
    try:
        parsed = tomllib.loads(manifest.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"{manifest} cannot be read", str(error), "mend it") from error
    programs = [one.get("name") for one in parsed.get("bin", [])]
    name = [*programs, parsed.get("package", {}).get("name")][0]
    if not isinstance(name, str):
        raise BadInput(
            f"{manifest} says no program", "it has neither [package] nor [[bin]]", "mend it"
        )
    return name


def _copy(built: Path, program: Path) -> None:
    with replacing(program) as scratch:
        shutil.copy2(built, scratch)


def _remove_unused() -> None:
    for stamp in _PLACE.glob(f"*/*.{_STAMP}"):
        if time.time() - stamp.stat().st_mtime > _UNUSED_SECONDS:
            shutil.rmtree(stamp.parent, ignore_errors=True)
