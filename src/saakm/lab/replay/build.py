# SPDX-License-Identifier: GPL-2.0
"""Builds a replayer: the simulator with another main part, which asks the class what a kernel asked."""

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...base import cache, paths
from ...base.errors import SaakmError
from ...base.files import hash_files, replacing
from ...sim import build as sim
from ...sim import complaints, kinds
from ...sim.compile import CACHE, CompileError, Unit, compile_all, run_tool
from ...sim.kbuild import Module
from ...sim.kinds import Recipe

_SOURCES = paths.REPO / "sim" / "replay"
_FAIR = paths.REPO / "sim" / "fair"
# Of sim/replay, what replays of fair have as well.
_SHARED = ("recording", "absent")
# What a run is made of, and a replay is not.
_NOT_OURS = ("run",)
_REPLACED = re.compile(r"\bmodel_of_(\w+)\(")


def build(modules: Sequence[Module], recipe: Recipe) -> Path:
    """The program. Where it replaces a function of the model, that one is called model_of_NAME."""
    fixed = [_for_replay(u) for u in sim.fixed_units(recipe) if u.source.stem not in _NOT_OURS]
    ours = _own_units(recipe)
    own = [list(map(_for_replay, sim.policy_units(module, recipe))) for module in modules]
    units = [*fixed, *ours, *(unit for group in own for unit in group)]
    digest = hashlib.sha256("\0".join(str(unit.object) for unit in units).encode())
    digest.update("\0".join(recipe.linking).encode() + kinds.ORDER.read_bytes())
    names = "-".join(module.name for module in modules)
    program = CACHE / "programs" / f"replay-{names}-{digest.hexdigest()[:24]}"
    if program.exists():
        return program
    try:
        objects = compile_all(units)
    except CompileError as error:
        raise complaints.of_compiler(error) from error
    cache.make(program.parent)
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name, replacing(program) as scratch:
        place = Path(name)
        renamed = [_renamed(objects[unit], place) for unit in fixed]
        joined = [
            _joined(place / f"{module.name}.o", [objects[unit] for unit in group])
            for module, group in zip(modules, own)
        ]
        files = [*(objects[unit] for unit in ours), *renamed, *joined]
        command = [recipe.compiler.program, *map(str, files), *recipe.linking, "-o", str(scratch)]
        _run(command)
    return program


def build_fair(module: Module, recipe: Recipe) -> Path:
    """The program that asks the class what a kernel asked fair. It replaces nothing of the model."""
    inside = (*sim.kernel_flags(recipe), f"-I{kinds.CORE}", f"-I{kinds.ENGINE}", f"-I{kinds.CLASS}")
    headers = [*_SOURCES.glob("*.h"), *_FAIR.glob("*.h")]
    digest = hash_files(headers, _SOURCES.parent, sim.kernel_inputs())
    files = [*sorted(_FAIR.glob("*.c")), *(_SOURCES / f"{name}.c" for name in _SHARED)]
    ours = [Unit(file, recipe.compiler.program, inside, digest) for file in files]
    fixed = [unit for unit in sim.fixed_units(recipe) if unit.source.stem not in _NOT_OURS]
    own = sim.policy_units(module, recipe)
    return _link_fair(module, [*ours, *fixed], own, recipe)


def _link_fair(module: Module, units: list[Unit], own: list[Unit], recipe: Recipe) -> Path:
    digest = hashlib.sha256("\0".join(str(unit.object) for unit in [*units, *own]).encode())
    digest.update("\0".join(recipe.linking).encode() + kinds.ORDER.read_bytes())
    program = CACHE / "programs" / f"fair-{module.name}-{digest.hexdigest()[:24]}"
    if program.exists():
        return program
    try:
        objects = compile_all([*units, *own])
    except CompileError as error:
        raise complaints.of_compiler(error) from error
    cache.make(program.parent)
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name, replacing(program) as scratch:
        joined = _joined(Path(name) / f"{module.name}.o", [objects[unit] for unit in own])
        files = [*(objects[unit] for unit in units), joined]
        command = [recipe.compiler.program, *map(str, files), *recipe.linking]
        _run([*command, "-o", str(scratch)])
    return program


def _for_replay(unit: Unit) -> Unit:
    """With locks.h, which the kernel side's sched.h includes then, and a READ_ONCE() that may wait."""
    again = unit.look_again
    return replace(
        unit,
        # From there locks.h is found, by policies too.
        flags=(*unit.flags, "-DSIM_REPLAY", "-idirafter", str(kinds.CORE)),
        inputs=_with_locks(unit.inputs),
        look_again=again and (lambda: _with_locks(again())),
    )


def _with_locks(inputs: str) -> str:
    return hash_files([_SOURCES / "locks.h"], _SOURCES, inputs)


def _own_units(recipe: Recipe) -> list[Unit]:
    inside = (
        *sim.kernel_flags(recipe),
        f"-I{kinds.CORE}",
        f"-I{kinds.ENGINE}",
        f"-I{kinds.CLASS}",
    )
    digest = hash_files(_SOURCES.glob("*.h"), _SOURCES, sim.kernel_inputs())
    files = sorted(_SOURCES.glob("*.c"))
    compiler = recipe.compiler.program
    found = [Unit(file, compiler, (*inside, "-DSIM_REPLAY"), digest) for file in files]
    outside = (*recipe.common, *sim.short_paths())
    host = [Unit(file, compiler, outside, digest) for file in sorted(_SOURCES.glob("host/*.c"))]
    return found + host


def _replaced() -> set[str]:
    return set(_REPLACED.findall((_SOURCES / "effects.c").read_text()))


def _renamed(object_: Path, place: Path) -> Path:
    """The object, or a copy in which what it defines of the replaced functions has its other name."""
    listed = subprocess.run(
        ["nm", "--defined-only", str(object_)], capture_output=True, text=True, check=True
    )
    defined = {line.split()[-1] for line in listed.stdout.splitlines() if line}
    found = sorted(defined & _replaced())
    if not found:
        return object_
    copy = place / object_.name
    words = [f"--redefine-sym={name}=model_of_{name}" for name in found]
    _run(["objcopy", *words, str(object_), str(copy)])
    return copy


def _joined(joined: Path, objects: list[Path]) -> Path:
    _run(["ld", "-r", "-o", str(joined), *map(str, objects)])
    _run(["objcopy", "--wildcard", "--localize-symbol=*", str(joined)])
    return joined


def _run(command: list[str]) -> None:
    done = run_tool(command)
    if done.returncode:
        raise SaakmError("the replayer cannot be built", done.stderr[-3000:], "see sim/replay")
