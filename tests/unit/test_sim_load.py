# SPDX-License-Identifier: GPL-2.0
"""Programs of threads as the simulator runs them: against the ideal machine, and by hand."""

import json
import random
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field

import ideal_machine
import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.trace.events import parse_events
from saakm.workload import program_text
from saakm.workload.builder import (
    Builder,
    ThreadBuilder,
    at,
    bimodal,
    exponential,
    own_number,
    picked,
    rounds_done,
    uniform,
)
from saakm.workload.program import CpuList, Policy

MS = 1_000_000
IPI_NS = 1_000  # how long another CPU takes to hear of a wakeup


@dataclass
class Done:
    status: int
    log: str
    result: dict = field(default_factory=dict)
    trace: list = field(default_factory=list)

    def group(self, name):
        return next(one for one in self.result["groups"] if one["name"] == name)

    def mark(self, group, mark):
        return self.group(group)["marks"][mark]


class Simulator:
    def __init__(self, directory, program):
        self._directory, self._program = directory, program

    def __call__(self, program, *options, trace=False):
        text = program if isinstance(program, str) else program_text.to_text(program)
        file = self._directory / "program"
        file.write_text(text)
        events = self._directory / "trace"
        command = [self._program, "for=1000000000", *options, *[f"trace={events}"] * trace, file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        result = json.loads(done.stdout) if done.stdout else {}
        shown = list(parse_events(events.read_text().splitlines())) if trace else []
        return Done(done.returncode, done.stderr, result, shown)


@pytest.fixture(scope="module")
def programs():
    rr = read_module(paths.POLICIES / "rr")
    return {kind: build([rr], Recipe(kind)) for kind in (Kind.PLAIN, Kind.SANITIZE)}


SLEEPERS = """\
saakm-program 1
group w 200 0 main 0 all none
program w
loop forever
run exponential:3000
sleep exponential:6000000
end
end
"""


@pytest.fixture
def simulate(tmp_path, programs):
    return Simulator(tmp_path, programs[Kind.PLAIN])


@pytest.fixture
def sanitized(tmp_path, programs):
    return Simulator(tmp_path, programs[Kind.SANITIZE])


def one_thread(*operations, declared=(), **group):
    """`operations`: as in the text form. Times of a mark `m` are its results."""
    columns = {
        "instances": 1,
        "start": 0,
        "policy": "main",
        "nice": 0,
        "cpus": "all",
        "flags": "none",
    }
    line = " ".join(map(str, (columns | group).values()))
    head = ["saakm-program 1", *declared, "mark m", f"group g {line}", "program g"]
    return "\n".join([*head, *operations, "end", ""])


# --- against the ideal machine ---


class Noting(ideal_machine._Machine):
    """Notes when each thread has ended."""

    def __init__(self, *arguments):
        self.ends = {}
        super().__init__(*arguments)

    def _step(self, thread):
        super()._step(thread)
        if thread.ended:
            self.ends[thread.group.name, thread.number] = self.now


def thread_ends(trace):
    """When each thread ended, by group and number: threads are numbered as they are forked."""
    names, count, ends = {}, defaultdict(int), {}
    for event in trace:
        if event.name == "sched_process_fork":
            _, _, name, pid = event.values
            names[pid] = (name, count[name])
            count[name] += 1
        elif event.name == "sched_process_exit" and event.values[1] in names:
            ends[names[event.values[1]]] = event.ns
    return ends


def some_time(draw):
    a, b = sorted(draw.randrange(10_000, 3 * MS) for _ in range(2))
    return draw.choice([a, uniform(a, b), exponential(a), bimodal(a, b, 300_000)])


def compute(draw, thread: ThreadBuilder):
    draw.choice([thread.run, thread.spin, thread.sleep])(some_time(draw))


def critical_section(draw, thread):
    mutex = draw.choice(["one", at("many", own_number()), at("many", rounds_done(2, 3), 1)])
    thread.lock(mutex)
    compute(draw, thread)
    thread.unlock(mutex)


def picked_section(draw, thread):
    thread.pick(4)
    thread.lock(at("many", picked()))
    thread.run(some_time(draw))
    thread.unlock(at("many", picked()))


def latency(draw, thread):
    thread.mark_begin("m", draw.choice(["now", "due", "sent"]))
    compute(draw, thread)
    thread.mark_end("m")


def family(draw, thread):
    thread.fork("child", draw.randint(1, 3))
    compute(draw, thread)
    draw.choice([thread.join_all, lambda: thread.join(1)])()


def change(draw, thread):
    cpus = draw.choice([CpuList(), CpuList(((0, 40),))])
    policies = [Policy("fair"), Policy("batch"), Policy()]
    draw.choice(
        [
            thread.sched_yield,
            thread.exec,
            lambda: thread.set_nice(draw.randint(-20, 19)),
            lambda: thread.set_cpus(cpus),
            lambda: thread.set_policy(draw.choice(policies)),
        ]
    )()


def channel(draw, thread):
    """What two groups do with each other: each sends first, or the other waits."""
    many = draw.randint(1, 3)
    thread.send("tokens", many)
    thread.receive("tokens", many)


def gather(thread, parties):
    thread.lock("gate")
    thread.meet("gathered", "gate", parties)
    thread.unlock("gate")


def steps(draw, thread, count):
    known = (compute, critical_section, picked_section, latency, family, change, channel)
    for _ in range(count):
        if draw.random() < 0.2:
            with thread.loop(draw.randint(1, 4)):
                draw.choice(known)(draw, thread)
                thread.iteration()
        elif draw.random() < 0.2:
            thread.timer(at("timers", own_number()), some_time(draw), draw.random() < 0.5)
        else:
            draw.choice(known)(draw, thread)


def some_program(seed):
    """One whose threads end, whatever comes first, and that waits for what others do."""
    draw = random.Random(seed)
    make = Builder()
    make.mutex("one")
    make.mutex("many", 4)
    make.timer("timers", 8)
    make.semaphore("tokens")
    make.mark("m")
    pairs = draw.randint(1, 3)
    make.pipe("pipes", 2, pairs)
    make.barrier("meet", 2 * pairs)
    make.cond("gathered")
    gate = draw.choice([make.mutex, make.pimutex])
    gate("gate")
    # No real-time one: those take the CPU where they slept, whoever is there now.
    policy = draw.choice([Policy(), Policy("fair")])
    many, due = draw.randint(1, 9), draw.choice(["now", "due"])
    with make.group("writer", pairs, start_ns=draw.randrange(MS), policy=policy) as thread:
        # Nothing happens at the same time, where the order would be anybody's choice.
        thread.run(uniform(1, MS))
        steps(draw, thread, draw.randint(1, 5))
        with thread.loop(many):
            compute(draw, thread)
            thread.send(at("pipes", own_number()), 2, due)
        thread.barrier("meet")
        thread.run(uniform(1, MS))
        gather(thread, 2 * pairs)
        steps(draw, thread, 2)
    with make.group("reader", pairs, nice=draw.randint(-20, 19), reset=True) as thread:
        thread.run(uniform(1, MS))
        steps(draw, thread, draw.randint(1, 3))
        with thread.loop(2 * many):
            thread.receive(at("pipes", own_number()))
            latency(draw, thread)
        thread.barrier("meet")
        thread.run(uniform(1, MS))
        gather(thread, 2 * pairs)
    with make.group("child", 0, inherit=draw.random() < 0.5, policy=Policy("fair")) as thread:
        thread.run(some_time(draw))
        thread.sleep(some_time(draw))
        thread.iteration()
    with make.group("sleeper", draw.randint(1, 3)) as thread:
        thread.suspend()
        thread.run(some_time(draw))
    with make.group("waker", start_ns=draw.randrange(5 * MS)) as thread:
        thread.run(some_time(draw))
        thread.resume(at("sleeper", 0))
        thread.sleep(10 * MS)
        thread.resume("sleeper")
    return make.program("drawn")


def compare(done, program, seed, wakeups):
    """Each thread ends as on the ideal machine, but for the time that its wakeups took."""
    ideal = Noting(program, seed)
    wanted = ideal.run(10**9)
    assert not wanted.asleep and not wanted.interrupted
    ends = thread_ends(done.trace)
    assert ends.keys() - {("launcher", 0)} == ideal.ends.keys()
    for thread, at_ns in ideal.ends.items():
        assert -IPI_NS <= ends[thread] - at_ns <= wakeups * IPI_NS, thread
    for group in program.groups:
        said = done.group(group.name)
        assert said["threads"] == wanted.threads[group.name]
        assert said["iterations"] == wanted.iterations[group.name]
        marks = wanted.marks[group.name, "m"]
        if said["marks"]:
            assert said["marks"]["m"]["count"] == len(marks)
            assert abs(said["marks"]["m"]["sum_ns"] - sum(marks)) <= wakeups * IPI_NS * len(marks)


@pytest.mark.parametrize("seed", range(40))
def test_with_cpus_enough_threads_end_as_on_the_ideal_machine(simulate, seed):
    program = some_program(seed)
    done = simulate(program, "cpus=64", f"seed={seed}", trace=True)
    assert (done.status, done.log, done.result["warnings"]) == (0, "", [])
    compare(done, program, seed, wakeups=done.result["wakeups"] + done.result["forks"])


@pytest.mark.parametrize("seed", range(6))
def test_races_and_sanitizers_change_nothing_that_threads_are_due(sanitized, seed):
    program = some_program(100 + seed)
    options = ("cpus=3", f"seed={seed}", "check=1", "interleave=7", "window=3000")
    done = sanitized(program, *options)
    assert (done.status, done.log, done.result["warnings"]) == (0, "", [])
    wanted = ideal_machine.run(program, seed=seed)
    for group in program.groups:
        said = done.group(group.name)
        assert said["threads"] == wanted.threads[group.name]
        assert said["iterations"] == wanted.iterations[group.name]
        for mark, times in said["marks"].items():
            assert times["count"] == len(wanted.marks[group.name, mark])


def test_the_same_seed_prints_the_same_bytes(simulate, sanitized):
    program = some_program(1)
    options = ("cpus=2", "seed=5", "interleave=50", "window=2000")
    first = simulate(program, *options)
    assert first.result == simulate(program, *options).result
    assert first.result == simulate(program, *options, trace=True).result
    assert first.result == sanitized(program, *options).result
    assert first.result["hash"] != simulate(program, "cpus=2", "seed=6").result["hash"]


# --- by hand ---

TIMES = {
    "run": (["run 700"], 700),
    "spin": (["spin 700"], 700),
    "sleep": (["sleep 700"], 700),
    "nothing": (["run 0", "spin 0", "yield", "exec", "set_nice 3", "pick 9"], 0),
    "a timer of its own": (["run 100", "timer t 700 absolute"], 700),
    "a late timer that begins anew": (
        ["run 1000", "timer t 700 relative", "timer t 700 relative"],
        1700,
    ),
    "a late timer that catches up": (
        ["run 1000", "timer t 700 absolute", "timer t 700 absolute"],
        1400,
    ),
    "loops": (["loop 3", "loop 4", "run 10", "end", "run 1", "end"], 123),
    "a mutex of its own": (["lock x", "run 5", "unlock x", "lock x", "unlock x"], 5),
    "a semaphore": (["send s 3 now", "receive s 2", "run 1", "receive s 1"], 1),
    "a pipe": (["send p 2 due", "receive p 1", "run 1", "receive p 1"], 1),
    "a meeting of one": (["lock x", "meet c x 1", "run 1", "meet c x 1", "unlock x"], 1),
    "a barrier for one": (["barrier b", "run 1", "barrier b"], 1),
    "nobody to signal": (["signal c", "broadcast c", "resume g", "resume g[7]", "join all"], 0),
}


@pytest.mark.parametrize("lines, took_ns", TIMES.values(), ids=TIMES)
def test_an_operation_takes_its_time(simulate, lines, took_ns):
    declared = [
        "mutex x 1",
        "semaphore s 1 0",
        "pipe p 1 2",
        "cond c 1",
        "barrier b 1 1",
        "timer t 1",
    ]
    lines = ["mark_begin m now", *lines, "mark_end m"]
    done = simulate(one_thread(*lines, declared=declared, start=5000))
    assert (done.status, done.log) == (0, "")
    # Timers count from START, when nobody has forked the thread yet.
    late = 2 * IPI_NS if any("timer" in line for line in lines) else 0
    took = done.mark("g", "m")
    assert took["count"] == 1 and took_ns - late <= took["sum_ns"] <= took_ns


def test_a_spin_counts_what_it_does_not_run_and_a_run_does_not(simulate):
    program = """saakm-program 1
        mark m
        group run 2 0 fair 0 0 none
        group spin 2 0 fair 0 0 none
        program run
            mark_begin m now
            run 20000000
            mark_end m
        end
        program spin
            mark_begin m now
            spin 20000000
            mark_end m
        end"""
    done = simulate(program, "cpus=2")
    assert done.group("run")["run_ns"] == 2 * 20 * MS
    assert done.mark("run", "m")["max_ns"] > 2 * 20 * MS
    # Its last turn may come when its time is over already.
    assert 20 * MS <= done.mark("spin", "m")["min_ns"] <= 20 * MS + 40 * MS
    assert done.group("spin")["run_ns"] < 2 * 20 * MS
    assert done.group("run")["preemptions"] > 2


def test_waits_are_from_runnable_to_running(simulate):
    program = """saakm-program 1
        group long 1 0 rt:9 0 0 none
        group late 3 1000000 rt:9 0 0 none
        program long
            run 5000000
        end
        program late
            run 1000000
        end"""
    done = simulate(program, "cpus=1")
    waits = done.group("late")["waits"]
    # Each is forked by the launcher, of the fair class: when the CPU has no more to do of rt.
    assert done.result["end_ns"] == 8 * MS
    assert waits["count"] == done.group("late")["switches"] and waits["max_ns"] >= 2 * MS


MEETING = """saakm-program 1
{mutex} m 1
cond c 1
group first 1 0 {policies[0]} 0 0 none
group again 1 1000000 {policies[1]} 0 0 none
program first
    lock m
    meet c m 2
    unlock m
    iteration
end
program again
    loop 4
        lock m
        meet c m 2
        unlock m
        iteration
    end
    sleep 1000000
    lock m
    meet c m 2
    iteration
end"""


@pytest.mark.parametrize("mutex", ("mutex", "pimutex"))
def test_who_comes_again_before_the_woken_have_run_passes_at_once(simulate, mutex):
    text = MEETING.format(mutex=mutex, policies=("fair", "rt:9"))
    done, ideal = simulate(text), ideal_machine.run(program_text.parse_text(text, "MEETING"))
    assert {name: done.group(name)["iterations"] for name in ("first", "again")} == ideal.iterations
    # And it sleeps once the other has gone on.
    assert ideal.iterations == {"first": 1, "again": 4} and ideal.asleep == ["again"]


@pytest.mark.parametrize("mutex", ("mutex", "pimutex"))
def test_who_is_woken_at_a_meeting_preempts_its_waker_and_waits_for_the_mutex(simulate, mutex):
    done = simulate(MEETING.format(mutex=mutex, policies=("rt:9", "rt:8")))
    # It comes, is woken, blocks on the mutex, and is woken by the unlock: from then it counts no more.
    assert (done.group("first")["switches"], done.group("again")["iterations"]) == (3, 1)


FAULTS = {
    "unlocking nobody's": (["unlock x"], 6, "unlocks a mutex that it does not hold"),
    "locking twice": (["lock x", "lock x"], 7, "locks a mutex that it holds"),
    "waiting without": (["wait c x"], 6, "waits with a mutex that it does not hold"),
    "meeting without": (["meet c x 2"], 6, "waits with a mutex that it does not hold"),
    "meeting alone without": (["meet c x 1"], 6, "waits with a mutex that it does not hold"),
    "a loop": (["loop forever", "end"], 7, "never stops"),
    "yielding alone": (["loop forever", "yield", "end"], None, "never stops"),
    "sending": (["loop forever", "send s 1000000 now", "end"], None, "never stops"),
    "waking itself": (["loop forever", "send s 1 now", "receive s 1", "end"], None, "never stops"),
    "no time": (["loop forever", "run 0", "sleep 0", "end"], None, "never stops"),
}


@pytest.mark.parametrize("lines, line, said", FAULTS.values(), ids=FAULTS)
def test_what_only_the_run_can_see_is_a_fault_of_the_file(simulate, tmp_path, lines, line, said):
    declared = ["mutex x 1", "cond c 1", "semaphore s 1 0"]
    program = one_thread(*lines, declared=declared).replace("mark m\n", "")
    done = simulate(program)
    assert (done.status, done.result) == (2, {})
    where = re.match(rf"{re.escape(str(tmp_path))}/program:(\d+): ", done.log)
    assert where and "thread 0 of group 'g'" in done.log and said in done.log
    assert line is None or int(where[1]) == line + 1


def test_threads_that_take_turns_for_ever_are_a_fault_of_the_file(simulate):
    done = simulate(one_thread("loop forever", "yield", "end", instances=50), "cpus=2")
    assert (done.status, done.result) == (2, {})
    assert "of group 'g' never stops: it and others" in done.log


def test_many_operations_at_an_instant_are_none_too_many(simulate):
    lines = ["loop 20000", "send s 1 now", "receive s 1", "end", "send s 1000000 now"]
    done = simulate(one_thread(*lines, declared=["semaphore s 1 0"]))
    assert (done.status, done.log) == (0, "")
    assert done.result["end_ns"] < 10 * IPI_NS


def test_an_idle_cpu_keeps_its_tick_until_one_has_come(simulate):
    """kernel/sched/idle.c: it stops the tick when it idles on after one."""
    rounds = 40

    def ticks(sleep_ns):
        done = simulate(
            one_thread(f"loop {rounds}", "run 100000", f"sleep {sleep_ns}", "end"), "cpus=1"
        )
        assert done.status == 0, done.log
        return done.result["ticks"]

    # Each time one, besides the few that come while the thread runs.
    assert rounds <= ticks(20 * MS + 1) <= rounds + 4
    # Never long enough for a second one: as if it never idled.
    assert abs(ticks(3 * MS) - rounds * 3.1 / 4) <= 2


def test_how_long_an_interrupt_to_another_cpu_takes_is_an_option(simulate):
    rounds = 1000
    program = "\n".join(
        ["saakm-program 1", "semaphore a 1 0", "semaphore b 1 0"]
        + ["group ping 1 0 main 0 0 none", "group pong 1 0 main 0 1 none"]
        + ["program ping", f"loop {rounds}", "send a 1 now", "receive b 1", "end", "end"]
        + ["program pong", f"loop {rounds}", "receive a 1", "send b 1 now", "end", "end", ""]
    )
    one, four = (simulate(program, "cpus=2", f"ipi={us * 1000}").result["end_ns"] for us in (1, 4))
    assert four - one == pytest.approx(2 * rounds * 3_000, rel=0.01)
    assert simulate(program, "cpus=2").result["end_ns"] == one
    refused = simulate(program, "ipi=soon")
    assert (refused.status, refused.result) == (2, {}) and "ipi=soon" in refused.log


def test_a_policy_that_is_not_there_is_a_fault_of_the_file(simulate, tmp_path):
    done = simulate(one_thread("run 1", policy="saakm:other"))
    assert done.status == 2
    assert done.log == f"{tmp_path}/program:3: no policy is loaded that is called 'other'\n"
    done = simulate(one_thread("run 1", "set_policy saakm:other"))
    assert done.log == f"{tmp_path}/program:6: no policy is loaded that is called 'other'\n"


def test_threads_have_what_their_group_says(simulate):
    program = """saakm-program 1
        mutex x 1
        group a 1 0 saakm:rr -5 0,2-9 reset
        group b 1 0 rt:7 0 all none
        group c 1 0 rr:8 0 all none
        group d 1 0 batch 3 all none
        group e 1 0 idle 4 all none
        group own 0 0 fair 7 1 none
        group heir 0 0 fair 7 1 inherit
        program a
            fork own 1
            run 1000000
        end
        program b
            fork heir 1
            run 1000000
        end
        program c
            run 1000000
        end
        program d
            run 1000000
            set_policy main
            run 1000000
        end
        program e
            run 1000000
        end
        program own
            run 1000000
        end
        program heir
            run 1000000
        end"""
    done = simulate(program, "cpus=4", trace=True)
    assert (done.status, done.result["warnings"]) == (0, [])
    policies = {one["name"]: one["policy"] for one in done.result["groups"]}
    assert policies == {
        "a": "rr", "b": "rt:7", "c": "rr:8", "d": "batch", "e": "idle", "own": "fair", "heir": "fair",
    }  # fmt: skip
    last = {}
    for event in done.trace:
        if event.name == "sched_process_exit":
            last[event.values[0]] = (event.values[2], event.cpu)
    prios = {name: prio for name, (prio, _) in last.items() if name in policies}
    assert prios == {"a": 115, "b": 92, "c": 91, "d": 123, "e": 124, "own": 127, "heir": 92}
    assert last["own"][1] == 1 and last["a"][1] in (0, 2, 3)
    joined = {
        e.values[0]
        for e in done.trace
        if e.name == "saakm_transition" and e.values[6] == "new_place"
    }
    assert joined == {"a", "d"}


def test_the_run_ends_at_its_time_with_whoever_is_there(simulate):
    program = """saakm-program 1
        cond c 1
        mutex x 1
        group runs 3 0 main 0 all none
        group waits 2 0 main 0 all none
        group sleeps 2 0 fair 0 all none
        group never 1 999999999999999 main 0 all none
        program runs
            loop forever
                run 3000000
                iteration
            end
        end
        program waits
            lock x
            wait c x
        end
        program sleeps
            loop forever
                sleep 1000000
            end
        end
        program never
        end"""
    done = simulate(program, "cpus=2", "for=30000000")
    assert (done.status, done.result["warnings"]) == (0, [])
    assert done.result["end_ns"] == 30 * MS
    assert done.group("runs")["run_ns"] + done.result["idle_ns"] == 2 * 30 * MS
    assert 17 <= done.group("runs")["iterations"] <= 20
    assert (done.group("never")["threads"], done.group("waits")["threads"]) == (0, 2)
    assert done.result["policies"] == [{"name": "rr", "id": 1, "threads": 5, "ejected": None}]


def test_costs_take_time(simulate, tmp_path):
    table = tmp_path / "costs"
    table.write_text("switch 2000\nyield 3000\nrate 2000\n")
    lines = ["mark_begin m now", "loop 10", "yield", "end", "mark_end m"]
    free, dear = (simulate(one_thread(*lines), *cost) for cost in ([], [f"costs={table}"]))
    assert (free.mark("g", "m")["sum_ns"], free.result["cost_ns"]) == (0, 0)
    assert dear.mark("g", "m")["sum_ns"] == 10 * 1500
    # The last switch is the end of the run, and takes none of its time.
    assert dear.result["cost_ns"] == 10 * 1500 + (dear.result["switches"] - 1) * 1000
    # Time passes, so that it need not stop.
    done = simulate(one_thread("loop forever", "yield", "end"), f"costs={table}", "for=1000000")
    assert (done.status, done.result["end_ns"]) == (0, MS)


def test_the_trace_is_what_the_reader_of_traces_knows(simulate):
    done = simulate(some_program(2), "cpus=2", trace=True)
    names = {event.name for event in done.trace}
    assert names == {
        "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task",
        "sched_process_fork", "sched_process_exit", "saakm_transition", "saakm_call",
    }  # fmt: skip
    assert [event.ns for event in done.trace] == sorted(event.ns for event in done.trace)
    ends_ns = done.result["end_ns"]
    switches = sum(one.name == "sched_switch" and one.ns <= ends_ns for one in done.trace)
    assert switches >= done.result["switches"]


@pytest.mark.parametrize("cpu", [0, 2])
def test_sleepers_of_a_cpu_that_goes_offline(simulate, cpu):
    """They wake elsewhere, between what happens there, and the run ends in time."""
    options = ("cpus=4", "smt=2", "llc=4", "node=4", "interleave=2", "window=50000")
    done = simulate(SLEEPERS, *options, f"at=20000000:offline:{cpu}", "for=100000000")
    assert (done.status, done.log) == (0, "")
    assert 100 * MS <= done.result["end_ns"] < 110 * MS


@pytest.mark.parametrize("start", [0, 1000])
def test_a_real_time_thread_has_the_cpu_from_the_beginning(simulate, start):
    """The class's server has not to help at once, whose first deadline is still to come."""
    done = simulate(
        f"""\
        saakm-program 1
        mark latency
        timer t 1
        group hog 2 0 main 0 all none
        group urgent 1 {start} rt:50 0 all none
        program hog
            run 200000000
        end
        program urgent
            timer t 1000 absolute
            mark_begin latency due
            run 1000000
            mark_end latency
        end""",
        "cpus=1",
    )
    assert done.mark("urgent", "latency")["max_ns"] == MS


def test_a_mutex_whose_holder_has_ended_is_nobody_elses(simulate):
    """A thread so large gets the memory of one that has ended, and was taken for that one then."""
    declared = [f"mark m{n}" for n in range(250)]
    marks = [f"mark_begin m{n} now\nmark_end m{n}" for n in range(250)]
    lines = [
        "saakm-program 1\nmutex a 1",
        *declared,
        *(
            f"group {name} {count} 0 main 0 all none"
            for name, count in (("p", 1), ("x", 0), ("y", 0))
        ),
        "program p\nfork x 1\njoin all\nsleep 100000000\nfork y 20\nend",
        *("\n".join([f"program {name}", "lock a", *marks, "end"]) for name in "xy"),
    ]
    done = simulate("\n".join(lines), "cpus=1")
    assert done.status == 0, done.log
    assert done.result["warnings"][0].startswith("20 threads wait, and nobody is left who could")


def test_a_tick_of_an_idle_cpu_is_no_end_of_its_idle_time(simulate):
    """Without costs each CPU computes or idles."""
    done = simulate(one_thread("loop 20", "run 1000000", "sleep 9000000", "end"), "cpus=2")
    assert done.result["ticks"] > 20
    assert done.group("g")["run_ns"] + done.result["idle_ns"] == 2 * done.result["end_ns"]
