# SPDX-License-Identifier: GPL-2.0
"""A file's way through both sides, and what came of it."""

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import SaakmError
from ...base.files import write_text
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
    run, trace = play(guest, case, policy, simulate(case, policy).first_pid)
    if keep:
        write_text(_place(keep, case, policy), trace + _end_of(case, policy))
    return run


def kept(directory: Path, case: Case, policy: str) -> Run:
    """What ran() has kept."""
    place = _place(directory, case, policy)
    text = place.read_text(errors="replace") if place.is_file() else ""
    if not text.endswith(end := _end_of(case, policy)):
        raise SaakmError(
            f"{place} is no run of {case.name} under {policy}",
            f"it does not end with '{end.strip()}'"
            if text
            else "there is no such file, or it is empty",
            f"run it anew with --keep {directory}: another file of rt-app, or one cut off, is no result",
        )
    return understood(text.removesuffix(end), case)


def compared(guest: Run, case: Case, policy: str) -> Row:
    """Simulated from about the same moment between two ticks on, and told the rest from the very same."""
    phase_ns = guest.begin_ns % TICK_NS
    shaken = tuple(simulate(case, policy, phase_ns + by_ns).figures for by_ns in _SHAKES_NS)
    told = simulate(case, policy, phase_ns, guest.foreign)
    return Row(case.name, policy, guest.figures, shaken, told.figures)


def _end_of(case: Case, policy: str) -> str:
    """The last line of what is kept: it is whole, and of the file as it is."""
    digest = hashlib.sha256(case.for_rtapp.encode()).hexdigest()[:16]
    return f"# end of {case.name} {digest} under {policy}\n"


def _place(directory: Path, case: Case, policy: str) -> Path:
    return directory / f"{case.name}.{policy}.trace"
