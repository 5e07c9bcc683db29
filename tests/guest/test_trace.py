# SPDX-License-Identifier: GPL-2.0
"""saakm trace: what the file says is what the kernel counted."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from saakm.base import paths
from saakm.trace.events import STATES

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(200)]

THREADS = 41  # of hackbench -g 1, its parent included


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """One run: the summary, and the trace read back."""
    directory = tmp_path_factory.mktemp("trace")
    done = subprocess.run(
        [sys.executable, "-m", "saakm", "trace", "rr", "--json", "-o", str(directory),
         "--topology", "2s2c", "--image", "svg", "--", "hackbench", "-g", "1", "-l", "100"],
        capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    trace = pb.Trace()
    trace.ParseFromString((directory / "trace.perfetto-trace").read_bytes())
    return json.loads((directory / "summary.json").read_text()), trace, directory


@pytest.fixture(scope="module")
def tracks(traced):
    return {p.track_descriptor.uuid: p.track_descriptor for p in traced[1].packet
            if p.HasField("track_descriptor")}  # fmt: skip


def test_nothing_is_lost(traced):
    summary, trace, _ = traced
    assert summary["lost"] == 0
    ftrace = sum(len(p.ftrace_events.event) for p in trace.packet)
    assert 0 < ftrace < summary["events"] and summary["threads"] == THREADS


@pytest.mark.long
def test_what_finds_no_room_is_counted(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "saakm", "trace", "rr", "--output", str(tmp_path), "--buffer", "1",
         "--", "hackbench", "-g", "2", "-l", "200"],
        capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["lost"] > 0
    assert "NOT all of it" in done.stdout and "--buffer 2" in done.stdout


def slices(trace):
    """(track, ns, name) of each that begins, in order."""
    names = {n.iid: n.name for p in trace.packet for n in p.interned_data.event_names}
    return [(p.track_event.track_uuid, p.timestamp, names[p.track_event.name_iid])
            for p in trace.packet if p.HasField("track_event")
            and p.track_event.type == pb.TrackEvent.TYPE_SLICE_BEGIN]  # fmt: skip


def test_switches_are_those_that_the_kernel_counted(traced, tracks):
    """The first thread has its CPU when it joins: that is no switch, but an election."""
    summary, trace, _ = traced
    joined, state, elections = {}, {}, 0
    for track, ns, name in slices(trace):
        joined.setdefault(tracks[track].thread.tid, ns)
        # One that keeps the CPU at the end of its slice was RUNNING all the time.
        elections += name == "RUNNING" and state.get(track) != "READY_TICK"
        state[track] = name
    assert len(joined) == THREADS and elections == summary["kernel_switches"]
    given = sum(e.timestamp >= joined.get(e.sched_switch.next_pid, 1 << 63)
                for p in trace.packet for e in p.ftrace_events.event if e.HasField("sched_switch"))  # fmt: skip
    assert given == summary["switches"] == summary["kernel_switches"] - 1


def test_tracks_of_threads_and_cpus(traced, tracks):
    _, trace, _ = traced
    names = {track.name for track in tracks.values()}
    assert {f"CPU {cpu} handlers" for cpu in range(4)} | {
        f"CPU {cpu} READY threads" for cpu in range(4)
    } <= names
    assert {p.ftrace_events.cpu for p in trace.packet if p.HasField("ftrace_events")} == set(
        range(4)
    )


def test_states_are_slices_one_after_the_other(traced):
    _, trace, _ = traced
    open_on, latest = Counter(), 0
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        assert packet.timestamp >= latest
        latest, event = packet.timestamp, packet.track_event
        open_on[event.track_uuid] += event.type == pb.TrackEvent.TYPE_SLICE_BEGIN
        open_on[event.track_uuid] -= event.type == pb.TrackEvent.TYPE_SLICE_END
        assert 0 <= open_on[event.track_uuid] <= 1
    assert not any(open_on.values()) and {name for *_, name in slices(trace)} <= set(STATES)


def test_every_handler_call_is_an_instant_and_arrows_have_two_ends(traced, tracks):
    summary, trace, _ = traced
    names = {n.iid: n.name for p in trace.packet for n in p.interned_data.event_names}
    events = [p.track_event for p in trace.packet if p.HasField("track_event")]
    calls = Counter(names[e.name_iid] for e in events
                    if e.type == pb.TrackEvent.TYPE_INSTANT and not e.flow_ids
                    and tracks[e.track_uuid].name.endswith("handlers"))  # fmt: skip
    # rr has the class's own placement and election: what is left is its balancing.
    assert calls == summary["calls"] and calls["newly_idle"] > 10
    assert set(calls) <= {"newly_idle", "balancing_select"}
    starts = {f for e in events for f in e.flow_ids}
    ends = {f for e in events for f in e.terminating_flow_ids}
    assert ends <= starts and len(ends) > 100


def test_pictures_and_sizes(traced):
    summary, _, directory = traced
    names = {"migrations", "residency", "queues", "latency", "share"}
    assert {f"{name}.svg" for name in names} | {"trace.perfetto-trace"} == set(summary["bytes"])
    assert all(
        (directory / name).stat().st_size == size > 5000 for name, size in summary["bytes"].items()
    )
