# SPDX-License-Identifier: GPL-2.0
"""Finds where calls that raced with others are to be made.

What of each other they have seen is not recorded. Where the replay differs while calls of several
CPUs overlap, these are made at their begin or end. Of all that may have raced, the one is moved
with which the replay gets furthest. If that is not beyond this call, they are cut in two as well:
one may have read one thing before others came, and the next after them. While the code that asks a
static key is patched, this call may be the first for which it was.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Protocol

from .replayer import Race, Replayed

_MOST_RACES = 1000
# Processes stand so many calls apart. The search goes on from the last one before the first suspect.
_APART = 10_000
# Who gets so many calls further goes on: states are compared at each, so a wrong move shows before.
_AHEAD = 2_000


class Walker(Protocol):
    """As Replayer."""

    def go(self, call: int, races: Iterable[Race] = ()) -> Replayed | None: ...

    def back(self) -> None: ...

    def died(self) -> Exception: ...


class Search:
    """From the beginning of a recording to its end, or to a difference that no race explains."""

    def __init__(self, replayer: Walker) -> None:
        self.races: list[Race] = []
        self.tries = 0
        self._replayer = replayer
        # Where processes stand, each the child of the one before: the call, and of how many races it knows.
        self._standing = [(0, 0)]

    def run(self) -> Replayed:
        while True:
            found = self._to_a_difference()
            if not found.difference or len(self.races) == _MOST_RACES:
                return found
            moved = self._best_move(found)
            if not moved:
                return found
            self.races.append(moved)

    def _to_a_difference(self) -> Replayed:
        """Or to the end."""
        while True:
            call = (self._standing[-1][0] // _APART + 1) * _APART
            found = self._go(call)
            if found.over:
                self._replayer.back()
                return found
            self._standing.append((call, len(self.races)))

    def _go(self, call: int) -> Replayed:
        """With all races that are known."""
        found = self._replayer.go(call, self.races[self._standing[-1][1] :])
        if not found:
            raise self._replayer.died()
        return found

    def _best_move(self, differing: Replayed) -> Race | None:
        suspects = differing.suspects(self.races)
        if not suspects:
            return None
        self._stand_before(min(suspects))
        done = list(self._tried(differing, _moves(differing, suspects)))
        further = [pair for pair in done if pair[0].reached > differing.reached]
        if all(again.differs_in == differing.differs_in for again, _ in further):
            done = list(self._cut(differing, differing.overlapping(self.races)))
            further += [pair for pair in done if pair[0].reached > differing.reached]
        self._replayer.back()
        return max(further, key=lambda pair: pair[0].reached)[1] if further else None

    def _stand_before(self, call: int) -> None:
        """In a process of its own, beyond those of self._standing."""
        while self._standing[-1][0] > call:
            self._replayer.back()
            self._standing.pop()
        self._go(call)

    def _tried(self, differing: Replayed, moves: Iterable[Race]) -> Iterator[tuple[Replayed, Race]]:
        for move in moves:
            self.tries += 1
            again = self._replayer.go(differing.said["latest"] + _AHEAD, [move])
            if again:
                self._replayer.back()
                if not again.said["warnings"]:
                    yield again, move

    def _cut(self, differing: Replayed, suspects: Sequence[int]) -> Iterator[tuple[Replayed, Race]]:
        """Each at its first read of what others write, at its second ... as far as it comes."""
        cut_before = sum(where.isdigit() for _, where in self.races)
        for frame in suspects:
            for read in count(1):
                tried = next(self._tried(differing, [(frame, str(read))]), None)
                if not tried or tried[0].said["cut"] <= cut_before:
                    break
                yield tried


def _moves(differing: Replayed, suspects: Sequence[int]) -> Iterator[Race]:
    yield from ((frame, where) for frame in suspects for where in ("end", "begin"))
    if differing.said["patching"] and differing.differs_in in suspects:
        yield differing.differs_in, "patched"
