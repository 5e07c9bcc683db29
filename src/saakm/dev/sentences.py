# SPDX-License-Identifier: GPL-2.0
"""What saakm dev says, on whatever it says it."""

from .loop import Update
from .sample import Snapshot


def tell(update: Update, name: str) -> str:
    """One line on what became of a save, or of several that were built together."""
    several = f"{update.saves} saves at once: " if update.saves > 1 else ""
    return several + _outcome(update, name)


def _outcome(update: Update, name: str) -> str:
    if update.outcome == "compile-error":
        return f"{name} does not compile; version {update.version} goes on"
    if update.outcome == "refused":
        return f"the new {name} was refused; version {update.version} is the last that ran"
    pause = ""
    if update.replacement.get("threads"):
        ms = update.replacement["longest_pause_ns"] / 1e6
        pause = f", {update.replacement['threads']} threads taken over, longest pause {ms:.2f} ms"
    return (
        f"version {update.version} schedules {update.seconds:.2f} s after the save "
        f"(build {update.build_seconds:.2f} s{pause}){' after an ejection' * (update.outcome == 'reloaded')}"
    )


def figures(now: Snapshot) -> str:
    wakeups = ", ".join(f"p{p} {us:,.0f} us" for p, us in now.wakeup_us.items()) or "none"
    return (
        f"{as_figure(now.switches_rate)} switches/s, {now.migrations_rate:,.0f} migrations/s, "
        f"wakeup to CPU {wakeups}"
    )


def as_figure(value: float | None) -> str:
    """What is not known is not nought."""
    return "?" if value is None else f"{value:,.0f}"
