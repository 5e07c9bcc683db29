# SPDX-License-Identifier: GPL-2.0
"""A test's own policy in the simulator, with the class's checks and the sanitizers."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

Run = Callable[[str], subprocess.CompletedProcess[str]]


def simulated(module: str, workload: str, cpus: int, for_ns: int, directory: Path) -> Run:
    """Builds a module of tests/unit/modules. What is returned runs it, with a parameter of its own."""
    program = build(
        [read_module(paths.REPO / "tests/unit/modules" / module)], Recipe(Kind.SANITIZE)
    )
    file = directory / "program"
    file.write_text(to_text(registry.load(workload, cpus)))

    def run(parameter: str) -> subprocess.CompletedProcess[str]:
        given = [f"cpus={cpus}", "seed=1", f"for={for_ns}", "check=1", f"{module}.{parameter}"]
        return subprocess.run([program, *given, file], capture_output=True, text=True, timeout=300)

    return run
