# SPDX-License-Identifier: GPL-2.0
"""What went wrong in a simulation, on stderr, and the exit status that it has."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from ..base import cache
from ..base.errors import SaakmError
from ..model.simulation import Policy
from ..view.text import counted
from .crash import Failed, debugger
from .log import is_long, shortened
from .run import Outcome
from .scenario import keep

LOG = "kernel.log"
# By a write to /sys/kernel/saakm/eject: of a workload, as torture, or --set.
_REQUESTS = ("user",)
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
    print(log, end="\n" if log and not log.endswith("\n") else "", file=sys.stderr)
    for sentence in sentences(outcome):
        print(sentence, file=sys.stderr)
    return _MISBEHAVED if outcome.misbehaved else 0


def sentences(outcome: Outcome) -> list[str]:
    """What went wrong, by whose fault, and how to look into it; none: nothing did."""
    found = outcome.simulation
    # Those of the kernel stand in its log, where some may be cut; others are about the workload.
    said = [text for text in found.warnings if text in outcome.log]
    lines = [f"saakm: {text}" for text in found.warnings if text not in said]
    if said:
        more = f" (and {counted(len(said) - 1, 'complaint')} more)" if said[1:] else ""
        lines.append(f"saakm: the simulated kernel complained: {said[0]}{more}")
    for policy in found.ejected:
        lines += _ejection(policy)
    if outcome.misbehaved:
        lines.append(f"  {debugger(outcome.command)}")
    return lines


def _ejection(policy: Policy) -> list[str]:
    ejected = policy.ejected
    assert ejected
    when = f"saakm: policy '{policy.name}' was ejected at {ejected.at_ns / 1e9:.6f} s"
    if ejected.kind in _REQUESTS:
        return [f"{when} on request, which is no fault ({ejected.reason})"]
    return [
        f"{when}: {ejected.kind}: {ejected.reason}",
        f"  next: docs/reference/safety.md on '{ejected.kind}'",
    ]
