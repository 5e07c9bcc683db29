# SPDX-License-Identifier: GPL-2.0
"""Simulators whose agents are in another process: for tests of those, which start them by themselves."""

from .asked import Course
from .build import build
from .scenario import keep


def described(course: Course) -> dict[str, str]:
    """What such a process must know: see crates/saakm-user/src/simulate/ask.rs. Builds the program."""
    scenario = course.scenario
    program = build(course.modules, course.recipe, elsewhere=True)
    costs = str(keep(scenario.costs, "costs")) if scenario.costs is not None else "free"
    return {"simulator": str(program), "costs": costs, "program": scenario.program}
