# SPDX-License-Identifier: GPL-2.0
"""The simulator's engine, by C programs in tests/sim/, each built by both compilers and with sanitizers."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from saakm.base import paths

ENGINE = paths.REPO / "sim" / "engine"
TESTS = paths.REPO / "tests" / "sim"
# What the tests need of it: results and programs of threads have their own tests.
PARTS = [
    *("far", "files", "loop", "memory", "options", "output", "percpu", "print", "probe", "queue"),
    *("random", "ring", "scan", "shared", "signals", "strand", "strings", "symbols", "text"),
]


@dataclass(frozen=True)
class Build:
    name: str
    compiler: str
    flags: tuple[str, ...]


PLAIN = Build("gcc", "gcc", ("-O2",))
CLANG = Build("clang", "clang-19", ("-O2", "-Wno-unused-command-line-argument"))
SANITIZED = Build(
    "sanitized",
    "gcc",
    (
        *("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
        "-fsanitize-sections=sim_percpu",
    ),
)
PORTABLE = Build("ucontext", "gcc", ("-O1", "-DSIM_UCONTEXT"))


class Programs:
    """Built when they are first asked for."""

    def __init__(self, directory: Path):
        self.directory = directory

    def build(self, name: str, build: Build) -> Path:
        if not shutil.which(build.compiler):
            pytest.skip(f"there is no {build.compiler}")
        program = self.directory / f"{name}-{build.name}"
        if not program.exists():
            objects = self._engine(build)
            sources = [str(TESTS / f"{name}.c"), str(TESTS / "stubs.c")]
            self._compile(build, *sources, *map(str, objects), "-o", str(program))
        return program

    def _engine(self, build: Build) -> list[Path]:
        objects = []
        for part in (*PARTS, "main"):
            objects.append(self.directory / f"{part}-{build.name}.o")
            if not objects[-1].exists():
                source = str(ENGINE / f"{part}.c")
                self._compile(build, "-c", source, "-o", str(objects[-1]))
        return objects

    def _compile(self, build: Build, *arguments: str) -> None:
        flags = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-no-pie", f"-I{ENGINE}"]
        command = [build.compiler, *flags, *build.flags, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("engine"))


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("build", [PLAIN, CLANG, SANITIZED, PORTABLE], ids=lambda build: build.name)
@pytest.mark.parametrize("name", ["queue", "text", "strings", "random", "strands", "memory"])
def test_engine(programs: Programs, name: str, build: Build) -> None:
    done = run(programs.build(name, build))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_random_numbers_stay_the_same(programs: Programs) -> None:
    """They are part of what a seed means."""
    assert run(programs.build("random", PLAIN)).stdout == RANDOM_NUMBERS


def test_same_interleaving_everywhere(programs: Programs) -> None:
    """Also who is deadlocked at the end, as it has waited in vain."""
    outputs = {
        run(programs.build("strands", build)).stdout for build in (PLAIN, SANITIZED, PORTABLE)
    }
    assert len(outputs) == 1
    said = outputs.pop().splitlines()
    assert said[0].count(":i/") == 4
    assert said[1] == f"deadlock of CPU 1: the test, {said[1].split()[-2]} ns"
    times = [int(word.split(":")[0]) for word in said[0].split()]
    assert times == sorted(times) and times[0] > 5000


@pytest.mark.parametrize(
    "kind", ["behind", "before", "template", "dynamic", "freed", "heap", "heap-freed"]
)
def test_mistakes_are_found(programs: Programs, kind: str) -> None:
    done = run(programs.build("memory", SANITIZED), kind)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
    assert "in mistake" in done.stderr


def test_speed_is_measurable(programs: Programs) -> None:
    lines = run(programs.build("queue_speed", PLAIN)).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["pending", "10", "1000", "10000", "100000"]


RANDOM_NUMBERS = """\
1 interleave 0: dd98cfa135205131 f96d02443f7a151a c13b38f2657c383e 907
1 interleave 1: 02861ce2b709b6dd fdba54eaed631a35 4c649a1d9812a02e 955
2 interleave 0: 042dc1878df42e3d 5633cb2375a534e9 986c643673d1eb88 593
1 fail 0: 0d4dc815d0f5f698 4c12dbe44d5b9c10 bdf56b64def8f058 439
0  0: fb5405f7bd79c540 780c98e26cea5883 2a146e0980febc66 362
"""
