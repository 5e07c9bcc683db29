# SPDX-License-Identifier: GPL-2.0
"""Events as text: what `trace-cmd report` prints, and our script in `perf script`."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...trace.events import parse_event
from ..errors import BadWorkload, Place
from .source import Numbered, Source, cut_off

# Before each CPU's buffer, and in the midst of one.
LOST = re.compile(r"\[(?:LOST EVENTS|\d+ EVENTS DROPPED)\]|PERF_RECORD_LOST")
_SCHED = re.compile(r": +(?:sched:)?sched_(switch|waking|wakeup_new|process_fork): ")
WHOLE_TRACE_CMD = (
    "record again with a bigger buffer: trace-cmd record -b KILOBYTES (of each CPU) -e sched ..."
)
_RAW = "print them with: trace-cmd report -R -l -t -i trace.dat"


def numbered(lines: Iterable[str], source: Source) -> Iterator[Numbered]:
    """Raises BadWorkload for what says that something is missing."""
    for number, line in enumerate(lines, 1):
        if LOST.search(line):
            raise cut_off(source.where(number), "events are lost", line.strip(), source.whole)
        try:
            event = parse_event(line)
        except ValueError as error:
            raise BadWorkload(f"{source.where(number)}: no event", str(error), _RAW) from error
        if event:
            yield number, event
        elif _SCHED.search(line):
            raise BadWorkload(
                f"{source.where(number)}: an event that is cut off, or of another form",
                line.strip()[:100],
                _RAW,
            )


def read(path: Path) -> Source:
    """A file of such lines."""

    def events() -> Iterator[Numbered]:
        with path.open(errors="replace") as lines:
            yield from numbered(lines, source)

    source = Source(
        str(path), events, lambda number: str(Place(str(path), number)), WHOLE_TRACE_CMD
    )
    return source
