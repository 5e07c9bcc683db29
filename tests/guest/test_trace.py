# SPDX-License-Identifier: GPL-2.0
"""saakm trace: what the file says is what the kernel counted."""

import json
from collections import Counter

import pytest
from call import saakm
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from saakm.trace.events import HARDIRQ, STATES
from saakm.workload import registry

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(200)]

THREADS = 41  # of hackbench -g 1, its parent included


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """One run: the summary, and the trace read back."""
    directory = tmp_path_factory.mktemp("trace")
    done = saakm("trace", "rr", "--json", "-o", directory, "--topology", "2s2c", "--image", "svg",
                 "--", "hackbench", "-g", "1", "-l", "100")  # fmt: skip
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
    done = saakm("trace", "rr", "--output", tmp_path, "--buffer", "1", "--", "hackbench", "-g",
                 "2", "-l", "200")  # fmt: skip
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
    names = {"migrations", "residency", "queues", "latency", "share", "turns"}
    assert {f"{name}.svg" for name in names} | {"trace.perfetto-trace"} == set(summary["bytes"])
    assert all(
        (directory / name).stat().st_size == size > 5000 for name, size in summary["bytes"].items()
    )


def test_the_recording_is_a_workload(traced):
    """Each thread's CPU time and sleeps are those recorded, under another policy on more CPUs, too."""
    summary, trace, directory = traced
    ran, sleeps, woken, interrupts = recorded_of(trace)
    program = registry.load(str(directory), 4)
    assert len(program.groups) == THREADS and program.threads == 1
    assert pid_of(program.groups[0]) == summary["pid"]
    forks = sum(op.name == "fork" for group in program.groups for op in group.ops)
    assert forks == THREADS - 1
    for group in program.groups:
        ops = Counter(op.name for op in group.ops)
        # A thread's wakeup that comes before the sleeper has left its CPU is one as well; such an
        # interrupt ends a sleep that has not begun, and takes no time.
        pid, waits = pid_of(group), ops["receive"] + ops["sleep"]
        assert sleeps[pid] - interrupts[pid] <= waits <= woken[pid], (pid, sleeps, waits, woken)
    sent = sum(op.name == "send" for group in program.groups for op in group.ops)
    assert sent == sum(op.name == "receive" for group in program.groups for op in group.ops) > 40
    # It ends with its last thread. On a busy host it was recorded for longer than sim usually lasts.
    for policy, topology in (("rr", "1s4c"), ("vtime", "2s4c")):
        done = saakm("sim", policy, "--free", "--json", "--topology", topology, "--workload",
                     directory, "--for", "1h")  # fmt: skip
        assert done.returncode == 0, done.stderr
        groups = json.loads(done.stdout)["groups"]
        assert {int(g["name"].rpartition("-")[2]): g["run_ns"] for g in groups} == {
            pid_of(group): ran[pid_of(group)] for group in program.groups
        }


def test_the_context_of_events_is_kept(traced):
    """An interrupt that wakes a thread is not the thread that it interrupts."""
    flags = [e.common_flags for p in traced[1].packet for e in p.ftrace_events.event
             if e.HasField("sched_waking")]  # fmt: skip
    assert any(one & HARDIRQ for one in flags) and not all(one & HARDIRQ for one in flags)


def pid_of(group):
    return int(group.name.rpartition("-")[2])


def recorded_of(trace):
    """By pid: CPU time, how often it left its CPU to sleep and came again, how often it was woken,
    and how often of these by an interrupt.
    """
    switches = sorted(
        ((e.timestamp, p.ftrace_events.cpu, e.sched_switch) for p in trace.packet
         for e in p.ftrace_events.event if e.HasField("sched_switch")),
        key=lambda one: one[0],
    )  # fmt: skip
    ran, sleeps, since, asleep = Counter(), Counter(), {}, set()
    for ns, cpu, switch in switches:
        ran[switch.prev_pid] += ns - since.get(cpu, switches[0][0])
        since[cpu] = ns
        sleeps[switch.next_pid] += switch.next_pid in asleep
        asleep.discard(switch.next_pid)
        if switch.prev_state not in (0, 0x100):
            asleep.add(switch.prev_pid)
    wakings = [e for p in trace.packet for e in p.ftrace_events.event if e.HasField("sched_waking")]
    woken = Counter(e.sched_waking.pid for e in wakings)
    interrupts = Counter(e.sched_waking.pid for e in wakings if e.common_flags & HARDIRQ)
    return ran, sleeps, woken, interrupts
