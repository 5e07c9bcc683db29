# SPDX-License-Identifier: GPL-2.0
"""A file's way through both sides, and what came of it."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import SaakmError
from ...base.progress import meter
from ...builder.ready import build_all
from ...vm.guest import Guest
from .case import Case
from .compare import Row
from .figures import Run
from .in_guest import guest_machine, play, understood
from .simulated import TICK_NS, simulate

_CONFIG = "base"
_SHAKES_NS = (-16_000, -8_000, -4_000, -2_000, 0, 2_000, 4_000, 8_000, 16_000)


def in_one_guest(cases: list[Case], policies: list[str], keep: Path | None) -> Iterator[Row]:
    """All on the same machine."""
    kernel = build_all(_CONFIG).kernel
    with (
        meter("running", len(cases) * len(policies)) as progress,
        Guest(kernel, guest_machine(cases[0].topology)) as guest,
    ):
        for case, policy in itertools.product(cases, policies):
            yield compared(ran(guest, case, policy, keep), case, policy)
            progress.advance(1)


def ran(guest: Guest, case: Case, policy: str, keep: Path | None = None) -> Run:
    """With threads numbered as the simulator numbers them."""
    first_pid = simulate(case, policy).first_pid
    return play(guest, case, policy, first_pid, _place(keep, case, policy) if keep else None)


def kept(directory: Path, case: Case, policy: str) -> Run:
    """What ran() has kept."""
    place = _place(directory, case, policy)
    if not place.exists():
        raise SaakmError(
            f"there is no {place}", "no run of it was kept", f"run it with --keep {directory}"
        )
    return understood(place.read_text(errors="replace"), case)


def compared(guest: Run, case: Case, policy: str) -> Row:
    """Simulated from about the same moment between two ticks on, and told the rest from the very same."""
    phase_ns = guest.begin_ns % TICK_NS
    shaken = tuple(simulate(case, policy, phase_ns + by_ns).figures for by_ns in _SHAKES_NS)
    told = simulate(case, policy, phase_ns, guest.foreign)
    return Row(case.name, policy, guest.figures, shaken, told.figures)


def _place(directory: Path, case: Case, policy: str) -> Path:
    return directory / f"{case.name}.{policy}.trace"
