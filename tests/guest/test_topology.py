# SPDX-License-Identifier: GPL-2.0
"""topology_levels, as /proc/saakm/topology shows them, on machines of several shapes."""

import pytest

from .support import run_ok, until

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

OFFLINE = "echo 0 >/sys/devices/system/cpu/cpu{0}/online"
ONLINE = "echo 1 >/sys/devices/system/cpu/cpu{0}/online"


def _span(text):
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _levels(guest):
    """For each CPU its levels from the nearest on: (kind, CPUs)."""
    lines = run_ok(guest, "cat /proc/saakm/topology").splitlines()
    assert lines[0].split() == ["cpu", "level", "kind", "span"]
    levels = {}
    for line in lines[1:]:
        cpu, level, kind, span = line.split()
        of_cpu = levels.setdefault(int(cpu), [])
        assert int(level) == len(of_cpu), f"levels of CPU {cpu} out of order"
        of_cpu.append((kind, _span(span)))
    return levels


def _socket_kind(guest, cpu, span):
    """Of a level that is a socket: what its CPUs share last."""
    caches = f"/sys/devices/system/cpu/cpu{cpu}/cache"
    shared = run_ok(guest, f"cat {caches}/index*/shared_cpu_list 2>/dev/null | tail -1; true")
    return "cache" if shared and _span(shared.strip()) == span else "package"


def _check_nesting(levels):
    for cpu, of_cpu in levels.items():
        inner = {cpu}
        for kind, span in of_cpu:
            assert cpu in span, f"CPU {cpu} is not in its own {kind}"
            assert inner <= span, f"CPU {cpu}: {kind} {set(span)} lies within a nearer level"
            inner = span
        for kind, span in of_cpu:
            for other in span:
                same = any(k == kind and s == span for k, s in levels[other])
                assert same or kind == "numa", f"{kind} of CPUs {cpu} and {other} differ"


@pytest.mark.topology("1s1c")
def test_one_cpu_has_no_levels(guest):
    assert _levels(guest) == {}


def test_one_socket_is_one_level(guest):
    levels = _levels(guest)
    _check_nesting(levels)
    assert set(levels) == {0, 1, 2, 3}
    for cpu, of_cpu in levels.items():
        assert [span for _, span in of_cpu] == [{0, 1, 2, 3}], f"CPU {cpu}: {of_cpu}"
        assert of_cpu[0][0] == _socket_kind(guest, cpu, of_cpu[0][1]), of_cpu


@pytest.mark.topology("2s2c")
def test_two_sockets_have_a_numa_level(guest):
    levels = _levels(guest)
    _check_nesting(levels)
    for cpu, of_cpu in levels.items():
        assert of_cpu[-1] == ("numa", {0, 1, 2, 3}), f"CPU {cpu}: {of_cpu}"
        socket = {0, 1} if cpu < 2 else {2, 3}
        assert of_cpu[0][1] == socket, f"CPU {cpu}: {of_cpu}"
        assert of_cpu[0][0] == _socket_kind(guest, cpu, of_cpu[0][1]), of_cpu


@pytest.mark.topology("1s2l2c")
def test_a_socket_with_two_caches(guest):
    levels = _levels(guest)
    _check_nesting(levels)
    pairs = {cpu: frozenset({cpu, cpu ^ 1}) for cpu in range(4)}
    assert {cpu: of_cpu[0] for cpu, of_cpu in levels.items()} == {
        cpu: ("cache", pair) for cpu, pair in pairs.items()
    }
    assert all(of_cpu[-1] == ("package", frozenset(range(4))) for of_cpu in levels.values())


@pytest.mark.topology("1s2c2t")
def test_siblings_share_the_nearest_level(guest):
    levels = _levels(guest)
    _check_nesting(levels)
    for cpu, of_cpu in levels.items():
        siblings = run_ok(
            guest, f"cat /sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        )
        assert of_cpu[0] == ("smt", _span(siblings.strip())), f"CPU {cpu}: {of_cpu}"
        assert len(of_cpu[0][1]) == 2
        assert of_cpu[-1][1] == {0, 1, 2, 3}, f"CPU {cpu}: {of_cpu}"


def _change(guest, command, cpus):
    """Takes a CPU off or on; the levels once they are of these CPUs."""
    run_ok(guest, command)

    def rebuilt():
        levels = _levels(guest)
        return levels if set(levels) == cpus else None

    return until(rebuilt, 20, f"levels of CPUs {sorted(cpus)}")


def test_levels_follow_hotplug(guest):
    before = _levels(guest)
    without = _change(guest, OFFLINE.format(3), {0, 1, 2})
    assert all(3 not in span for of_cpu in without.values() for _, span in of_cpu), without
    _check_nesting(without)
    assert _change(guest, ONLINE.format(3), {0, 1, 2, 3}) == before


@pytest.mark.topology("1s2c2t")
def test_sibling_that_goes_leaves_no_smt_level(guest):
    """The one that stays shares nothing at the nearest level any more."""
    before = _levels(guest)
    (gone,) = before[0][0][1] - {0}
    without = _change(guest, OFFLINE.format(gone), {0, 1, 2, 3} - {gone})
    assert all(kind != "smt" for kind, _ in without[0]), without[0]
    assert _change(guest, ONLINE.format(gone), {0, 1, 2, 3}) == before
