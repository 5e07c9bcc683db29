# SPDX-License-Identifier: GPL-2.0
"""What a reader of recordings yields, whatever wrote them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...trace.events import Event
from ..errors import BadWorkload

# An event, and its number, for messages: a line, or a place in the order of time.
Numbered = tuple[int, Event]


@dataclass(frozen=True)
class Source:
    """A recording as a stream of scheduler events, in order of time.

    `where` names an event by its number, in the user's words. `whole` is what to do to have a
    recording from which nothing is missing. `pid` is the recorded command's, and `pids` are the
    threads that the recorded policy had, if whoever recorded knows these.
    """

    file: str
    events: Callable[[], Iterator[Numbered]]
    where: Callable[[int], str]
    whole: str
    pid: int = 0
    pids: frozenset[int] = frozenset()

    def refuse(self, number: int, what: str, why: str) -> BadWorkload:
        return BadWorkload(f"{self.where(number)}: {what}", why, self.whole)


def cut_off(where: str, what: str, why: str, whole: str) -> BadWorkload:
    """Of what a replay would leave out nobody would know."""
    return BadWorkload(f"{where}: {what}", why, whole)
