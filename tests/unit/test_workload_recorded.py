# SPDX-License-Identifier: GPL-2.0
"""Recordings as workloads: demand and dependencies, and what is refused because something is missing."""

import json
import os
import re
import sys
import types
from collections import Counter

import call
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from saakm.trace.events import HARDIRQ, SOFTIRQ, parse_event, parse_events
from saakm.trace.perfetto import Writer
from saakm.workload import recorded, registry
from saakm.workload.errors import BadWorkload
from saakm.workload.program_text import to_text
from saakm.workload.recorded import perf_data, trace_dat

# As `trace-cmd report -R -l -t` prints it: cpu-flags, of which 0x8 is a hardirq and 0x10 a softirq.
# One thread is named "a b": it forks "kid", wakes it while it sleeps, and is preempted meanwhile.
SWITCH = (
    "x-{prev} {cpu}-0x1 {time}: sched_switch: prev_comm={a} prev_pid={prev} prev_prio={pa} "
    "prev_state={state} next_comm={b} next_pid={next} next_prio={pb}"
)


def switch(time, cpu, prev, state, following, pa=120, pb=120):
    (a, prev), (b, following) = prev, following
    return SWITCH.format(
        time=time, cpu=cpu, a=a, prev=prev, state=state, b=b, next=following, pa=pa, pb=pb
    )


def waking(time, cpu, by, woken, flags=0x1, name="sched_waking"):
    return (
        f"x-{by[1]} {cpu}-{flags:#x} {time}: {name}: comm={woken[0]} pid={woken[1]} "
        f"prio=120 target_cpu=000"
    )


def fork(time, cpu, parent, child):
    return (
        f"x-{parent[1]} {cpu}-0x0 {time}: sched_process_fork: comm={parent[0]} pid={parent[1]} "
        f"child_comm={child[0]} child_pid={child[1]}"
    )


def executes(time, cpu, who, old=None):
    numbers = f"pid={who[1]} old_pid={old or who[1]}"
    return f"x-{who[1]} {cpu}-0x0 {time}: sched_process_exec: filename=/x {numbers}"


IDLE, AB, KID, OLD, KERNEL = (
    ("swapper", 0),
    ("a b", 10),
    ("kid", 11),
    ("old", 12),
    ("kworker/0:1", 7),
)
LINES = [
    switch("1.000000000", 0, IDLE, 0, AB),
    fork("1.000100000", 0, AB, KID),
    waking("1.000110000", 0, AB, KID, name="sched_wakeup_new"),
    switch("1.000200000", 1, IDLE, 0, KID, pb=125),
    executes("1.000250000", 1, KID),
    switch("1.000500000", 1, KID, 1, IDLE, pa=125),  # it slept after 0.3 ms
    switch("1.000600000", 0, AB, 0x100, KERNEL),  # preempted after 0.6 ms
    switch("1.000700000", 0, KERNEL, 0x80, AB),
    waking("1.000900000", 0, AB, KID),  # after 0.8 ms
    waking("1.000950000", 0, AB, OLD, flags=0x9),  # an interrupt does, and not who has the CPU
    switch("1.001000000", 1, IDLE, 0, KID, pb=125),
    waking("1.001100000", 1, KID, AB),  # it does not sleep yet: 1.0 ms
    switch("1.001200000", 0, AB, 2, OLD),  # 1.1 ms, and it was woken before
    switch("1.001300000", 0, OLD, 1, AB),
    switch("1.001400000", 1, KID, 0x10, IDLE, pa=125),
    waking("1.001500000", 0, AB, OLD, flags=0x11),  # a softirq counts as its thread: 1.3 ms
    switch("1.001600000", 0, AB, 1, OLD),  # it sleeps for 2 ms
    switch("1.001900000", 0, OLD, 1, IDLE),
    waking("1.003600000", 0, IDLE, AB, flags=0x9),
    switch("1.003600000", 0, IDLE, 0, AB),
    switch("1.004000000", 0, AB, 1, IDLE),
]  # fmt: skip
PROGRAM = """\
saakm-program 1
semaphore woken 3 0
group a_b-10 1 0 main 0 all none
group kid-11 0 0 main 5 all none
group old-12 1 0 main 0 all none

program a_b-10
  run 100000
  fork kid-11 1
  run 700000
  send woken[1] 1 now
  run 200000
  receive woken[0] 1
  run 300000
  send woken[2] 1 now
  run 100000
  sleep 2000000
  run 400000
end

program kid-11
  run 50000
  exec
  run 250000
  receive woken[1] 1
  run 100000
  send woken[0] 1 now
  run 300000
end

program old-12
  sleep 950000
  run 100000
  receive woken[2] 1
  run 300000
end
"""


@pytest.fixture
def report(tmp_path):
    """A file of such lines."""

    def write(lines, name="report.txt"):
        file = tmp_path / name
        file.write_text("\n".join(["cpus=2", *lines]) + "\n")
        return file

    return write


def load(file):
    return to_text(registry.load(str(file), 2))


def refused(file):
    with pytest.raises(BadWorkload) as caught:
        load(file)
    assert caught.value.status == 2
    return caught.value


# --- what is made of it ---


def test_demand_and_dependencies(report):
    assert load(report(LINES)) == PROGRAM


def test_the_schedule_is_no_demand(report):
    """Preempted for 10 ms more, "a b" demands the same; only who sleeps until a moment sleeps longer."""
    later = [
        re.sub(r" 1\.(\d{9}):", lambda m: f" 1.{int(m[1]) + 10_000_000:09}:", line)
        for line in LINES[7:]
    ]
    assert load(report(LINES[:7] + later)) == PROGRAM.replace("sleep 950000", "sleep 10950000")


def test_nice_changes_where_it_did(report):
    lines = [
        switch("1.0", 0, IDLE, 0, AB),
        switch("1.1", 0, AB, 1, IDLE),
        waking("1.2", 0, IDLE, AB, flags=0x8),
        switch("1.2", 0, IDLE, 0, AB),
        switch("1.3", 0, AB, 0, KID, pa=130),
    ]
    program = load(report(lines))
    assert "group a_b-10 1 0 main 0 " in program and "run 100000000\n  set_nice 10\nend" in program


def test_real_time_stays_real_time(report):
    lines = [switch("1.0", 0, IDLE, 0, AB, pb=49), switch("1.1", 0, AB, 0, KID, pa=49)]
    assert "group a_b-10 1 0 rt:50 0 " in load(report(lines))


def test_of_a_number_that_comes_again_the_next_is_another_thread(report):
    lines = [
        switch("1.0", 0, IDLE, 0, AB),
        fork("1.1", 0, AB, KID),
        switch("1.2", 0, AB, 0, KID),
        switch("1.3", 0, KID, 16, AB),
        fork("1.4", 0, AB, KID),
        switch("1.5", 0, AB, 0, KID),
    ]
    assert {"kid-11", "kid-11.2"} <= set(re.findall(r"group (\S+)", load(report(lines))))


def test_whom_an_unseen_thread_forks_begins_when_it_was_born(report):
    program = load(f"{report(LINES)}:only=[ko][il]d")
    assert "group old-12 1 0 main" in program and "group kid-11 1 100000 main" in program
    # Whom it waited for is left out: so it sleeps as long as it did.
    assert "sleep 400000" in program and "woken" not in program


def test_the_recorders_command_is_what_was_recorded(report):
    perf, command, child = ("perf-exec", 20), ("work", 20), ("work", 21)
    lines = [
        *LINES,
        switch("2.0", 1, IDLE, 0, perf),
        fork("2.1", 1, command, child),
        switch("2.2", 1, command, 1, child),
        switch("2.3", 1, child, 16, IDLE),
    ]
    groups = re.findall(r"group (\S+)", load(report(lines)))
    assert groups == ["work-20", "work-21"]


def test_without_births_nobody_knows_the_commands_threads(report):
    perf, command, other = ("perf-exec", 20), ("work", 20), ("other", 21)
    lines = [
        switch("2.0", 1, IDLE, 0, perf),
        switch("2.2", 1, command, 1, other),
        switch("2.3", 1, other, 0, IDLE),
    ]
    assert "group other-21" in load(report(lines))


def test_a_cpu_whose_recording_ends_first(report):
    """perf stops CPU by CPU: a thread comes to another one, and nobody has seen it leave."""
    assert load(report([*LINES, switch("1.005", 1, IDLE, 0, AB), switch("1.006", 0, IDLE, 0, AB)]))


def test_wakeups_before_the_sleep_are_wakeups(report):
    """A thread leaves its CPU as asleep, but was woken just before: none of these is unexplained."""
    lines = [switch("99.0", 1, IDLE, 0, KID)]
    for time in range(100, 130, 2):
        lines += [
            switch(f"{time}.0", 0, IDLE, 0, AB),
            waking(f"{time}.1", 1, KID, AB),
            switch(f"{time}.5", 0, AB, 1, IDLE),
        ]
    program = load(report(lines))
    assert program.count("receive woken") == program.count("send woken") == 15


def test_who_wakes_itself_waits_for_nobody(report):
    lines = [switch("1.0", 0, IDLE, 0, AB), waking("1.1", 0, AB, AB), switch("1.2", 0, AB, 0, IDLE)]
    assert "woken" not in load(report(lines))


FIRST, SECOND, BECOME, ENDS = ("main", 10), ("worker", 11), ("worker", 10), ("main", 11)
BORN = [
    switch("1.000", 0, IDLE, 0, FIRST),
    fork("1.001", 0, FIRST, SECOND),
    waking("1.001", 0, FIRST, SECOND, name="sched_wakeup_new"),
    switch("1.002", 1, IDLE, 0, SECOND),
]
LEFT = switch("1.004", 1, BECOME, 0, IDLE)
SECOND_EXECUTES = {
    "at once": [
        switch("1.003", 0, FIRST, 0x10, IDLE),
        executes("1.004", 1, BECOME, 11),
    ],
    "switched before": [
        switch("1.003", 0, FIRST, 0x10, IDLE),
        LEFT,
        switch("1.005", 1, IDLE, 0, BECOME),
        executes("1.006", 1, BECOME, 11),
    ],
    "the first has its number": [
        switch("1.003", 0, ENDS, 0x10, IDLE),
        executes("1.004", 1, BECOME, 11),
    ],
    "both": [
        switch("1.003", 0, ENDS, 0x10, IDLE),
        LEFT,
        switch("1.005", 1, IDLE, 0, BECOME),
        executes("1.006", 1, BECOME, 11),
    ],
    "the first ends last": [
        executes("1.004", 1, BECOME, 11),
        switch("1.0045", 0, ENDS, 0x10, IDLE),
    ],
}


@pytest.mark.parametrize("course", SECOND_EXECUTES)
def test_a_thread_that_executes_becomes_its_processs_first(report, course):
    """It has that one's number in all later events, and maybe in some before that of its execve()."""
    lines = [*BORN, *SECOND_EXECUTES[course], switch("1.010", 1, BECOME, 0x10, IDLE)]
    away_ms = 1 if LEFT in lines else 0
    program = load(report(lines))
    first, _, second = program.partition("\nprogram worker-10\n")
    assert "program main-10" in first and "exec" not in first and "exec" in second
    runs = [int(ns) for ns in re.findall(r"run (\d+)", second)]
    assert sum(runs) == (8 - away_ms) * 1_000_000


@pytest.mark.parametrize("course", ["switched before", "both"])
def test_a_number_that_changes_without_execve_is_refused(report, course):
    lines = [line for line in SECOND_EXECUTES[course] if "exec" not in line]
    error = refused(report([*BORN, *lines]))
    assert ":6: " in error.what or ":7: " in error.what
    assert "leaves CPU" in error.what and "which it never came to" in error.what


def test_only_what_is_replayed_counts_for_the_size(report, monkeypatch):
    """OLD and KID wake each other often; AB alone does nothing of that."""
    lines = [switch("1.0", 0, IDLE, 0, AB), switch("1.1", 1, IDLE, 0, KID)]
    lines += [waking("1.2", 0, AB, OLD) for _ in range(50)]
    monkeypatch.setattr(recorded.replayed, "MAX_OPS", 40)
    file = report([*lines, switch("1.3", 0, AB, 1, IDLE)])
    assert "run 300000000" in load(f"{file}:only=a b")
    assert "steps are too many" in refused(file).what


def test_threads_that_idle_are_the_kernels(report):
    odd, recorder = ("odd", 30), ("perf", 31)
    lines = [
        switch("1.01", 0, IDLE, 0, odd),
        switch("1.02", 0, odd, 0x80, recorder),
        switch("1.03", 0, recorder, 1, AB),
        switch("1.04", 0, AB, 1, IDLE),
    ]
    assert re.findall(r"group (\S+)", load(report(lines))) == ["a_b-10"]


def test_what_nobody_has_seen_counts_for_nothing(report):
    """perf begins CPU by CPU: nobody knows since when it was on the other one."""
    lines = [
        switch("1.0", 0, IDLE, 0, AB),
        switch("1.1", 0, AB, 0, IDLE),
        switch("1.5", 1, AB, 1, IDLE),
    ]
    assert "  run 100000000\nend" in load(report(lines))


def test_a_child_has_its_parents_nice(report):
    lines = [
        switch("1.0", 0, IDLE, 0, AB),
        switch("1.1", 0, AB, 0, IDLE),
        switch("1.2", 0, IDLE, 0, AB, pb=123),
        fork("1.3", 0, AB, KID),
    ]
    assert "group kid-11 0 0 main 3 " in load(report(lines))


# --- which files are recordings ---


def test_the_kind_is_told_by_the_first_bytes(report):
    file = report(LINES, "some.json")
    assert load(file) == PROGRAM and registry.text_file(str(file)) is None
    assert registry.text_file(str(report(LINES))) is None
    other = file.with_name("plain.pftrace")
    other.write_text(PROGRAM)
    assert not recorded.is_recording(str(other)) and registry.text_file(str(other)) == other


def test_options(report):
    file = report(LINES)
    assert "no option 'most=x'" in refused(f"{file}:most=x").what
    none = refused(f"{file}:only=nobody")
    assert "no thread is called 'nobody'" in none.why and "a b, kid" in none.next_step


# --- what is refused ---


@pytest.mark.parametrize(
    "lines, number, said",
    [
        (["CPU:1 [89 EVENTS DROPPED]"], 23, "events are lost"),
        (["CPU:1 [LOST EVENTS]"], 23, "events are lost"),
        ([switch("1.0005", 0, IDLE, 0, AB)], 23, "time goes backwards"),
        ([switch("1.005", 0, KID, 0, AB)], 23, "'kid' (11) leaves CPU 0, which it never came to"),
        ([switch("1.005", 0, IDLE, 0, KID)], 23, "thread 11 runs, which has ended"),
        (
            [switch("1.005", 1, IDLE, 0, AB), switch("1.006", 0, IDLE, 0, AB), switch("1.007", 1, AB, 0, IDLE)],
            24, "thread 10 comes to CPU 0, and has not left CPU 1",
        ),
        (["x-1 0-0x0 1.005: sched_switch: prev_comm=a prev_pid=1 prev_"], 23, "no event"),
        (["x-1 [000] 1.005: sched_switch: a:1 [120] S ==> b:2 [120]"], 23, "no event"),
    ],
)  # fmt: skip
def test_what_is_missing_is_refused_with_its_line(report, lines, number, said):
    file = report([*LINES, *lines])
    error = refused(file)
    assert error.what.startswith(f"{file}:{number}: ") and said in error.what, error
    assert "trace-cmd" in error.next_step


def test_no_switches(report):
    assert "no switch of threads" in refused(report([waking("1.0", 0, AB, KID)])).what


def test_no_wakeups(report):
    lines = []
    for time in range(100, 130, 2):
        lines += [switch(f"{time}.0", 0, IDLE, 0, AB), switch(f"{time}.5", 0, AB, 1, IDLE)]
    error = refused(report(lines))
    assert "14 of 15 sleeps end, and nobody knows by whom" in error.what
    assert "sched_waking" in error.why


def test_deadline_threads(report):
    lines = [switch("1.0", 0, IDLE, 0, AB, pb=-1), switch("1.1", 0, AB, 0, KID, pa=-1)]
    assert "SCHED_DEADLINE" in refused(report(lines)).why


def test_more_than_a_workload_may_hold(report):
    lines = [fork("1.0", 0, AB, ("kid", 100 + n)) for n in range(4_096)]
    error = refused(report([*LINES[:1], *lines]))
    assert "4,097 threads are too many" in error.what and ":only=" in error.next_step


# --- context ---


@pytest.mark.parametrize(
    "context, flags",
    [("0-0x19", 0x19), ("[000] d.H2.", HARDIRQ | SOFTIRQ), ("[000] d.s1.", SOFTIRQ), ("[000]", 0),
     ("[000] dNh1", HARDIRQ), ("[000] .....", 0)],
)  # fmt: skip
def test_flags_of_an_event(context, flags):
    event = parse_event(
        f" a b-10 {context} 1.5: sched_waking: comm=c pid=3 prio=120 target_cpu=001"
    )
    assert (event.flags, event.cpu, event.pid, event.ns) == (flags, 0, 10, 1_500_000_000)


# --- Perfetto ---


def perfetto(path, lost=0, lines=LINES):
    writer = Writer(path, policy_id=0, cpus=2, release="6.12", tgids={})
    events = list(parse_events(lines))
    for event in events:
        writer.add(event)
    writer.finish(events[-1].ns, lost)
    return path


def test_perfetto(tmp_path):
    """In a directory, and by itself; those of one instant keep their order over CPUs."""
    file = perfetto(tmp_path / "trace.perfetto-trace")
    assert load(file) == load(tmp_path) == PROGRAM


def test_of_one_instant_the_order_is_kept_over_cpus(tmp_path, report):
    lines = [
        switch("1.0", 0, IDLE, 0, AB),
        switch("1.1", 0, AB, 1, IDLE),
        switch("1.1", 1, IDLE, 0, KID),
        waking("1.2", 1, KID, AB, flags=0x8),
        switch("1.2", 0, IDLE, 0, AB),
        switch("1.3", 0, AB, 1, IDLE),
    ]
    file = perfetto(tmp_path / "x.pftrace", lines=lines)
    assert load(file) == load(report(lines)) and "sleep 100000000" in load(file)


def test_of_perfetto_the_command_is_known_by_the_summary(tmp_path):
    perfetto(tmp_path / "trace.perfetto-trace")
    summary = {"policy": "rr", "seconds": 1, "events": 1, "lost": 0, "threads": 1, "switches": 1,
               "kernel_switches": None, "migrations": 0, "wakeups": 0, "wakeup_us_p50": 0,
               "wakeup_us_p99": 0, "calls": {}, "bytes": {}, "pid": 11}  # fmt: skip
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    assert re.findall(r"group (\S+)", load(tmp_path)) == ["kid-11"]


def test_perfetto_cut_off(tmp_path):
    file = perfetto(tmp_path / "x.pftrace")
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])
    error = refused(file)
    assert error.what == f"{file}: byte {len(whole) - 3:,}: a packet has no end"
    trace = pb.Trace()
    trace.ParseFromString(whole)
    del trace.packet[-1]
    file.write_bytes(trace.SerializeToString())
    error = refused(file)
    assert "its end is missing" in error.what and "saakm trace" in error.next_step


def test_perfetto_lost_in_between(tmp_path):
    file = perfetto(tmp_path / "x.pftrace")
    trace = pb.Trace()
    trace.ParseFromString(file.read_bytes())
    number, packet = next(
        (n, p) for n, p in enumerate(trace.packet, 1) if p.HasField("ftrace_events")
    )
    packet.ftrace_events.lost_events = True
    file.write_bytes(trace.SerializeToString())
    assert refused(file).what.startswith(f"{file}: packet {number}, CPU ")


def test_perfetto_lost(tmp_path):
    error = refused(perfetto(tmp_path / "x.perfetto-trace", lost=7))
    assert "7 events are lost" in error.what and "--buffer" in error.next_step


# --- trace-cmd and perf, of which only what they print is ours to read ---


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A stand-in for trace-cmd or perf: prints a file for a command that has a word."""

    def make(name, status=0, **prints):
        cases = ""
        for word, text in prints.items():
            (tmp_path / f"{word}.out").write_text(text)
            cases += f'*" --{word} "*|*" -{word} "*) cat {tmp_path}/{word}.out;;\n'
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'#!/bin/sh\ncase " $* " in\n{cases}esac\necho odd >&2\nexit {status}\n')
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:{os.environ['PATH']}")

    return make


def trace_file(tmp_path, head=trace_dat.MAGIC):
    file = tmp_path / "recorded"
    file.write_bytes(head + b"6\0" + bytes(50))
    return file


def test_trace_dat(tmp_path, program):
    program("trace-cmd", stat="CPU: 0\noverrun: 0\n", R="cpus=2\n" + "\n".join(LINES))
    assert load(trace_file(tmp_path)) == PROGRAM


def test_trace_dat_with_losses(tmp_path, program):
    stat = "CPU: 0\noverrun: 0\n\nCPU: 1\noverrun: 12\n"
    program("trace-cmd", stat=stat, R="cpus=2\n" + "\n".join(LINES))
    error = refused(trace_file(tmp_path))
    assert "CPU 1, at its beginning or end: 12 events" in error.what and "-b" in error.next_step
    program("trace-cmd", stat=stat, R="cpus=2\nCPU:1 [12 EVENTS DROPPED]\n")
    assert "line 2 of 'trace-cmd report" in refused(trace_file(tmp_path)).what


def test_trace_dat_cut_off(tmp_path, program):
    """trace-cmd may be silent about it, and may not."""
    program("trace-cmd", stat="", R="cpus=2\n")
    file = trace_file(tmp_path)
    assert refused(file).what.startswith(f"{file}: byte 62: trace-cmd finds no scheduler event")
    program("trace-cmd", status=22, stat="", R="cpus=2\n" + "\n".join(LINES))
    error = refused(file)
    assert "trace-cmd cannot read all of it" in error.what and error.why == "odd"


def test_without_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install trace-cmd" in refused(trace_file(tmp_path)).next_step
    assert "apt-get install linux-perf" in refused(perf_file(tmp_path)).next_step


def perf_file(tmp_path, data=20, size=200):
    file = tmp_path / "recorded"
    head = perf_data._HEADER.pack(perf_data.MAGIC, 104, 136, 104, 0, 104, data)
    file.write_bytes((head + bytes(size))[:size])
    return file


STATS = "Aggregated stats:\n  SAMPLE events: 5 (50%)\n"


def test_perf_data(tmp_path, program):
    program("perf", stats=STATS, s="\n".join(LINES))
    assert load(perf_file(tmp_path)) == PROGRAM


def test_perf_data_with_losses(tmp_path, program):
    dump = "0 135 0x110 [0x38]: PERF_RECORD_LOST: id:4: lost:94\n"
    program("perf", stats=STATS + "  LOST events: 2 (1%)\n", D=dump)
    error = refused(perf_file(tmp_path))
    assert "byte 272: events are lost" in error.what and "lost:94" in error.why
    assert "perf sched record -m" in error.next_step


def test_perf_data_cut_off(tmp_path, program):
    program("perf")
    error = refused(perf_file(tmp_path, data=150))
    assert "byte 200: it ends before its data does, which has 54 bytes more" in error.what
    assert "perf was killed" in refused(perf_file(tmp_path, data=0)).why
    assert "it ends in its header" in refused(perf_file(tmp_path, size=30)).what


def test_inside_of_perf(monkeypatch, capsys):
    """What the script prints is read as the same event."""
    module = types.ModuleType("perf_trace_context")
    module.common_flags = lambda context: context
    monkeypatch.setitem(sys.modules, "perf_trace_context", module)
    sys.modules.pop("saakm.workload.recorded.inside_perf", None)
    from saakm.workload.recorded import inside_perf

    common = {"common_cpu": 3, "common_s": 7, "common_ns": 42, "common_comm": "a b"}
    fields = {"comm": "c d", "pid": 5, "prio": 120, "target_cpu": 1}
    inside_perf.trace_unhandled("sched__sched_waking", 0x19, {**common, "common_pid": -1, **fields})
    inside_perf.trace_unhandled("sched__sched_stat_runtime", 0, {**common, "common_pid": 1})
    (line,) = capsys.readouterr().out.splitlines()
    event = parse_event(line)
    assert event == (7_000_000_042, 3, 0, "sched_waking", ("c d", 5, 120, 1), 0x19)


# --- in the simulator ---

KNOWN = """\
saakm-program 1
semaphore a 1 0
group one 1 0 main 0 all none
group two 1 0 main 0 all none
group kid 0 0 main 5 all none
program one
  run 1000000
  loop 3
    run 200000
    send a 1 now
    run 300000
    sleep 5000000
  end
  fork kid 1
  run 70000
  join all
  run 1000
end
program two
  run 500000
  loop 3
    receive a 1
    run 400000
  end
end
program kid
  run 2000000
end
"""
STEPS = "  run 300000\n  sleep 5000000\n"
SENDS = "  send woken[{a}] 1 now\n"
ONE = f"  run 1200000\n{SENDS}{STEPS}  run 200000\n{SENDS}{STEPS}  run 200000\n{SENDS}{STEPS}"


def saakm(*arguments, status=0):
    done = call.saakm("sim", *arguments)
    assert done.returncode == status, done.stderr
    return done


def simulated(policy, workload, trace, topology="1s2c"):
    done = saakm(policy, "--free", "--json", "--topology", topology, "--workload", workload, "--trace", trace)  # fmt: skip
    return json.loads(done.stdout[: done.stdout.rindex("}") + 1])


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    directory = tmp_path_factory.mktemp("known")
    (directory / "known.txt").write_text(KNOWN)
    result = simulated("rr", directory / "known.txt", directory / "trace")
    return directory / "trace", result


def bursts(program):
    """By the thread's name without its number, as that is another one in each run."""
    text = re.sub(r"\b(one|two|kid)-[-\d]+", r"\1", program)
    return dict(re.findall(r"^program (\S+)\n(.*?)^end$", text, re.M | re.S))


def test_what_a_known_workload_did_is_read_back(known):
    """The closed check: bursts and wakers are those of the program that ran."""
    found = bursts(load(known[0]))
    assert found["one"] == ONE.format(a=1) + "  fork kid 1\n  run 70000\n  receive woken[0] 1\n  run 1000\n"  # fmt: skip
    assert found["two"] == "  run 500000\n" + "  receive woken[1] 1\n  run 400000\n" * 3
    assert found["kid"] == "  run 2000000\n  send woken[0] 1 now\n"


@pytest.mark.parametrize("policy, topology", [("rr", "1s2c"), ("vtime", "2s4c")])
def test_a_replay_demands_the_same(known, tmp_path, policy, topology):
    again = simulated(policy, known[0], tmp_path / "again", topology)
    assert bursts(load(tmp_path / "again")) == bursts(load(known[0]))
    times = Counter()
    for group in again["groups"]:
        times[group["name"].partition("-")[0]] += group["run_ns"]
    assert times == {group["name"]: group["run_ns"] for group in known[1]["groups"]}


BUSY = """\
saakm-program 1
group hog 1 0 main 0 all none
group sleeper 1 0 main 0 all none
program hog
  run 10000000
end
program sleeper
  run 1000
  sleep 2000000
  run 1000
end
"""


def test_an_interrupt_is_not_what_it_interrupts(tmp_path):
    """The hog has the only CPU when the timer comes."""
    (tmp_path / "busy.txt").write_text(BUSY)
    simulated("rr", tmp_path / "busy.txt", tmp_path / "trace", "1s1c")
    assert "run 1000\n  sleep 2000000\n  run 1000\n" in load(tmp_path / "trace")


def test_the_command_refuses_with_status_2(report):
    done = saakm("rr", "--workload", report([*LINES, "CPU:1 [3 EVENTS DROPPED]"]), status=2)
    assert "report.txt:23: events are lost" in done.stderr and "next: record again" in done.stderr


@pytest.mark.parametrize("name", ["trace.dat", "perf.data", "x.perfetto-trace"])
@pytest.mark.parametrize("content", [b"", b"\x01\x00garbage"])
def test_what_is_called_a_recording_and_is_none_is_not_taken_for_a_program(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadWorkload, match="it is no recording"):
        registry.load(str(tmp_path / name), 4)
    assert registry.text_file(str(tmp_path / name)) is None


def test_a_program_may_be_called_as_a_recording_is(tmp_path):
    path = tmp_path / "mine.dat"
    path.write_text(to_text(registry.load("herd", 4)))
    assert registry.load(str(path), 4).groups
    assert registry.text_file(str(path)) == path
