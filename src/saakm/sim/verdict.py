# SPDX-License-Identifier: GPL-2.0
"""What went wrong in a simulation, on stderr, and the exit status that it has."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from ..base import cache
from ..base.errors import SaakmError
from .crash import Failed
from .log import is_long, shortened
from .run import Outcome
from .scenario import keep

LOG = "kernel.log"
# As for other programs that test something: 1 is a fault of what is tested.
_MISBEHAVED, _NO_RESULT = 1, 2


@contextlib.contextmanager
def statuses() -> Iterator[None]:
    """Whatever keeps a simulation from a result is no misbehaviour of the class or a policy."""
    try:
        yield
    except Failed:
        raise  # it knows
    except SaakmError as error:
        error.status = _NO_RESULT
        raise
    except OSError as error:
        if not (refusal := cache.explain(error)):
            raise
        refusal.status = _NO_RESULT
        raise refusal from error


def tell(outcome: Outcome, kept: Path | None) -> int:
    """What the kernel said, if something went wrong. `kept`: where all of that is already."""
    found = outcome.simulation
    if not outcome.misbehaved and not found.warnings:
        return 0
    log = outcome.log
    if is_long(log):
        log = shortened(log, str(kept or keep(log, "log")))
    print(log, end="", file=sys.stderr)
    for warning in found.warnings:
        print(f"saakm: the simulated kernel complained: {warning}", file=sys.stderr)
    for policy in found.ejected:
        assert policy.ejected
        print(
            f"saakm: policy '{policy.name}' was ejected at {policy.ejected.at_ns / 1e9:.6f} s: "
            f"{policy.ejected.kind}: {policy.ejected.reason}\n"
            f"  next: docs/reference/safety.md on '{policy.ejected.kind}'",
            file=sys.stderr,
        )
    return _MISBEHAVED if outcome.misbehaved else 0
