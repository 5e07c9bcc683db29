# SPDX-License-Identifier: GPL-2.0
"""sim/include/ stands for the kernel's headers: all that is ours compiles against it, unchanged."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.sim import kinds
from saakm.sim.compile import headers_of
from saakm.sim.kinds import Compiler, Kind, Recipe

CHECKS = Path(__file__).parent / "data" / "sim_headers.c"
EXAMPLES = paths.REPO / "docs" / "examples"
# They look into a running kernel's code.
KERNEL_ONLY = {
    paths.GUEST_MODULES / "midfork/midfork.c": "linux/kprobes.h",
    paths.GUEST_MODULES / "swapdisk/swapdisk.c": "linux/bio.h",
}
RECIPES = [
    Recipe(),
    Recipe(nr_cpus=4096, level="-O1"),
    Recipe(Kind.SANITIZE, nr_cpus=200, level="-O1"),
    Recipe(compiler=Compiler.CLANG, level="-O1"),
]


def modules() -> list[Path]:
    places = (paths.POLICIES, EXAMPLES, EXAMPLES / "skeletons", paths.GUEST_MODULES)
    return sorted(source for place in places for source in place.glob("*/*.c"))


def compiled(recipe: Recipe, source: Path, *more: str) -> str:
    """What the compiler says, to which the headers' own warnings are as interesting."""
    program = recipe.compiler.program
    flags = [*recipe.common, *kinds.kernel_side(recipe, headers_of(program)), "-Werror"]
    flags += ["-Wno-maybe-uninitialized"] if recipe.compiler is Compiler.GCC else []  # as a kernel
    done = subprocess.run(
        [program, *flags, *more, "-c", str(source)], capture_output=True, text=True
    )
    assert bool(done.stderr) == bool(done.returncode)
    return done.stderr


def as_module(source: Path) -> Sequence[str]:
    name = source.stem
    return ["-DMODULE", f'-DKBUILD_MODNAME="{name}"', f"-D__KBUILD_MODNAME=kmod_{name}"]


@pytest.fixture(
    params=RECIPES, ids=lambda recipe: f"{recipe.compiler}-{recipe.kind}-{recipe.nr_cpus}"
)
def recipe(request: pytest.FixtureRequest) -> Recipe:
    recipe: Recipe = request.param
    if not shutil.which(recipe.compiler.program):
        pytest.skip(f"there is no {recipe.compiler.program}")
    return recipe


def test_class(recipe: Recipe, tmp_path: Path) -> None:
    assert compiled(recipe, kinds.CLASS / "build.c", "-o", str(tmp_path / "class.o")) == ""


def test_modules(recipe: Recipe, tmp_path: Path) -> None:
    said = {}
    for source in modules():
        if source not in KERNEL_ONLY:
            out = ["-o", str(tmp_path / "module.o")]
            said[source.stem] = compiled(recipe, source, *as_module(source), *out)
    assert {name: text for name, text in said.items() if text} == {}
    assert {"vtime", "global", "shinjuku", "misuser"} <= said.keys()


@pytest.mark.parametrize("source", KERNEL_ONLY, ids=lambda source: source.stem)
def test_what_is_left_out_needs_more(source: Path, tmp_path: Path) -> None:
    said = compiled(Recipe(), source, *as_module(source), "-o", str(tmp_path / "module.o"))
    assert KERNEL_ONLY[source] in said


def test_each_header_by_itself(tmp_path: Path) -> None:
    for header in sorted(kinds.INCLUDE.rglob("*.h")):
        name = header.relative_to(kinds.INCLUDE)
        source = tmp_path / "alone.c"
        source.write_text(f"#include <{name}>\n#include <{name}>\n")
        assert compiled(Recipe(level="-O0"), source, "-o", str(tmp_path / "alone.o")) == "", name


def test_each_header_says_what_it_stands_for() -> None:
    for header in sorted(kinds.INCLUDE.rglob("*.h")):
        lines = header.read_text().splitlines()
        assert lines[0] == "/* SPDX-License-Identifier: GPL-2.0 */", header
        assert lines[1].startswith("/*"), header


def test_work_as_the_kernels(recipe: Recipe, tmp_path: Path) -> None:
    """Masks against a plain loop, trees against their rules, and so on."""
    objects = []
    for source in (CHECKS, kinds.CORE / "rbtree.c", kinds.CORE / "cpulist.c"):
        objects.append(str(tmp_path / f"{source.stem}.o"))
        assert compiled(recipe, source, *as_module(source), "-o", objects[-1]) == ""
    program = tmp_path / "checks"
    link = [recipe.compiler.program, *objects, *recipe.linking[:-1], "-o", str(program)]
    subprocess.run(link, check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all checks passed\n")
