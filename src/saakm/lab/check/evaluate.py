# SPDX-License-Identifier: GPL-2.0
"""What a guest's console says of a check."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...trace.events import Event, parse_events
from ...vm.splats import find_splats
from .order import judge_order
from .placement import judge_placement

_LINE = re.compile(r"^(TRIED|FAILED|VERDICT) (.*)$", re.M)
_SECTION = re.compile(r"^BEGIN (\w+)\n(.*?)^END \1$", re.M | re.S)
_KERNEL = re.compile(r"^\[ *\d+\.\d+\].*$", re.M)
_JUDGES: dict[str, Callable[[Iterable[Event]], tuple[str, list[str]]]] = {
    "order": judge_order,
    "affinity": judge_placement,
}
_MOST = 6  # failures that are told
LAST_WORDS = 25


@dataclass
class Finding:
    """What was tried and what came of it. `verdict`: held, failed, skipped."""

    verdict: str
    tried: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    dump: str = ""  # saakmctl's
    kernel: str = ""  # its last words


def evaluate(check: str, console: str) -> Finding:
    text = console.replace("\r", "")
    sections = dict(_SECTION.findall(text))
    lines = _LINE.findall(_SECTION.sub("", text))
    found = {
        kind: [line for k, line in lines if k == kind] for kind in ("TRIED", "FAILED", "VERDICT")
    }
    failures, tried = found["FAILED"], found["TRIED"]
    if check in _JUDGES and not failures:
        looked_at, wrong = _judge(check, sections.get("trace", ""))
        tried += [looked_at] if looked_at else []
        failures += wrong
    failures += [f"the kernel complained: {splat.splitlines()[0]}" for splat in find_splats(text)]
    if found["VERDICT"] != ["held"] and not failures:
        failures.append("the guest ended without a verdict")
    if not failures:
        return Finding("held", tried)
    return Finding(
        "failed", tried, _shortened(failures), sections.get("dump", "").strip(), kernel_words(text)
    )


def _judge(check: str, trace: str) -> tuple[str, list[str]]:
    try:
        return _JUDGES[check](parse_events(trace.splitlines()))
    except ValueError as error:
        return "", [f"the trace cannot be read: {error}"]


def _shortened(failures: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(failures))
    more = len(distinct) - _MOST
    return distinct[:_MOST] + ([f"and {more} more"] if more > 0 else [])


def kernel_words(text: str) -> str:
    """What it said since the policy was loaded; complaints whole."""
    splats = "\n\n".join(find_splats(text))
    lines = [line for line in _KERNEL.findall(text) if "reboot:" not in line]
    return splats or "\n".join(lines[-LAST_WORDS:])
