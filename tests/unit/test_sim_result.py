# SPDX-License-Identifier: GPL-2.0
"""What the simulator prints at its end, and its table of costs."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.model.schema import fit, parse_json
from saakm.model.simulation import Simulation

ENGINE = paths.REPO / "sim" / "engine"
HARNESS = Path(__file__).parent / "data" / "print_result.c"
FLAGS = ("-std=gnu11", "-g", "-O1", "-Wall", "-Werror", "-fms-extensions")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
PARTS = ("costs.c", "files.c", "histogram.c", "output.c", "result.c")
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    program = tmp_path_factory.mktemp("result") / "print_result"
    sources = [HARNESS, *(ENGINE / part for part in PARTS)]
    command = ["gcc", *FLAGS, *SANITIZE, f"-I{ENGINE}", *sources, "-o", program]
    subprocess.run(command, check=True)

    def ask(*arguments, stdin=""):
        return subprocess.run(
            [program, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env={"ASAN_OPTIONS": "detect_leaks=0"},
        )

    return ask


def waits(ask, times):
    done = ask("times", stdin="\n".join(map(str, times)))
    assert (done.stderr, done.returncode) == ("", 0)
    return json.loads(done.stdout)["groups"][0]["waits"]


def exact(times, share):
    """The least of the times that so many do not exceed."""
    return sorted(times)[max(0, -(-int(share * 1000) * len(times) // 1000) - 1)]


def drawn(kind, count=5000):
    rng = random.Random(kind)
    draw = {
        "small": lambda: rng.randrange(130),
        "uniform": lambda: rng.randrange(10**9),
        "exponential": lambda: int(rng.expovariate(1e-6)),
        "all sizes": lambda: int(2 ** rng.uniform(0, 63)),
        "two": lambda: rng.choice([1000, 5_000_000]),
    }[kind]
    return [draw() for _ in range(count)]


@pytest.mark.parametrize("kind", ["small", "uniform", "exponential", "all sizes", "two"])
def test_percentiles_are_exact_to_one_per_cent(ask, kind):
    times = drawn(kind)
    said = waits(ask, times)
    assert said["count"] == len(times)
    assert said["sum_ns"] == sum(times) % 2**64
    assert (said["min_ns"], said["max_ns"]) == (min(times), max(times))
    for name, share in QUANTILES.items():
        assert said[name] == pytest.approx(exact(times, share), rel=0.01), name


@pytest.mark.parametrize("ns", [0, 1, 63, 64, 127, 128, 129, 2**32, 2**63, 2**64 - 1])
def test_of_one_time_all_are_the_same(ask, ns):
    said = waits(ask, [ns])
    assert said == {"count": 1, "sum_ns": ns, "min_ns": ns, "max_ns": ns} | dict.fromkeys(
        QUANTILES, ns
    )


def test_no_times_are_zeros(ask):
    assert set(waits(ask, []).values()) == {0}


def test_the_line_is_what_python_reads(ask):
    done = ask("times", stdin="5 6 7")
    simulation = fit(parse_json(done.stdout), Simulation)
    assert done.stdout.count("\n") == 1
    assert (simulation.seed, simulation.hash) == (2**64 - 1, "0000000000000abc")
    assert (simulation.migrations.smt, simulation.migrations.far) == (16, 19)
    assert [policy.name for policy in simulation.ejected] == ["rr"]
    assert simulation.groups[0].marks["b"].count == 3
    assert simulation.groups[0].marks["a"].count == 0


def test_texts_are_quoted_and_said_once(ask):
    done = ask("texts", 'a "b" \\ \t\x01 é')
    said = json.loads(done.stdout)
    assert said["policies"][1]["ejected"]["reason"] == 'a "b" \\ \t\x01 ??'
    assert said["warnings"] == ['a "b" \\ \t\x01 ??', "another"]


def test_a_full_disk_is_no_result(ask, tmp_path):
    harness = ask("times", stdin="1")
    assert harness.returncode == 0
    program = harness.args[0]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program, "texts"], stdout=full, stderr=subprocess.PIPE, text=True,
            env={"ASAN_OPTIONS": "detect_leaks=0"},
        )  # fmt: skip
    assert done.returncode == 2
    assert "standard output" in done.stderr and "No space left" in done.stderr


COSTS = {
    "switch 0": "0 0",
    "switch 100": "100 0",
    "# a table\n\n wakeup\t20 # why\nswitch 7\nrate 2000": "3 10",
    "rate 500\nswitch 7\n": "14 0",
    "switch 1000000000\nrate 1": "1000000000000 0",
}


@pytest.mark.parametrize("text", COSTS)
def test_costs_are_instructions_at_a_rate(ask, tmp_path, text):
    file = tmp_path / "costs"
    file.write_text(text)
    done = ask("costs", file)
    assert (done.stdout.strip(), done.stderr) == (COSTS[text], "")


REFUSED = {
    "switch": (1, "a line is NAME INSTRUCTIONS"),
    "switch 1 2": (1, "a line is NAME INSTRUCTIONS"),
    "\nswitsh 1": (2, "'switsh' is nothing that has a cost"),
    "switch -1": (1, "the number is '-1': it must be 0 to 1000000000"),
    "switch 1000000001": (1, "it must be 0 to 1000000000"),
    "switch 1e3": (1, "it must be 0 to 1000000000"),
    "switch 1\nswitch 1": (2, "'switch' was in line 1 already"),
    "rate 0": (1, "it must be 1 to 1000000"),
    "rate 1\nrate 1": (2, "'rate' was in line 1 already"),
    "\n\n" + "x" * 300: (3, "no line of a table of costs"),
    "": (0, "it names no cost"),
    "# none\nrate 1": (0, "it names no cost"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_table_of_costs_is_refused_with_the_line(ask, tmp_path, text):
    file = tmp_path / "costs"
    file.write_text(text)
    done = ask("costs", file)
    line, said = REFUSED[text]
    assert done.returncode == 2
    assert done.stderr.startswith(f"{file}:{line}: ") and said in done.stderr
