# SPDX-License-Identifier: GPL-2.0
"""What a bar says of the time that is left."""

import json
from pathlib import Path

import pytest

from saakm.base import progress
from saakm.base.progress import Meter, duration
from saakm.builder import kernel


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def test_the_estimate_goes_by_the_pace_since_the_beginning(clock):
    meter, said = Meter("building", 2000, None), []
    # A slow second tenth and a fast third one, as in a kernel build; the rest at the average pace.
    for seconds, steps in ((60, 200), (120, 200), (20, 200)):
        for _ in range(steps):
            clock.now += seconds / steps
            meter.advance()
        said.append(meter.left())
    assert said == ["about 9 min left", "about 12 min left", "about 8 min left"]


def test_it_says_nothing_before_it_knows(clock):
    meter = Meter("building", 2000, None)
    assert meter.left() == ""
    clock.now = 5
    meter.advance()
    assert meter.left() == ""
    assert Meter("no total", None, None).left() == ""


def test_more_steps_than_expected_do_not_fill_the_bar(clock):
    meter = Meter("building", 100, None)
    for _ in range(150):
        clock.now += 1
        meter.advance()
        assert meter.done < meter.total or meter.done <= 100
    assert meter.left() == "nearly done"


def test_the_bar_is_full_at_the_end(clock):
    class Bar:
        shown = {}

        def add_task(self, *_, **__):
            return 0

        def update(self, task, **shown):
            self.shown |= shown

    bar = Bar()
    meter = Meter("building", 100, bar)
    for _ in range(90):
        meter.advance()
    assert bar.shown["completed"] < bar.shown["total"]
    meter.finish()
    assert bar.shown["completed"] == bar.shown["total"] == 90


def test_durations():
    assert [duration(s) for s in (0.2, 59.6, 89, 91, 3600)] == [
        "1 s",
        "60 s",
        "89 s",
        "2 min",
        "60 min",
    ]


RECORDED = json.loads((Path(__file__).parent / "data" / "build-pace.json").read_text())


@pytest.mark.parametrize("config", RECORDED)
def test_the_estimate_of_a_first_build_does_not_double(clock, config):
    """Two builds as they went on two CPUs, beside other work that grew: seconds at each 25th step."""
    record = RECORDED[config]
    meter = Meter(
        "building", kernel._DEFAULT_STEPS[config], None, kernel._USUAL_SECONDS[config] / 2
    )
    said = []
    for seconds in record["at"]:
        clock.now = seconds
        meter.advance(25)
        said.append((seconds, meter.seconds_left()))
    after_a_minute = [left for now, left in said if now >= 60]
    assert max(after_a_minute) < 2 * after_a_minute[0]
    now, left = said[-1]
    assert abs(now + left - record["seconds"]) < 0.05 * record["seconds"]
    # And the bar is full at the end.
    assert record["steps"] == pytest.approx(kernel._DEFAULT_STEPS[config], rel=0.01)


def test_what_comes_first_may_be_quick(clock):
    meter = Meter("building", 2000, None, usual_pace=0.5)
    clock.now = 10
    meter.advance(100)
    # Half of it by what was seen, half by what is usual.
    assert meter.seconds_left() == pytest.approx(1900 * (0.1 + 0.5) / 2)
