# SPDX-License-Identifier: GPL-2.0
"""From what trace-cmd prints to a Perfetto trace and pictures, on a run made up by hand."""

from collections import Counter

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from saakm.trace.events import Event, numbered_states, parse_events
from saakm.trace.perfetto import Writer
from saakm.trace.pictures import draw
from saakm.trace.timeline import Timeline
from saakm.vm.topology import parse_topology

READY, RUNNING, BLOCKED = 1, 2, 4
# A thread "a b" (10) wakes "c" (11), which waits 2 ms for CPU 1 and comes from CPU 0.
TEXT = """\
cpus=2
 <idle>-0     [000]  1.000000000: sched_switch:         prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=0 next_comm=a b next_pid=10 next_prio=120
 a b-10    [000] 1.000500000: saakm_transition:     comm=a b pid=10 policy=1 prev=0x1 next=2 cpu=0 handler=schedule
 a b-10    [000] 1.001000000: sched_waking:         comm=c pid=11 prio=120 target_cpu=0
 a b-10    [000] 1.001000100: sched_migrate_task:   comm=c pid=11 prio=120 orig_cpu=0 dest_cpu=1
 a b-10    [000] 1.001000200: saakm_call:           policy=1 handler=unblock_place pid=11 flags=0x1 cpu=1
 a b-10    [000] 1.001000300: saakm_transition:     comm=c pid=11 policy=1 prev=4 next=1 cpu=1 handler=unblock_place
 <idle>-0     [001] 1.003000000: sched_switch:         prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=0 next_comm=c next_pid=11 next_prio=120
 <idle>-0     [001] 1.003000100: saakm_transition:     comm=c pid=11 policy=1 prev=1 next=2 cpu=1 handler=none
 c-11    [001] 1.004000000: saakm_transition:     comm=c pid=11 policy=1 prev=2 next=4 cpu=1 handler=block
 c-11    [001] 1.004000100: sched_switch:         prev_comm=c prev_pid=11 prev_prio=120 prev_state=1 next_comm=swapper/1 next_pid=0 next_prio=120
 a b-10    [000] 1.010000000: sched_process_exit:   comm=a b pid=10 prio=120 group_dead=1
"""


@pytest.fixture
def events():
    return list(parse_events(TEXT.splitlines()))


@pytest.fixture
def timeline(events):
    timeline = Timeline(policy_id=1, cpus=2)
    for event in events:
        timeline.add(event)
    timeline.finish()
    return timeline


def test_events_are_read_with_names_that_have_blanks(events):
    assert len(events) == 11
    assert events[0] == Event(
        1_000_000_000, 0, 0, "sched_switch", ("swapper/0", 0, 120, 0, "a b", 10, 120)
    )
    assert events[1].values[3:5] == (1, RUNNING) and events[1].pid == 10


def test_time_is_seconds_or_nanoseconds():
    line = " x-1 [000] {}: sched_process_exit: comm=x pid=1 prio=120"
    times = [next(parse_events([line.format(t)])).ns for t in ("2.5", "2.000000005", "2000000005")]
    assert times == [2_500_000_000, 2_000_000_005, 2_000_000_005]


def test_an_event_of_an_unknown_form_fails():
    with pytest.raises(ValueError, match="unknown form"):
        list(parse_events([" x-1 [000] 1.5: sched_waking: task=3"]))


def test_timeline(timeline):
    assert timeline.threads == {10, 11} and timeline.names[10] == "a b"
    assert timeline.latencies_ns == [2_000_000]
    assert timeline.migrations == {(0, 1): 1}
    assert timeline.queue[1] == [(1_001_000_300, 1), (1_003_000_100, 0)]
    assert timeline.calls == {"unblock_place": 1}
    assert timeline.cpu_ns() == {10: 10_000_000, 11: 1_000_100}
    assert timeline.percentile_us(99) == 2000


def write(path, events):
    writer = Writer(path, policy_id=1, cpus=2, release="6.12.117", tgids={10: 10, 11: 10})
    for event in events:
        writer.add(event)
    writer.finish(events[-1].ns)
    trace = pb.Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def test_perfetto(events, tmp_path):
    packets = write(tmp_path / "t", events).packet
    ftrace = [e for p in packets for e in p.ftrace_events.event]
    assert Counter(e.WhichOneof("event") for e in ftrace) == {
        "sched_switch": 3, "sched_waking": 1, "sched_migrate_task": 1, "sched_process_exit": 1,
    }  # fmt: skip
    names = {n.iid: n.name for p in packets for n in p.interned_data.event_names}
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor
        for p in packets
        if p.HasField("track_descriptor")
    }
    told = [(tracks[p.track_event.track_uuid].name, names.get(p.track_event.name_iid),
             p.track_event.type) for p in packets if p.HasField("track_event")]  # fmt: skip
    begin, end, instant, counter = (pb.TrackEvent.TYPE_SLICE_BEGIN, pb.TrackEvent.TYPE_SLICE_END,
                                    pb.TrackEvent.TYPE_INSTANT, pb.TrackEvent.TYPE_COUNTER)  # fmt: skip
    assert [what for what in told if what[0] == "c"] == [
        ("c", "READY", begin), ("c", None, end), ("c", "RUNNING", begin), ("c", None, end),
        ("c", "BLOCKED", begin), ("c", None, end),
    ]  # fmt: skip
    assert ("CPU 1 handlers", "unblock_place", instant) in told
    assert told.count(("CPU 1 READY threads", None, counter)) == 2
    threads = [d.thread for d in tracks.values() if d.HasField("thread")]
    assert [(t.pid, t.tid) for t in threads] == [(10, 10), (10, 11)]


def test_arrows_from_waker_to_wakee(events, tmp_path):
    """Both ends need a track before: here the thread had run once already."""
    before = Event(999_000_000, 1, 11, "saakm_transition", ("c", 11, 1, 2, BLOCKED, 1, "block"))
    packets = write(tmp_path / "t", [before, *events]).packet
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor.name
        for p in packets
        if p.HasField("track_descriptor")
    }
    flows = [p.track_event for p in packets if p.track_event.flow_ids]
    ends = [p.track_event for p in packets if p.track_event.terminating_flow_ids]
    assert [tracks[e.track_uuid] for e in flows] == ["a b"]
    assert [tracks[e.track_uuid] for e in ends] == ["c"]
    assert flows[0].flow_ids == ends[0].terminating_flow_ids


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_pictures(timeline, tmp_path, kind):
    files = draw(timeline, parse_topology("2s1c"), tmp_path, kind, "made up", "guest time")
    assert {f.stem for f in files} == {"migrations", "residency", "queues", "latency", "share"}
    assert all(f.stat().st_size > 5000 for f in files)


def test_a_logarithmic_axis_has_numbers_and_no_formulas(timeline, tmp_path):
    draw(timeline, parse_topology("2s1c"), tmp_path, "svg", "made up", "simulated time")
    svg = (tmp_path / "latency.svg").read_text()  # each text is also a comment there
    assert "<!-- microseconds (simulated time) -->" in svg
    assert "mathdefault" not in svg and "<!-- 1,000 -->" in svg


def test_states_by_name():
    """As the simulator writes them; a thread may be called like a state."""
    line = (
        "READY-7 [000] 5: saakm_transition: comm=READY pid=7 policy=1 prev=READY next=RUNNING "
        "cpu=0 handler=none"
    )
    (event,) = parse_events([line])
    assert event.values[3:5] == ("READY", "RUNNING") and event.ns == 5
    assert numbered_states(event).values == ("READY", 7, 1, READY, RUNNING, 0, "none")
