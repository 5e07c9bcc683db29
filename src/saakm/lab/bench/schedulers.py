# SPDX-License-Identifier: GPL-2.0
"""What applications are run under, and how a command gets there."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...base.files import hash_named
from ...builder import peers
from ...builder.policies import (
    by_name,
    find_policy,
    module_name,
    own_policies,
    policies,
    source_files,
)

EEVDF = "eevdf"
DEFAULT = "eevdf,scx_fifo,fifo"
# As sched_getscheduler() says.
_FAIR, _EXT, _SAAKM = 0, 7, 8


@dataclass(frozen=True)
class Scheduler:
    name: str
    prefix: tuple[str, ...]  # of a command
    number: int  # what its threads see as their class
    build: str  # figures of another version are another scheduler's

    @property
    def is_policy(self) -> bool:
        return self.number == _SAAKM


def known() -> list[str]:
    own = [module_name(path) for path in own_policies()]
    return list(dict.fromkeys([EEVDF, *peers.OURS, *policies(), *own]))


def chosen(wanted: Sequence[str]) -> dict[str, Path | None]:
    """Returns them by name, with a policy's directory where the user has named one."""
    found = by_name(wanted or DEFAULT.split(","))
    for name, directory in found.items():
        if not directory and name not in known():
            raise SaakmError(
                f"there is no scheduler '{name}' to run applications under",
                f"there are {', '.join(known())}",
                "saakm bench --schedulers NAME[,NAME]; the first is compared with, and a policy elsewhere is named by its directory",
            )
    return found


def find(name: str, directory: Path | None, saakmctl: str = "saakmctl") -> Scheduler:
    """Builds a peer that is not built yet. `saakmctl`: where the commands run."""
    if name == EEVDF:
        return Scheduler(name, (), _FAIR, "")
    if name in peers.OURS:
        program = peers.build(name)
        # For the workload's threads alone, as policies are.
        return Scheduler(name, (str(program), "-p"), _EXT, program.parent.name)
    return Scheduler(
        name, (saakmctl, "exec", name, "--"), _SAAKM, _of_sources(directory or find_policy(name))
    )


def _of_sources(directory: Path | None) -> str:
    assert directory, "eevdf is no policy"
    return hash_named(source_files(directory))[:12]


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
