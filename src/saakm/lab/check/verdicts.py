# SPDX-License-Identifier: GPL-2.0
"""What was tried, what held and what did not: in words, or for scripts."""

import re
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.markup import escape

from ...view.terminal import label, table
from .checks import CHECKS
from .evaluate import Finding
from .plan import Trial

_STYLE = {"held": "green", "failed": "bold red", "skipped": "dim"}
_NOT_PROMISED = "not promised"
# What saakm_refuse_load() leaves in last_error; not what an init does that gives no reason.
_REFUSED = re.compile(r"it cannot be loaded: Invalid argument: load \S+: (?!its init returned)(.*)")


@dataclass(frozen=True)
class Row:
    check: str
    where: str
    finding: Finding
    command: str = ""  # what repeats it

    def as_json(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "where": self.where,
            "command": self.command,
            **vars(self.finding),
        }


def skipped(names: list[str], promised: list[str]) -> list[Row]:
    """The promises that the policy does not make."""
    return [
        Row(name, "", Finding("skipped", [_NOT_PROMISED]))
        for name in names
        if CHECKS[name].promise and name not in promised
    ]


def excuse(rows: list[Row]) -> list[Row]:
    """Of several machines: a policy may refuse some, with a reason, if others have tried the check."""
    reasons = [_REFUSED.fullmatch("\n".join(row.finding.failures)) for row in rows]
    tried = {row.check for row, reason in zip(rows, reasons) if not reason}
    loaded = {row.where for row, reason in zip(rows, reasons) if not reason}
    return [
        replace(row, finding=Finding("skipped", [f"the policy refuses this machine: {reason[1]}"]))
        if reason and row.check in tried and row.where not in loaded
        else row
        for row, reason in zip(rows, reasons)
    ]


def row(trial: Trial, finding: Finding, policy: str, options: list[str]) -> Row:
    return Row(trial.check, trial.where, finding, trial.command(policy, options))


def in_order(rows: list[Row]) -> list[Row]:
    order = list(CHECKS)
    return sorted(rows, key=lambda row: order.index(row.check))  # stable


def show(policy: str, seed: int, rows: list[Row], console: Console) -> None:
    columns = map(label, ("check", "where", "result"))
    shown = table(f"{policy}, seed {seed}", *columns, "what was tried")
    for row in rows:
        finding = row.finding
        said = finding.failures[:1] if finding.verdict == "failed" else finding.tried
        verdict = f"[{_STYLE[finding.verdict]}]{finding.verdict}"
        shown.add_row(row.check, row.where, verdict, escape("; ".join(said)))
    console.print(shown)
    for row in rows:
        if row.finding.verdict == "failed":
            _tell(row, console)
    _conclude(policy, rows, console)


def _tell(row: Row, console: Console) -> None:
    """One failure, whole."""
    finding = row.finding

    def say(text: str, indent: str) -> None:
        for line in text.splitlines():
            console.print(indent + line, markup=False, highlight=False, soft_wrap=True)

    console.print(f"\n[bold red]{row.check}[/] ({row.where}) did not hold:", highlight=False)
    say("\n".join(finding.failures), "  ")
    say(f"what shall hold:  {CHECKS[row.check].what}", "  ")
    if finding.tried:
        say("what was tried:   " + "; ".join(finding.tried), "  ")
    say(f"again:            {row.command}", "  ")
    if finding.dump:
        say("how it came about (saakmctl dump):", "  ")
        say(finding.dump, "    ")
    if finding.kernel:
        say("the kernel's words:", "  ")
        say(finding.kernel, "  | ")


def _conclude(policy: str, rows: list[Row], console: Console) -> None:
    counts = {verdict: sum(row.finding.verdict == verdict for row in rows) for verdict in _STYLE}
    words = f"{policy}: {counts['held']} held, {counts['failed']} did not"
    unpromised = sum(row.finding.tried == [_NOT_PROMISED] for row in rows)
    words += f"; {unpromised} are not promised" if unpromised else ""
    if refused := counts["skipped"] - unpromised:
        words += f"; {refused} on machines that it refuses"
    style = "bold red" if counts["failed"] else "bold green"
    console.print(f"\n[{style}]{words}[/]", highlight=False)


def show_checks(console: Console) -> None:
    shown = table("what saakm check tries", label("check"), "holds for", "what shall hold")
    for name, check in CHECKS.items():
        shown.add_row(name, "who promises it" if check.promise else "every policy", check.what)
    console.print(shown)
    console.print(
        'A policy promises in its C file: MODULE_INFO(saakm_promises, "no-starvation, fairness");',
        highlight=False,
        soft_wrap=True,
    )
