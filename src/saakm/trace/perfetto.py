# SPDX-License-Identifier: GPL-2.0
"""Writes a Perfetto trace: what the kernel said, and SaaKM's own tracks beside it.

The sched events go in as ftrace events, out of which Perfetto makes the tracks
of the CPUs and the kernel's view of each thread. Ours are track events:
  each thread      its states as slices, its wakeups of others, its migrations
  each CPU         handler calls as instants, the number of READY threads as a counter
"""

from pathlib import Path

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from .events import STATES, Event

_SEQUENCE, _FTRACE_SEQUENCE = 1, 2
_BATCH = 5000  # packets or ftrace events kept before they are written
# Of tracks: below are numbers per CPU, from here on threads.
_ROOT, _HANDLERS, _QUEUE, _THREADS = 1, 1000, 2000, 10000
_NOT_SHOWN = {STATES.index("NOT_QUEUED"), STATES.index("TERMINATED")}
_RUNNING, _READY = STATES.index("RUNNING"), STATES.index("READY")
_FTRACE_FIELDS = {
    "sched_switch": ("prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
                     "next_prio"),
    "sched_waking": ("comm", "pid", "prio", "target_cpu"),
    "sched_wakeup": ("comm", "pid", "prio", "target_cpu"),
    "sched_wakeup_new": ("comm", "pid", "prio", "target_cpu"),
    "sched_migrate_task": ("comm", "pid", "prio", "orig_cpu", "dest_cpu"),
    "sched_process_fork": ("parent_comm", "parent_pid", "child_comm", "child_pid"),
    "sched_process_exec": ("filename", "pid", "old_pid"),
    "sched_process_exit": ("comm", "pid", "prio"),
}  # fmt: skip


class Writer:
    """Give it all events in order, then finish()."""

    def __init__(self, path: Path, policy_id: int, cpus: int, release: str, tgids: dict[int, int]):
        self._file = path.open("wb")
        self._policy_id, self._tgids = policy_id, tgids
        self._trace = pb.Trace()
        self._bundles: dict[int, pb.TracePacket] = {}
        self._latest = (0, 0)  # time and CPU of the kernel's latest event
        self._names: dict[str, int] = {}
        self._annotations: dict[str, int] = {}
        self._tracks: dict[int, int] = {}  # of threads, by pid
        self._open: set[int] = set()  # tracks with a state that lasts
        self._comms: dict[int, str] = {}
        self._ready_on: dict[int, int] = {}
        self._ready = [0] * cpus
        self._flows: dict[int, int] = {}  # by pid of who was woken
        self._flow = 0
        self._begin(cpus, release)

    def add(self, event: Event) -> None:
        if event.name in _FTRACE_FIELDS:
            self._add_ftrace(event)
        if handler := getattr(self, f"_{event.name}", None):
            handler(event)
        if len(self._trace.packet) >= _BATCH:
            self._flush()

    def finish(self, ns: int, lost: int = 0) -> None:
        """`lost`: events that found no room. Without this end a trace is cut off."""
        for track in sorted(self._open):
            self._track_event(ns, track, pb.TrackEvent.TYPE_SLICE_END)
        self._process_tree(ns)
        for cpu in list(self._bundles):
            self._flush_bundle(cpu)
        self._stats(ns, lost)
        self._flush()
        self._file.close()

    # --- packets ---

    def _begin(self, cpus: int, release: str) -> None:
        packet = self._packet()
        packet.sequence_flags = pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        packet.first_packet_on_sequence = True
        # How prev_state is encoded depends on the kernel.
        name = self._packet().system_info.utsname
        name.sysname, name.machine, name.release = "Linux", "x86_64", release
        self._describe(_ROOT, "SaaKM")
        for cpu in range(cpus):
            self._describe(_HANDLERS + cpu, f"CPU {cpu} handlers", _ROOT)
            self._describe(_QUEUE + cpu, f"CPU {cpu} READY threads", _ROOT).counter.SetInParent()

    def _packet(self) -> pb.TracePacket:
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def _describe(self, uuid: int, name: str, parent: int = 0) -> pb.TrackDescriptor:
        descriptor = self._packet().track_descriptor
        descriptor.uuid, descriptor.name = uuid, name
        if parent:
            descriptor.parent_uuid = parent
        return descriptor

    def _track_event(
        self, ns: int, track: int, kind: int, name: str = "", **annotations: int
    ) -> pb.TrackEvent:
        packet = self._packet()
        packet.timestamp = ns
        packet.sequence_flags = pb.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        if name:
            event.name_iid = self._intern(packet, "event_names", self._names, name)
        for key, value in annotations.items():
            annotation = event.debug_annotations.add()
            annotation.name_iid = self._intern(
                packet, "debug_annotation_names", self._annotations, key
            )
            annotation.int_value = value
        return event

    @staticmethod
    def _intern(packet: pb.TracePacket, table: str, known: dict[str, int], name: str) -> int:
        if name not in known:
            known[name] = len(known) + 1
            entry = getattr(packet.interned_data, table).add()
            entry.iid, entry.name = known[name], name
        return known[name]

    def _flush(self) -> None:
        self._file.write(self._trace.SerializeToString())
        self._trace = pb.Trace()

    # --- the kernel's events ---

    def _stats(self, ns: int, lost: int) -> None:
        packet = self._packet()
        packet.timestamp = ns
        packet.ftrace_stats.phase = pb.FtraceStats.END_OF_TRACE
        packet.ftrace_stats.cpu_stats.add().dropped_events = lost

    def _add_ftrace(self, event: Event) -> None:
        self._keep_order(event)
        bundle = self._bundles.get(event.cpu)
        if bundle is None:
            bundle = self._bundles[event.cpu] = pb.TracePacket()
            bundle.trusted_packet_sequence_id = _FTRACE_SEQUENCE
            bundle.ftrace_events.cpu = event.cpu
        entry = bundle.ftrace_events.event.add()
        entry.timestamp, entry.pid = event.ns, event.pid
        if event.flags:
            entry.common_flags = event.flags
        target = getattr(entry, event.name)
        for name, value in zip(_FTRACE_FIELDS[event.name], event.values):
            setattr(target, name, str(value) if name.endswith(("comm", "filename")) else value)
        if len(bundle.ftrace_events.event) >= _BATCH:
            self._flush_bundle(event.cpu)

    def _keep_order(self, event: Event) -> None:
        """Of one instant on two CPUs the first event comes first in the file: nothing else says so."""
        ns, cpu = self._latest
        if event.ns == ns and event.cpu != cpu and cpu in self._bundles:
            self._flush_bundle(cpu)
        self._latest = event.ns, event.cpu

    def _flush_bundle(self, cpu: int) -> None:
        self._trace.packet.append(self._bundles.pop(cpu))

    def _sched_switch(self, event: Event) -> None:
        prev_comm, prev, *_, comm, pid, _ = event.values
        self._comms[prev], self._comms[pid] = str(prev_comm), str(comm)

    def _sched_waking(self, event: Event) -> None:
        pid = event.values[1]
        if pid not in self._tracks:
            return
        track = self._tracks.get(event.pid, _HANDLERS + event.cpu)
        self._flow += 1
        self._flows[pid] = self._flow
        instant = self._track_event(event.ns, track, pb.TrackEvent.TYPE_INSTANT, "wakes", pid=pid)
        instant.flow_ids.append(self._flow)

    def _sched_migrate_task(self, event: Event) -> None:
        _, pid, _, origin, target = event.values
        if track := self._tracks.get(pid):
            name = f"CPU {origin} to {target}"
            self._track_event(event.ns, track, pb.TrackEvent.TYPE_INSTANT, name)

    # --- ours ---

    def _saakm_transition(self, event: Event) -> None:
        comm, pid, policy, _, state, cpu, _ = event.values
        if policy != self._policy_id:
            return
        self._comms[pid] = str(comm)
        track = self._tracks.get(pid) or self._new_track(pid)
        if track in self._open:
            self._open.remove(track)
            self._track_event(event.ns, track, pb.TrackEvent.TYPE_SLICE_END)
        self._count_ready(event.ns, pid, state, cpu)
        if state in _NOT_SHOWN:
            return
        self._open.add(track)
        begin = self._track_event(
            event.ns, track, pb.TrackEvent.TYPE_SLICE_BEGIN, STATES[state], cpu=cpu
        )
        flow = self._flows.pop(pid, None) if state == _RUNNING else None
        if flow:
            begin.terminating_flow_ids.append(flow)

    def _new_track(self, pid: int) -> int:
        track = self._tracks[pid] = _THREADS + len(self._tracks)
        thread = self._describe(track, self._comms[pid]).thread
        thread.pid, thread.tid = self._tgids.get(pid, pid), pid
        return track

    def _count_ready(self, ns: int, pid: int, state: int, cpu: int) -> None:
        was = self._ready_on.pop(pid, None)
        if was is not None:
            self._change_ready(ns, was, -1)
        if state == _READY:
            self._ready_on[pid] = cpu
            self._change_ready(ns, cpu, 1)

    def _change_ready(self, ns: int, cpu: int, change: int) -> None:
        self._ready[cpu] += change
        event = self._track_event(ns, _QUEUE + cpu, pb.TrackEvent.TYPE_COUNTER)
        event.counter_value = self._ready[cpu]

    def _saakm_call(self, event: Event) -> None:
        policy, handler, pid, _, cpu = event.values
        if policy == self._policy_id:
            subject = {"pid": pid} if pid else {}
            track = _HANDLERS + cpu
            self._track_event(event.ns, track, pb.TrackEvent.TYPE_INSTANT, handler, **subject)

    def _process_tree(self, ns: int) -> None:
        """Which thread is of which process, and how they are called."""
        packet = self._packet()
        packet.timestamp = ns
        tree = packet.process_tree
        for pid in sorted(pid for pid in self._comms if pid):
            tgid = self._tgids.get(pid, pid)
            if tgid == pid:
                process = tree.processes.add()
                process.pid = pid
                process.cmdline.append(self._comms[pid])
            else:
                thread = tree.threads.add()
                thread.tid, thread.tgid, thread.name = pid, tgid, self._comms[pid]
