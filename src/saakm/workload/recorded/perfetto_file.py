# SPDX-License-Identifier: GPL-2.0
"""The Perfetto trace that `saakm trace` and `saakm sim --trace` write."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...base.errors import SaakmError
from ...model.schema import read_json
from ...model.trace_metadata import Summary
from ...trace.events import Event
from .source import Numbered, Source, cut_off

NAME = "trace.perfetto-trace"  # in a directory
SUFFIXES = (".perfetto", ".perfetto-trace", ".pftrace")
_WHOLE = "record again with a bigger buffer: saakm trace --buffer MEGABYTES --memory 4G ..."
_AGAIN = "copy it again, or record again: saakm trace POLICY -- COMMAND"
_FIELDS = {
    "sched_switch": ("prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
                     "next_prio"),
    "sched_waking": ("comm", "pid", "prio", "target_cpu"),
    "sched_wakeup_new": ("comm", "pid", "prio", "target_cpu"),
    "sched_process_fork": ("parent_comm", "parent_pid", "child_comm", "child_pid"),
    "sched_process_exec": ("filename", "pid", "old_pid"),
}  # fmt: skip


def read(path: Path) -> Source:
    """It is read at once: where it ends too early is known before anything is made of it."""
    # Its protocol takes its time to load: only where it is needed.
    from google.protobuf.message import DecodeError
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

    trace = pb.Trace()
    try:
        trace.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise cut_off(
            f"{path}: byte {path.stat().st_size:,}", "a packet has no end", str(error), _AGAIN
        ) from error
    _refuse_incomplete(trace, path, pb.FtraceStats.END_OF_TRACE)
    events = sorted(
        _events(trace, path), key=lambda event: event.ns
    )  # those of one instant keep order
    pids = {
        packet.track_descriptor.thread.tid
        for packet in trace.packet
        if packet.HasField("track_descriptor") and packet.track_descriptor.HasField("thread")
    }
    return Source(
        str(path),
        partial(_numbered, events),
        lambda number: _where(path, events, number),
        _WHOLE,
        pid=_command(path),
        pids=frozenset(pids),
    )


def _numbered(events: list[Event]) -> Iterator[Numbered]:
    return enumerate(events, 1)


def _where(path: Path, events: list[Event], number: int) -> str:
    if not 0 < number <= len(events):
        return str(path)
    return f"{path}: event {number:,}, at {events[number - 1].ns / 1e9:.9f} s"


def _refuse_incomplete(trace: Any, path: Path, end: int) -> None:
    stats = [packet.ftrace_stats for packet in trace.packet if packet.HasField("ftrace_stats")]
    if not any(one.phase == end for one in stats):
        raise cut_off(
            f"{path}: after packet {len(trace.packet):,}",
            "its end is missing",
            "it is cut off, or an earlier version wrote it",
            _AGAIN,
        )
    lost = sum(cpu.overrun + cpu.dropped_events for one in stats for cpu in one.cpu_stats)
    if lost:
        raise cut_off(
            f"{path}: its end",
            f"{lost:,} events are lost",
            "they found no room in the guest's buffer",
            _WHOLE,
        )


def _events(trace: Any, path: Path) -> Iterator[Event]:
    for number, packet in enumerate(trace.packet, 1):
        if not packet.HasField("ftrace_events"):
            continue
        bundle = packet.ftrace_events
        if bundle.lost_events:
            where = f"{path}: packet {number:,}, CPU {bundle.cpu}"
            raise cut_off(where, "events are lost before it", "Perfetto says so", _WHOLE)
        for entry in bundle.event:
            name = entry.WhichOneof("event")
            if name in _FIELDS:
                fields = getattr(entry, name)
                values = tuple(getattr(fields, field) for field in _FIELDS[name])
                yield Event(
                    entry.timestamp, bundle.cpu, entry.pid, name, values, entry.common_flags
                )


def _command(path: Path) -> int:
    """What `saakm trace` wrote beside it, if it is still there."""
    try:
        return read_json(path.with_name("summary.json"), Summary, "a summary", "").pid
    except SaakmError:
        return 0
