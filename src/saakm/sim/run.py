# SPDX-License-Identifier: GPL-2.0
"""Runs a simulator to its end, and reads what it prints."""

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..model.schema import fit, parse_json
from ..model.simulation import Simulation
from .crash import Crashed, NotLoaded
from .log import shortened
from .scenario import Scenario

_ENDED, _MISBEHAVED, _BAD_INPUT = 0, 1, 2
# Of the sanitizers; none of ours, so that a report is told from a verdict.
_SANITIZER = 99
_SANITIZERS = {
    "ASAN_OPTIONS": f"exitcode={_SANITIZER}",
    "UBSAN_OPTIONS": f"exitcode={_SANITIZER}",
}
_NOT_LOADED = re.compile(
    r"\bmodule (?P<module>\S+) could not be loaded: (?P<error>[^\s:]+)(?:: (?P<said>[^\n]*))?"
)
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """`log`: what the simulated kernel printed. `cpu_seconds`: of the host's, for all of it."""

    simulation: Simulation
    misbehaved: bool
    log: str
    cpu_seconds: float
    command: tuple[str, ...]

    @property
    def events_per_second(self) -> int:
        return round(self.simulation.events / max(self.cpu_seconds, 1e-6))


def run(
    program: Path,
    scenario: Scenario,
    trace: Path | None = None,
    on_progress: OnProgress = lambda ns, events: None,
    environment: dict[str, str] | None = None,
    partial: bool = False,
) -> Outcome:
    """`on_progress` hears of simulated ns and events so far.

    `partial`: an interrupt ends the simulation early, with the result of its beginning.
    """
    command = [str(program), *scenario.arguments()]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        reads, writes = os.pipe()
        with open(reads, "rb") as progress:
            try:
                child = subprocess.Popen(
                    [scenario.called or str(program), *scenario.arguments(writes, trace)],
                    executable=str(program),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    pass_fds=[writes],
                    env={**os.environ, **_SANITIZERS, **(environment or {})},
                    # An interrupt from a terminal comes to us alone, which pass it on.
                    process_group=0,
                )
            finally:
                os.close(writes)
            with _passing_on(child) if partial else nullcontext():
                status, seconds = _follow(child, progress, on_progress)
        printed, log = _text(out), _text(err)
    if trace:  # of which the user sees another form only
        log = log.replace(str(trace), "the events of the trace")
    if status == _BAD_INPUT:
        log = scenario.in_words(log)
    return _outcome(status, seconds, printed, log, tuple(command))


def _follow(
    child: "subprocess.Popen[bytes]", progress: Any, on_progress: OnProgress
) -> tuple[int, float]:
    """The status, negative if a signal ended it, and the CPU time."""
    try:
        for line in progress:
            _report(line, on_progress)
        _, status, usage = os.wait4(child.pid, 0)
    except BaseException:
        child.kill()
        child.wait()
        raise
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


def _report(line: bytes, on_progress: OnProgress) -> None:
    words = line.split()
    if len(words) == 2 and all(word.isdigit() for word in words):
        on_progress(int(words[0]), int(words[1]))


@contextmanager
def _passing_on(child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """The first interrupt is the simulator's, which then prints what there is; a second one is ours."""
    before = signal.getsignal(signal.SIGINT)
    # A script's job in the background has it ignored, and only the main thread hears of signals.
    if before == signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return

    def pass_on(number: int, _: object) -> None:
        signal.signal(number, before)
        child.send_signal(number)

    signal.signal(signal.SIGINT, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))


def _outcome(
    status: int, seconds: float, printed: str, log: str, command: tuple[str, ...]
) -> Outcome:
    if status == _BAD_INPUT and (found := _NOT_LOADED.search(log)):
        _refuse_parameter(found["module"], found["said"] or "", command)
        raise NotLoaded(found["module"], found["error"], log, command)
    if status == _BAD_INPUT:
        raise BadInput(
            "the simulator refuses what it is given",
            shortened(log.strip()) or "it did not say why",
            "mend that, and try again",
        )
    if status == -signal.SIGINT:  # so early that it did not know what to do about it
        raise KeyboardInterrupt
    if status not in (_ENDED, _MISBEHAVED):
        raise Crashed(status, log, command, by_sanitizer=status == _SANITIZER)
    try:
        simulation = fit(parse_json(printed.strip().rpartition("\n")[2]), Simulation)
    except ValueError as error:
        raise Crashed(status, log, command, unread=str(error)) from error
    return Outcome(simulation, status == _MISBEHAVED, log, seconds, command)


def _refuse_parameter(module: str, said: str, command: tuple[str, ...]) -> None:
    """Whose value the policy refuses, by name, is no fault of the policy."""
    for word in command:
        name = word.removeprefix(f"{module}.")
        if name != word and name in said:
            raise BadInput(
                f"module '{module}' refuses --param {name}", said, "give it another value"
            )
