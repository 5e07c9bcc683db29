# SPDX-License-Identifier: GPL-2.0
"""docs/examples/events works, and counts what has happened. Steal and mlfq: test_peers.py."""

import json
import re

import pytest

from saakm.base import paths
from saakm.builder.modules import build_modules

from .support import emptied, policies, run_ok

pytestmark = [pytest.mark.kernel("base"), pytest.mark.topology("1s4c")]


@pytest.fixture
def events(guest) -> int:
    """Its id."""
    source = paths.REPO / "docs/examples/events"
    build_modules(guest.kernel, sources=[source])
    guest.load(source)
    return policies(guest)["events"].id


def _counted(guest) -> dict[str, int]:
    """What it says of itself, summed over all CPUs."""
    dumps = json.loads(run_ok(guest, "cat /sys/kernel/debug/saakm/dump"))
    (text,) = (dump["dump"] for dump in dumps if dump["name"] == "events")
    total: dict[str, int] = {"threads": int(re.match(r"(\d+) threads", text)[1])}
    rows = re.findall(
        r"^cpu \d+: (\d+) wait; busy (\d+) ns, idle (\d+) ns; "
        r"(\d+) slept, \d+ too short, (\d+) yielded, (\d+) were pulled; \d+ elections$",
        text,
        re.M,
    )
    assert len(rows) == 4, text
    for name, column in zip(("wait", "busy", "idle", "slept", "yielded", "pulled"), zip(*rows)):
        total[name] = sum(map(int, column))
    return total


def test_it_schedules_and_counts(guest, events):
    run_ok(guest, "saakmctl exec events -- hackbench -g 2 -l 50")
    emptied(guest, "events")
    counted = _counted(guest)
    assert counted["threads"] == counted["wait"] == 0
    assert counted["slept"] > 80 and counted["busy"] > 10**6 and counted["idle"] > 0


def test_it_pulls(guest, program, events):
    """Eight hogs that sit on one CPU: two on each of four in the end."""
    run_ok(guest, f"{program('spread')} {events} 8")
    assert _counted(guest)["pulled"] >= 6


def test_its_parameter_is_the_slice(guest, program, events):
    said = run_ok(guest, f"{program('attr_probe')} {events}")
    assert re.findall(r"runtime (\d+)", said) == ["12000000", "13000000", "14000000"]
    done = guest.run("saakmctl exec events --param 1001 -- true")
    assert done.status and "events refused the parameters" in done.stderr


def test_it_takes_turns(guest, program, events):
    out = run_ok(guest, f"{program('shares')} 1 900 {events}:0 {events}:0 {events}:0", timeout=100)
    used = list(map(int, out.split()))
    assert max(used) < 1.3 * min(used), used
