# SPDX-License-Identifier: GPL-2.0
"""Builds a simulator: the class, the model of Linux's core around it, and some policies, as a program."""

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache as remembered
from pathlib import Path

from ..base import cache, paths
from ..base.errors import SaakmError
from ..base.files import hash_files, hash_named, replacing
from ..builder.agents import Agent
from ..builder.policies import source_files
from . import complaints, kinds, linking
from .compile import (
    CACHE,
    CompileError,
    Edited,
    Unit,
    compile_all,
    headers_of,
    remove_unused,
    run_tool,
    use,
)
from .kbuild import Module
from .kinds import Recipe

_ATTEMPTS = 3
# Whatever stands in brackets or quotes: it may be a macro that says what is included.
_NAME = re.compile(r'[<"](?=([^<>"\n]+)[>"])')


def build(
    modules: Sequence[Module],
    recipe: Recipe,
    agent: Agent | None = None,
    elsewhere: bool = False,
) -> Path:
    """The program, in which the first module is the policy that the run is for.

    `agent`: whose program it is to be part of, and who decides for that policy. `elsewhere`: whoever
    decides is in the process that starts it.
    """
    _refuse_same_names(modules)
    start = "elsewhere" if elsewhere else "agent" if agent else "program"
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(Edited):
            return _build(modules, recipe, agent, start)
    return _build(modules, recipe, agent, start)


def _build(modules: Sequence[Module], recipe: Recipe, agent: Agent | None, start: str) -> Path:
    fixed = fixed_units(recipe, start)
    own = [policy_units(module, recipe) for module in modules]
    units = [*fixed, *(unit for group in own for unit in group)]
    digest = hashlib.sha256("\0".join(str(unit.object) for unit in units).encode())
    digest.update("\0".join([*recipe.linking, *(module.name for module in modules)]).encode())
    digest.update(kinds.ORDER.read_bytes())
    name = "-".join(["sim", *(module.name for module in modules)])[:80]
    program = CACHE / "programs" / f"{name}-{digest.hexdigest()[:24]}"
    if agent:
        program = CACHE / "objects" / f"{program.name}.o"  # which is no program yet
    if use(program):
        return linking.into(agent, program, recipe) if agent else program
    try:
        objects = compile_all(units)
    except CompileError as error:
        raise complaints.of_compiler(error) from error
    remove_unused()
    _link(
        program,
        [objects[unit] for unit in fixed],
        [(module, [objects[unit] for unit in group]) for module, group in zip(modules, own)],
        recipe,
        for_agent=agent is not None,
    )
    return linking.into(agent, program, recipe) if agent else program


def _refuse_same_names(modules: Sequence[Module]) -> None:
    seen: dict[str, Module] = {}
    for module in modules:
        if module.modname in seen:
            raise SaakmError(
                f"two modules are called '{module.modname}'",
                f"{seen[module.modname].directory} and {module.directory}: a kernel loads one of a name",
                "leave out one of them",
            )
        seen[module.modname] = module


# --- what is compiled ---


def fixed_units(recipe: Recipe, start: str = "program") -> list[Unit]:
    """What is the same for all policies. `start`: of sim/start, where it begins."""
    engine, core = sorted(kinds.ENGINE.glob("*.c")), sorted(kinds.CORE.glob("*.c"))
    if not engine or not core:
        raise SaakmError(
            "there is no simulator to build",
            f"{kinds.SOURCES} has no engine/*.c and core/*.c",
            "check out sim/",
        )
    program, host = recipe.compiler.program, _host_inputs()
    flags = (*recipe.common, *short_paths())
    found = [Unit(file, program, flags, host) for file in engine]
    first = kinds.START / f"{start}.c"
    found.append(Unit(first, program, (*flags, f"-I{kinds.ENGINE}"), host))
    inside = (*kernel_flags(recipe), f"-I{kinds.CORE}", f"-I{kinds.ENGINE}", f"-I{kinds.CLASS}")
    files = [*core, kinds.CLASS / "build.c"]
    return found + [Unit(file, program, inside, kernel_inputs()) for file in files]


def policy_units(module: Module, recipe: Recipe) -> list[Unit]:
    name = module.modname
    flags = [*kernel_flags(recipe, of_policy=True), "-DMODULE", f'-DKBUILD_MODNAME="{name}"']
    flags += [f"-D__KBUILD_MODNAME=kmod_{name}", f'-DKBUILD_BASENAME="{name}"']
    # The kernel's build copies shared headers into lib/ beside the policy.
    places = [module.directory, module.directory.parent, paths.POLICIES]
    for place in places:
        flags += ["-iquote", str(place)]
    flags += module.flags
    places += [Path(flag.removeprefix("-I")) for flag in module.flags if flag.startswith("-I")]

    def inputs() -> str:
        files = source_files(module.directory)
        return hash_named(files | _included(files.values(), module.flags, places), kernel_inputs())

    now, program = inputs(), recipe.compiler.program
    return [
        Unit(file, program, tuple(flags), now, of_policy=True, look_again=inputs)
        for file in module.sources
    ]


def _included(
    files: Iterable[Path], flags: Sequence[str], places: Sequence[Path]
) -> dict[str, Path]:
    """What they include by its place, and what that does: a test's policy may be another, and more.

    From beside them, or wherever the compiler looks for it: all that it may find counts.
    """
    found: dict[str, Path] = {}
    named = [f'"{flag.removeprefix("-include")}"' for flag in flags if flag.startswith("-include")]
    left = [(Path(), "\n".join([*flags, *named])), *((file.parent, _text(file)) for file in files)]
    while left:
        beside, text = left.pop()
        for name in _NAME.findall(text):
            for place in (beside, *places):
                if not _may_be_read(place / name):
                    continue
                # Of a link, it is the link beside which the compiler looks for more.
                other = (place / name).parent.resolve() / Path(name).name
                if str(other) not in found:
                    found[str(other)] = other
                    left.append((other.parent, _text(other)))
    return found


def _may_be_read(file: Path) -> bool:
    """Path.is_file() raises for some names; what /proc has is empty, and another each time."""
    return os.path.isfile(file) and os.path.getsize(file) > 0 and os.access(file, os.R_OK)


def _text(file: Path) -> str:
    return file.read_text(errors="replace")


def kernel_flags(recipe: Recipe, of_policy: bool = False) -> tuple[str, ...]:
    side = kinds.kernel_side(recipe, headers_of(recipe.compiler.program), of_policy)
    return (*recipe.common, *short_paths(), *side)


def short_paths() -> list[str]:
    """__FILE__ in warnings is the same wherever the checkout is."""
    return [f"-fmacro-prefix-map={paths.REPO}/="]


@remembered
def _host_inputs() -> str:
    return hash_files(kinds.ENGINE.glob("*.h"), kinds.SOURCES)


@remembered
def kernel_inputs() -> str:
    files = [*kinds.ENGINE.glob("*.h"), *kinds.CORE.glob("*.h")]
    files += (kinds.SOURCES / "include").rglob("*.h")
    files += [*(paths.LINUX / "include").rglob("*.h"), *kinds.CLASS.glob("*.[ch]")]
    return hash_files(files, paths.REPO)


# --- what is linked ---


def _link(
    program: Path,
    fixed: list[Path],
    own: list[tuple[Module, list[Path]]],
    recipe: Recipe,
    for_agent: bool = False,
) -> None:
    """Of all that, a program, or an object: `for_agent`."""
    cache.make(program.parent)
    # Another command may link the same program at the same time.
    with tempfile.TemporaryDirectory(dir=program.parent, prefix=f".{program.name}-") as place:
        joined = [_join(Path(place), module, objects) for module, objects in own]
        # In the order in which they are loaded.
        files = [str(file) for file in [*fixed, *joined]]
        with replacing(program) as scratch:
            command = [recipe.compiler.program, *files, *recipe.linking]
            if for_agent:
                command = ["ld", "-r", *files]
            _run([*command, "-o", str(scratch)], [module for module, _ in own])


def _join(place: Path, module: Module, objects: list[Path]) -> Path:
    """The module's objects as one, whose names are its own: other modules may have the same."""
    joined = place / f"{module.name}.o"
    _run(["ld", "-r", "-o", str(joined), *map(str, objects)], [module])
    _run(["objcopy", "--wildcard", "--localize-symbol=*", str(joined)], [module])
    return joined


def _run(command: list[str], modules: list[Module]) -> None:
    done = run_tool(command)
    if done.returncode:
        raise complaints.of_linker(done.stderr, modules)
