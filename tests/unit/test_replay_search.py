# SPDX-License-Identifier: GPL-2.0
"""Where calls that raced are made is found by trying, and from where the replay stands."""

import pytest

from saakm.base.errors import SaakmError
from saakm.lab.replay import races
from saakm.lab.replay.races import Search
from saakm.lab.replay.replayer import Replayed

END = 100


class Walker:
    """As Replayer: it gets to call 10, and with these calls moved further.

    Call 7, of two that overlap, differs up to call 20, and comes to so many reads; call 90 after that.
    """

    def __init__(self, gets_to, *, reads=0, warns=(), dies=(), patching=False):
        self.asks = []  # which races each process had that was told to go on from an earlier one
        self.walked = 0
        self._gets_to = gets_to
        self._reads = reads
        self._patching = patching
        self._warns, self._dies = set(warns), set(dies)
        self._standing = [(0, ())]

    def go(self, call, new=()):
        at, known = self._standing[-1]
        new = tuple(new)
        assert all(frame >= at for frame, _ in new), "it began before, and cannot be moved any more"
        known += new
        self.asks.append(known)
        if self._dies & set(known):
            return None
        reached = max(
            (at for moved, at in self._gets_to.items() if set(moved) <= set(known)), default=10
        )
        stands = min(call, reached)
        self.walked += stands - at
        self._standing.append((stands, known))
        return self._replayed(reached if reached < call else None, known)

    def back(self):
        self._standing.pop()

    def died(self):
        return SaakmError("it could not be replayed", "it died", "see there")

    def _replayed(self, reached, known):
        differs = reached is not None and reached < END
        suspects, differs_in = ([7, 8], 7) if differs and reached <= 20 else ([90], 90)
        said = {
            "reached": reached,
            "ended": reached is not None,
            "suspects": suspects,
            "differs_in": differs_in if differs else -1,
            "latest": reached,
            "patching": self._patching,
            "open": 1,
            "cut": sum(where.isdigit() and int(where) <= self._reads for _, where in known),
            "warnings": len(self._warns & set(known)),
        }
        return Replayed(said, "it differs" if differs or said["warnings"] else "")

    @property
    def tried(self):
        """The last race of each process that had any."""
        return [known[-1] for known in self.asks if known]


def search(gets_to, **more):
    walker = Walker(gets_to, **more)
    found = Search(walker)
    return found.run(), found, walker


def test_the_call_is_moved_with_which_the_replay_gets_furthest():
    gets_to = {((7, "end"),): 91, ((8, "begin"),): 92, ((8, "begin"), (90, "end")): END}
    replayed, found, _ = search(gets_to)
    assert not replayed.difference
    assert found.races == [(8, "begin"), (90, "end")]
    assert found.tries == 2 * 2 + 2


def test_a_difference_that_no_race_explains_remains():
    replayed, found, walker = search({}, reads=3)
    assert replayed.difference and replayed.reached == 10
    # Two calls at two places; the one that has not ended at three reads, and at one too many.
    assert found.tries == 2 * 2 + 3 + 1
    assert walker.tried[-4:] == [(7, "1"), (7, "2"), (7, "3"), (7, "4")]


def test_a_call_that_differs_wherever_it_is_made_is_cut():
    # Moved to its end it gets further, but differs still.
    replayed, found, _ = search({((7, "end"),): 20, ((7, "2"),): END}, reads=3)
    assert not replayed.difference
    assert found.races == [(7, "2")]


def test_calls_are_cut_beside_one_that_is_cut_already():
    replayed, found, walker = search({((7, "2"),): 91, ((7, "2"), (90, "3")): END}, reads=3)
    assert not replayed.difference
    assert found.races == [(7, "2"), (90, "3")]
    assert (90, "4") in walker.tried and (90, "5") not in walker.tried


def test_without_a_difference_nothing_is_moved():
    replayed, found, _ = search({(): END})
    assert not replayed.difference and not found.races and not found.tries


@pytest.mark.parametrize("patching", [False, True])
def test_while_code_is_patched_the_call_may_be_the_first_in_it(patching):
    replayed, found, walker = search({((7, "patched"),): END}, patching=patching)
    assert (not replayed.difference) == patching
    assert found.races == ([(7, "patched")] if patching else [])
    assert (8, "patched") not in walker.tried


@pytest.mark.parametrize("bad", ["warns", "dies"])
def test_a_move_that_cannot_be_is_not_chosen(bad):
    gets_to = {((7, "end"),): END, ((8, "end"),): END}
    replayed, found, _ = search(gets_to, **{bad: [(7, "end")]})
    assert not replayed.difference
    assert found.races == [(8, "end")]


def test_a_replayer_that_dies_by_itself_is_an_error():
    class Dead(Walker):
        def go(self, call, new=()):
            return None

    with pytest.raises(SaakmError, match="could not be replayed"):
        Search(Dead({})).run()


@pytest.fixture
def small_steps(monkeypatch):
    monkeypatch.setattr(races, "_APART", 5)
    monkeypatch.setattr(races, "_AHEAD", 3)


GETS_TO = {((8, "end"),): 91, ((8, "end"), (90, "begin")): END}


def test_nothing_is_tried_from_the_beginning(small_steps):
    replayed, found, walker = search(GETS_TO)
    assert not replayed.difference and found.races == [(8, "end"), (90, "begin")]
    # Once from end to end; back to calls 5 and 7, and 90; and each try from there.
    assert walker.walked < END + 6 * 7 + 2 * 10
    assert found.tries == 2 * 2 + 2


def test_each_process_knows_the_races_found_so_far(small_steps):
    _, found, walker = search(GETS_TO)
    assert walker.asks[-1] == tuple(found.races)
    with_both = [known for known in walker.asks if (90, "begin") in known]
    assert with_both and all(known[0] == (8, "end") for known in with_both)
    assert all(len(known) == len(set(known)) for known in walker.asks)


def test_a_try_goes_no_further_than_needed(small_steps, monkeypatch):
    short = search(GETS_TO)[2].walked
    monkeypatch.setattr(races, "_AHEAD", 1000)
    assert search(GETS_TO)[2].walked > short
