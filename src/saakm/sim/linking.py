# SPDX-License-Identifier: GPL-2.0
"""Links the simulator into an agent's program, by cargo: the program then is a simulator of its scheduler."""

import hashlib
import os
import shutil
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import replacing
from ..base.locks import locked
from ..builder import agents
from ..builder.agents import OURS, TRIPLE, Agent
from ..builder.cargo import forget_other_checkouts, inputs_of_crates, run_cargo
from .compile import CACHE, use
from .kinds import ORDER, Kind, Recipe

_TARGETS = paths.CARGO / "sim"
_ENCODED = "CARGO_ENCODED_RUSTFLAGS"  # separated by \x1f, and first of all
# What guests get is small or fast, and takes long to compile.
_PROFILE = ("lto='off'", "opt-level=1", "strip=false", "panic='abort'", "codegen-units=16")


def refuse(agent: Agent, recipe: Recipe) -> None:
    """What cannot be linked so, before anything is built."""
    if recipe.kind is Kind.COVERAGE:
        raise SaakmError(
            "--coverage of a policy with an agent cannot be counted",
            "the agent's program is linked by rustc, which has no runtime of clang's",
            "leave it out; tests of its schedulers: cargo test, in crates/",
        )
    if not agent.project:
        raise SaakmError(
            f"the agent '{agent.text}' cannot be simulated",
            "it is a process of its own; a simulated machine is linked into the agent, by crates/saakm-user",
            f"name {', '.join(OURS)} or the directory of a project of cargo's; or run it in a guest: "
            "saakm run user --agent",
        )


def into(agent: Agent, simulator: Path, recipe: Recipe) -> Path:
    """`simulator`: all of it, as one object."""
    if agent.is_ours:
        return _ours(agent.words[0], simulator, recipe)
    assert agent.project
    return _of_project(agent.project, simulator, recipe)


def _ours(name: str, simulator: Path, recipe: Recipe) -> Path:
    how = [*_PROFILE, *_flags(recipe), *_linking(simulator, recipe)]
    digest = hashlib.sha256("\0".join([inputs_of_crates("saakmctl"), *how]).encode())
    program = CACHE / "programs" / f"{simulator.stem[:60]}-{name}-{digest.hexdigest()[:24]}"
    if use(program):
        return program
    agents.refuse_without_crates()
    target = cache.make(_TARGETS / recipe.kind)
    with locked(target / "lock"):
        forget_other_checkouts(target / TRIPLE / "release", paths.REPO)
        words = ["--locked", "--package", agents.CRATE]
        built = _cargo(name, paths.CRATES, target, simulator, recipe, *words)
        _copy(built, program)
    return program


def _of_project(directory: Path, simulator: Path, recipe: Recipe) -> Path:
    """Cargo knows what has changed, and does nothing if that is nothing."""
    name = agents.program_of(directory)
    place = f"{recipe.kind}-{directory.name}-{paths.checkout_key(directory)}"
    target = cache.make(_TARGETS / place)
    with locked(target / "lock"):
        built = _cargo(name, directory, target, simulator, recipe)
        digest = hashlib.sha256(built.read_bytes()).hexdigest()[:24]
        program = CACHE / "programs" / f"sim-{name}-{digest}"
        if not use(program):
            _copy(built, program)
    return program


def _cargo(
    name: str, directory: Path, target: Path, simulator: Path, recipe: Recipe, *more: str
) -> Path:
    words = ["rustc", "--release", *more, "--bin", name, "--target", TRIPLE]
    flags = f"target.{TRIPLE}.rustflags={_flags(recipe)}"
    for setting in [*(f"profile.release.{one}" for one in _PROFILE), flags]:
        words += ["--config", setting]
    log, what = paths.LOGS / f"sim-agent-{name}.log", f"building a simulator with the agent {name}"
    # Of the sanitizers' runtime, which must come before all else: an option that is not stable.
    more_environment = {"RUSTC_BOOTSTRAP": "1"} if recipe.kind is Kind.SANITIZE else {}
    # Flags in the user's environment would replace ours; this variable replaces those.
    if any(name in os.environ for name in ("RUSTFLAGS", _ENCODED)):
        more_environment[_ENCODED] = "\x1f".join(_flags(recipe))
    command = [*words, "--", *_linking(simulator, recipe)]
    run_cargo(command, log, what, target, directory, **more_environment)
    return target / TRIPLE / "release" / name


def _flags(recipe: Recipe) -> list[str]:
    flags = ["--cfg", "saakm_sim", "-Crelocation-model=static"]
    if recipe.kind is Kind.PLAIN:
        flags.append("-Ctarget-feature=+crt-static")
    return flags


def _linking(simulator: Path, recipe: Recipe) -> list[str]:
    """Rust's own linker drops sections that only their ends are known of, and knows no INSERT."""
    words = ["-no-pie", "-fuse-ld=bfd", "-Wl,--no-gc-sections", f"-Wl,-T,{ORDER}", str(simulator)]
    if recipe.kind is Kind.PLAIN:
        words.append("-Wl,-Bstatic")
    # Rust's come before the simulator, which needs more of them.
    found = [f"-Clink-arg={word}" for word in [*words, "-lc", "-lm", "-lgcc"]]
    if recipe.kind is Kind.SANITIZE:
        found.append("-Zpre-link-args=-Wl,--no-as-needed -lasan -lubsan")
    return found


def _copy(built: Path, program: Path) -> None:
    cache.make(program.parent)
    with replacing(program) as scratch:
        shutil.copy2(built, scratch)
