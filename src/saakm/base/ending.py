# SPDX-License-Identifier: GPL-2.0
"""How the program ends when a signal asks it to. To be imported before whatever cleans up at exit."""

import atexit
import contextlib
import os
import signal
import sys
from typing import NoReturn

_STATUS = 128 + signal.SIGINT  # as a shell says it
_interrupted = False


class Interrupted(BaseException):
    """A KeyboardInterrupt that got through a command: typer would make a plain exit of that."""


def end_by_interrupt() -> NoReturn:
    """By the signal, after an ordinary exit: a shell's loop goes on after what exits by itself."""
    global _interrupted
    _interrupted = True
    sys.exit(_STATUS)


@atexit.register  # the first, which runs last: guests have ended, and their directories are gone
def _end() -> None:
    if not _interrupted:
        return
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def exit_on_signals() -> None:
    """SIGTERM and SIGHUP are an ordinary exit, so that guests end."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, lambda given, _: sys.exit(128 + given))
