# SPDX-License-Identifier: GPL-2.0
"""One variant of a workload by itself, for who looks at what it does instead of how long it takes."""

import re

from ...base.errors import BadInput
from ...builder.programs import compile_static
from ...model.workload import Variant, Workload, load_all, program_source
from . import packages, script
from .workloads import choose


def find(word: str) -> tuple[Workload, Variant]:
    """WORKLOAD:VARIANT; where its name ends with a number, that may be another than the file's."""
    known = load_all(points=re.findall(r"-(\d+)$", word))
    found = choose([word], known)
    if len(found) != 1:
        names = [f"{one.workload}:{one.name}" for one in found]
        raise BadInput(
            f"'{word}' are {len(found)} commands", f"there are {', '.join(names)}", names[0]
        )
    return known[found[0].workload], found[0]


def prepare(word: str) -> tuple[str, list[str]]:
    """A script for the guest that comes before, and the command. Installs what it needs."""
    workload, variant = find(word)
    packages.ensure(workload.packages)
    programs = {name: compile_static(program_source(name)) for name in variant.programs}
    setup = script.setup(variant, programs) or "true"
    return setup, ["sh", "-c", script.BEGIN + variant.command]
