# SPDX-License-Identifier: GPL-2.0
"""policies/lavd/formulas.h computes what the rules of scx_lavd say, and differs if a line is wrong.

The header is compiled as a part of the simulator, with traps for what C leaves undefined.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from lavd_questions import ALL, EDGES, RANGES, TOPOLOGIES, Asked, drawn
from lavd_rules import MS, RULES, parts, split

from saakm.base import paths
from saakm.sim import kinds
from saakm.sim.compile import headers_of
from saakm.sim.kinds import Compiler, Kind, Recipe

DRIVER = Path(__file__).parent / "data" / "lavd_formulas.c"
HEADER = paths.POLICIES / "lavd" / "formulas.h"
SANITIZED = Recipe(Kind.SANITIZE)
QUICK = Recipe(level="-O0")
COUNTED = Recipe(compiler=Compiler.CLANG, level="-O1")
# Which wraps on purpose: a clock may be ahead of a deadline.
WRAPS = {"clock_step"}
DRAWN = 3000

BY_HAND = [
    ("bits", (0,), 1),
    ("bits", (1024,), 11),
    ("mean", (8, 16), 9),
    ("mean", (1, 0), 0),
    ("mean", (4, 100), 52),
    ("rising_mean", (8, 16), 14),
    ("rising_mean", (16, 8), 15),
    ("frequency", (0, MS), 500),
    ("frequency", (1000, 125 * MS), 876),
    ("frequency", (1000, 1000 * MS), 500),
    ("weight_factor", (100, 0), 101),
    ("weight_factor", (100, 0b1100), 102_501),
    ("weight_factor", (1, ALL), 3202),
    ("own_criticality", (0, 0, 0, 101), 361),
    ("own_criticality", (10**9, 10**9, 10**9, 2), 36**2),
    ("criticality", (361, 2000, 2000), 451),
    ("criticality", (361, 361, 369), 362),
    ("lag_max", (200,), 250 * MS),
    ("penalty", (0, 500 * MS), 1536),
    ("penalty", (600 * MS, 500 * MS), 1024),
    ("penalty", (-600 * MS, 500 * MS), 2048),
    ("deadline_delta", (0, 1024, 1000), 5000),
    ("deadline_delta", (7 * MS, 2048, 1000), 20_000),
    ("window", (4, 4), 4577),
    ("window", (8, 4), 2288),
    ("clock_step", (100, 99, 1), 0),
    ("clock_step", (100, 200, 3), 33),
    ("system_slice", (4, 16, MS // 2, 5 * MS), 2_500_000),
    ("system_slice", (4, 0, MS // 2, 5 * MS), 5 * MS),
    ("slice", (5 * MS, MS, 2 * MS, 9 * MS, 9, 9, 1, 1, 1), 2 * MS),
    ("slice", (5 * MS, MS, 2 * MS, 9 * MS, 9, 9, 0, 1, 1), 9_500_000),
    ("slice", (5 * MS, MS, 2 * MS, 9 * MS, 10, 9, 0, 0, 1), 9 * MS),
    ("slice", (5 * MS, MS, 2 * MS, 99 * MS, 10, 9, 0, 0, 1), 10 * MS),
    ("boosted", (5 * MS, MS, 2 * MS, 9 * MS, 9, 9, 0, 0, 1), False),
    ("threshold", (1000, 360, 6), 990),
    ("normalized", (250, 1000), 256),
    ("vulnerability", (1024, 128), 258),
]

# Of (cores, least, most): the part of each core.
PARTS_BY_HAND = {
    (1, 2, 8): "0",
    (2, 2, 8): "00",
    (3, 2, 8): "000",
    (5, 2, 8): "00000",
    (6, 2, 8): "001122",
    (8, 2, 8): "00112233",
    (9, 2, 8): "000111222",
    (11, 2, 8): "00112233444",
    (4, 4, 4): "0000",
    (6, 4, 4): "000000",
    (7, 4, 4): "0000000",
    (8, 4, 4): "00001111",
    (11, 4, 4): "00001111111",
    (16, 8, 8): "0000000011111111",
    (12, 8, 8): "000000000000",
    (7, 3, 5): "0001111",
    (8, 3, 5): "00001111",
    (10, 3, 5): "0000011111",
    (11, 3, 5): "00000111111",
    (13, 3, 5): "0001112223333",
    (14, 3, 5): "00011122233333",
    (17, 3, 5): "00001111222233333",
    (12, 1, 8): "0123456789ab",
}

# One line of each formula, and a wrong one that compiles as well.
MUTANTS = {
    "bits": ("ilog2(v) + 1 : 1;", "ilog2(v) + 1 : 0;"),
    "mean": ("old - (old >> 3) + (new >> 3)", "old - (old >> 3) + (new >> 2)"),
    "rising_mean": ("(new >> 2) + (old >> 2)", "(new >> 3) + (old >> 3)"),
    "frequency": ("lavd_mean(old, div64_u64", "lavd_rising_mean(old, div64_u64"),
    "weight_factor": ("else if (how & LAVD_WOKEN_BY_SOFTIRQ)", "if (how & LAVD_WOKEN_BY_SOFTIRQ)"),
    "own_criticality": ("LAVD_FREQUENCY_MAX\t100000", "LAVD_FREQUENCY_MAX\t131072"),
    "criticality": ("own >> 2", "own >> 1"),
    "lag_max": ("LAVD_LAG_MAX_NS\t\t(500", "LAVD_LAG_MAX_NS\t\t(501"),
    "penalty": ("clamp(lag, -lag_max, lag_max)", "min(lag, lag_max)"),
    "deadline_delta": ("LAVD_RUN_MAX_NS\t\t(5 ", "LAVD_RUN_MAX_NS\t\t(6 "),
    "window": (">> 16)", ">> 15)"),
    "clock_step": ("nr_queued <= 1 ?", "nr_queued <= 2 ?"),
    "system_slice": ("LAVD_LATENCY_NS\t\t(10 ", "LAVD_LATENCY_NS\t\t(15 "),
    "slice": ("2 * in->system_ns", "3 * in->system_ns"),
    "boosted": ("in->criticality <= in->average", "in->criticality < in->average"),
    "threshold": ("((max - average) >> shift)", "((max - average) << shift)"),
    "normalized": ("criticality >= max ?", "criticality > max / 2 ?"),
    "vulnerability": ("normalized / 64 * 16", "normalized * 16 / 64"),
    "split": ("cores % size < cores % best", "cores % size <= cores % best"),
    "part": ("cores / size - 1", "cores / size"),
}


def compiled(recipe: Recipe, header: Path, where: Path, *more: str) -> Path:
    """The driver, with that header. `more`: flags that come last."""
    compiler = recipe.compiler.program
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    flags = [*recipe.common, *kinds.kernel_side(recipe, headers_of(compiler)), *more]
    unit, program = where / "driver.o", where / "driver"
    source = ["-I", str(header.parent), "-c", str(DRIVER), "-o", str(unit)]
    subprocess.run([compiler, *flags, "-Werror", *source], check=True)
    link = [compiler, str(unit), *recipe.linking[:-1], *more, "-o", str(program)]
    subprocess.run(link, check=True)
    return program


def ask(program: Path, function: str, asked: Iterable[Asked]) -> tuple[list[int], str]:
    """The answers, and of what the sanitizers complain."""
    lines = "".join(f"{function} {' '.join(map(str, one))}\n" for one in asked)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()], done.stderr


def differences(program: Path, function: str, asked: list[Asked]) -> list[tuple[Asked, int, int]]:
    """(arguments, answer, what the rule says) of each that differs."""
    answers, _ = ask(program, function, asked)
    assert len(answers) == len(asked)
    expected = (RULES[function](*one) for one in asked)
    return [(one, is_, by) for one, is_, by in zip(asked, answers, expected) if is_ != by]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels let signed numbers wrap; the sanitizer is to see those that do not fit."""
    return compiled(SANITIZED, HEADER, tmp_path_factory.mktemp("formulas"), "-fstrict-overflow")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It complains of unsigned numbers that wrap, and of conversions that lose something."""
    flag = "-fsanitize=integer,implicit-conversion"
    quiet = "-Wno-unused-command-line-argument"  # -no-pie of a static program
    return compiled(COUNTED, HEADER, tmp_path_factory.mktemp("counted"), flag, quiet)


@pytest.mark.parametrize(
    ("function", "asked", "expected"), BY_HAND, ids=lambda part: str(part).replace(" ", "")
)
def test_by_hand(program: Path, function: str, asked: Asked, expected: int) -> None:
    assert RULES[function](*asked) == expected
    assert ask(program, function, [asked])[0] == [expected]


@pytest.mark.parametrize("function", RULES)
def test_around_limits(program: Path, function: str) -> None:
    asked = list(EDGES[function]())
    assert len(set(asked)) >= 20
    assert differences(program, function, asked) == []


@pytest.mark.parametrize("function", RULES)
def test_drawn(program: Path, function: str) -> None:
    asked = drawn(function, DRAWN)
    assert len(set(asked)) >= 20
    assert differences(program, function, asked) == []


@pytest.mark.parametrize("function", sorted(RULES.keys() - WRAPS))
def test_nothing_wraps(counted: Path, function: str) -> None:
    assert ask(counted, function, [*EDGES[function](), *drawn(function, DRAWN)])[1] == ""


def test_what_wraps_is_noticed(counted: Path) -> None:
    """Else the silence about the others would mean nothing."""
    for function in WRAPS:
        assert "unsigned integer overflow" in ask(counted, function, EDGES[function]())[1]


def assigned(program: Path, topologies: Sequence[Asked]) -> Iterator[list[int]]:
    """Of each topology: the part of each core, as the policy finds it."""
    sizes, _ = ask(program, "split", topologies)
    cores_of = [range(cores) for cores, *_ in topologies]
    asked = [(n, len(cores), size) for cores, size in zip(cores_of, sizes) for n in cores]
    answers = iter(ask(program, "part", asked)[0])
    for cores in cores_of:
        yield [next(answers) for _ in cores]


def test_parts_by_hand(program: Path) -> None:
    expected = [[int(part, 16) for part in text] for text in PARTS_BY_HAND.values()]
    assert list(assigned(program, list(PARTS_BY_HAND))) == expected
    assert [parts(cores, split(cores, *size)) for cores, *size in PARTS_BY_HAND] == expected


def test_parts_of_every_topology(program: Path) -> None:
    """By the rules, and whatever these say: no part is empty, nor smaller than allowed."""
    for topology, found in zip(TOPOLOGIES, assigned(program, TOPOLOGIES)):
        cores, least, most = topology
        assert found == parts(cores, split(cores, least, most)), topology
        counts = [found.count(part) for part in range(found[-1] + 1)]
        assert found == sorted(found) and sum(counts) == cores, topology
        assert min(counts) >= min(least, cores), topology
        assert max(counts[:-1], default=1) <= most, topology
    assert len(RANGES) * 64 == len(TOPOLOGIES)


def test_each_formula_has_a_mutant() -> None:
    assert MUTANTS.keys() == RULES.keys()


@pytest.mark.parametrize("function", MUTANTS)
def test_mutant_is_noticed(function: str, tmp_path: Path) -> None:
    """By its table as by what is drawn: neither alone shall find nothing, ever."""
    right, wrong = MUTANTS[function]
    text = HEADER.read_text()
    assert text.count(right) == 1, f"{HEADER.name} has changed: give {function} another mutant"
    header = tmp_path / HEADER.name
    header.write_text(text.replace(right, wrong))
    mutant = compiled(QUICK, header, tmp_path)
    assert differences(mutant, function, list(EDGES[function]()))
    assert differences(mutant, function, drawn(function, DRAWN))
