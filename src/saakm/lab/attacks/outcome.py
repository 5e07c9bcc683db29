# SPDX-License-Identifier: GPL-2.0
"""What came of an attack, and whether it is what safety.md promises."""

import contextlib
import errno
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ...vm.splats import find_splats
from .catalogue import ATTACKS

TIMEOUT_MS = 1000  # of the wrong policy; as in guest/attacks/main.c
LIMIT_MS = TIMEOUT_MS + 1000  # until its threads run
BYSTANDERS_MS = 100  # that others may have to wait longer
_MEMBERS = 4  # threads of the second policy
_LONGEST = 400


@dataclass
class Outcome:
    """`failures`: what should not have happened, as sentences. Times are of the guest's."""

    attack: str
    happened: str
    own_ms: float | None = None  # the longest that one of its threads did not run
    policy_ms: float | None = None  # what a thread of the second policy waited longer than without
    fair_ms: float | None = None
    tried: int | None = None
    failures: list[str] = field(default_factory=list)
    kernel: list[str] = field(default_factory=list)  # its complaints

    @property
    def held(self) -> bool:
        return not self.failures

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "what": ATTACKS[self.attack].what, "held": self.held}


def judge(attack: str, lines: Iterable[str], end: str = "") -> Outcome:
    """`end`: how the machine ended, if not as it should."""
    text = [line.replace("\r", "") for line in lines]
    told = _told(text)
    outcome = Outcome(attack, end or _happened(told), tried=told.get("own", {}).get("tried"))
    outcome.kernel = find_splats("\n".join(text))
    _times(outcome, told)
    if ATTACKS[attack].fatal:
        outcome.failures = [] if end else ["the machine is alive: it is not fatal"]
        return outcome
    if end:
        outcome.failures.append(end)
    complaints = dict.fromkeys(splat.splitlines()[0] for splat in outcome.kernel)
    outcome.failures += [f"the kernel complained: {complaint}" for complaint in complaints]
    outcome.failures += [line for line in text if "time is up while" in line or "(errno: " in line]
    if not end:
        outcome.failures += [*_of_itself(attack, outcome, told), *_of_others(outcome, told)]
    return outcome


def _told(text: list[str]) -> dict[str, Any]:
    """The objects of the guest's, as one."""
    told: dict[str, Any] = {}
    for line in text:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                told |= json.loads(line)
    return told


def _happened(told: dict[str, Any]) -> str:
    load, ejected = told.get("load", {}), told.get("ejected")
    if load.get("error") == errno.ETIMEDOUT:  # also after those that wait were released
        return "loading it never ends"
    if ejected:
        return f"ejected ({ejected['kind']}) in {ejected['handler']}: {ejected['reason']}"[
            :_LONGEST
        ]
    if load.get("error"):
        # Others are of something that came later.
        why = load["sentence"] if load["sentence"].startswith("load") else _error(load)
        return f"refused: {why}"[:_LONGEST]
    return "goes on" if load else "it came to nothing"


def _times(outcome: Outcome, told: dict[str, Any]) -> None:
    if "own" in told:
        outcome.own_ms = told["own"]["longest_us"] / 1000
    waits = [told[phase] for phase in ("during", "after") if phase in told]
    if not waits or "control" not in told:
        return
    for side in ("rr", "fair"):
        longest = max(wait[f"{side}_us"] for wait in waits)
        extra = max(0.0, (longest - told["control"][f"{side}_us"]) / 1000)
        setattr(outcome, "fair_ms" if side == "fair" else "policy_ms", extra)


def _of_itself(attack: str, outcome: Outcome, told: dict[str, Any]) -> list[str]:
    """Was it found, did its threads get away, is it gone?"""
    wrong = []
    load, own = told.get("load", {}), told.get("own", {})
    if load.get("error") == errno.ETIMEDOUT:
        wrong.append("loading it never ends")
    if ATTACKS[attack].refused and not load.get("error"):
        wrong.append("it was loaded")
    if not load.get("error") and not ATTACKS[attack].refused and not own.get("tried"):
        wrong.append("it never came to make its mistake")
    if outcome.own_ms is None or outcome.own_ms > LIMIT_MS:
        wrong.append(
            f"one of its threads did not run for {outcome.own_ms} ms, and the limit is {LIMIT_MS} ms"
        )
    if own.get("stuck"):
        wrong.append(f"{own['stuck']} of its threads do not run any more")
    if told.get("unload", {}).get("error"):
        wrong.append(f"its module cannot be unloaded: {_error(told['unload'])}")
    return wrong


def _of_others(outcome: Outcome, told: dict[str, Any]) -> list[str]:
    wrong = []
    members, end = told.get("members", {}), told.get("end", {})
    for side, extra in (("the second policy", outcome.policy_ms), ("fair", outcome.fair_ms)):
        if extra is None or (extra > BYSTANDERS_MS and not ATTACKS[outcome.attack].exempt):
            wrong.append(f"a thread of {side} waited {extra} ms longer than without")
    if not members.get("rr_at_work") or members.get("rr") != _MEMBERS:
        wrong.append("the second policy has lost its threads")
    if (
        told.get("load", {}).get("error")
        and "fifo_at_work" in members
        and "replaces" in ATTACKS[outcome.attack].beside
        and not members.get("fifo_at_work")
    ):
        wrong.append("the policy that was not replaced is gone")
    for when in ("meanwhile", "afterwards"):
        result = told.get(when, {"error": errno.EIO})
        if result["error"] or result["stuck"]:
            wrong.append(
                f"{when} a good policy cannot be loaded, or does not run its threads: {_error(result)}"
            )
    if end.get("stuck") or end.get("rr") or end.get("fifo") or told.get("status"):
        wrong.append(
            f"at the end threads stand still or modules stay: {end}, status {told.get('status')}"
        )
    return wrong


def _error(result: dict[str, int]) -> str:
    return errno.errorcode.get(result["error"], "no error")
