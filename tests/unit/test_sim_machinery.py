# SPDX-License-Identifier: GPL-2.0
"""What the simulator has of the kernel around the scheduler, by a module in tests/sim/machinery/."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Compiler, Kind, Recipe

TESTS = paths.REPO / "tests" / "sim"
BUSY = """\
saakm-program 1
group busy 6 0 fair 0 all none
program busy
loop forever
run uniform:1000:300000
sleep uniform:1000:300000
end
end
"""
NS = 10**9


def simulator(
    kind: Kind = Kind.PLAIN, compiler: Compiler = Compiler.GCC, module: str = "machinery"
) -> Path:
    return build([read_module(TESTS / module)], Recipe(kind, compiler))


def run(simulator: Path, *options: str, program: str = BUSY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [simulator, *options, "-"], input=program, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("seed", range(1, 6))
def test_machinery(seed: int) -> None:
    """Among threads that interfere; more of them for each seed, and CPUs."""
    done = run(
        simulator(Kind.SANITIZE),
        *(f"for={20 * NS}", f"seed={seed}", f"cpus={seed}", f"interleave={seed + 1}"),
    )
    assert done.returncode == 0, done.stderr
    assert "machinery: all have finished" in done.stderr
    assert "machinery: 240 were freed by call_rcu()" in done.stderr


@pytest.mark.parametrize("seed", range(1, 6))
def test_cpus_come_and_go(seed: int) -> None:
    """What was to happen on one that is offline happens elsewhere, and nothing happens there."""
    ats = [f"at={(20 * n + seed) * 10**6}:{'offline' if n % 2 else 'online'}" for n in range(1, 13)]
    done = run(
        simulator(),
        *(f"for={20 * NS}", f"seed={seed}", "cpus=4", "smt=2", f"interleave={seed + 1}"),
        *(f"{at}:{n // 2 % 3}" for n, at in enumerate(ats)),
        "read=/sys/kernel/debug/machinery/state",
    )
    assert done.returncode == 0, done.stderr
    assert "machinery: all have finished" in done.stderr
    assert "CPUs: 6 came, 6 went" in done.stderr


def test_every_build_does_the_same() -> None:
    options = (f"for={2 * NS}", "interleave=20")
    outputs = {
        (done.stdout, done.stderr)
        for done in (
            run(simulator(), *options),
            run(simulator(compiler=Compiler.CLANG), *options),
            run(simulator(Kind.SANITIZE), *options),
        )
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop()[0])["switches"] > 10000


def test_parameters_and_files() -> None:
    state, text = (f"/sys/kernel/debug/machinery/{name}" for name in ("state", "text"))
    done = run(
        simulator(),
        *(f"for={2 * NS}", f"read={state}", f"set={text}:hello", "read=/proc/saakm/policies"),
        *("machinery.word=abc", "machinery.numbers=1,-2,3", "read=on_violation", "read=gone"),
    )
    assert done.returncode == 0, done.stderr
    assert (
        f"==> {state} <==\n6 threads of 6, 180 rounds\nword abc, numbers 1 -2 3\nwritten: hello\n"
        in done.stderr
    )
    assert "==> /proc/saakm/policies <==\nid " in done.stderr
    assert "==> on_violation <==\neject\n" in done.stderr
    assert "==> gone <== -ENOENT\n" in done.stderr
    assert re.search(r"^\[    \d\.\d{6}\] machinery: all have finished$", done.stderr, re.M)


def test_the_only_cpu_goes_offline() -> None:
    """Its threads go elsewhere; of kernel threads nothing is said, as in select_fallback_rq()."""
    head, body = BUSY.split("program busy\n")
    pinned = "group pinned 1 0 fair 0 1 none\n"
    program = f"{head}{pinned}program busy\n{body}program pinned\n{body}"
    for seed in range(1, 4):
        options = ("cpus=2", f"for={2 * NS}", "at=500000000:offline:1", f"seed={seed}", "check=1")
        done = run(simulator(Kind.SANITIZE), *options, "interleave=9", program=program)
        assert done.returncode == 0, done.stderr
        told = re.findall(r"process \d+ \((\S+)\) no longer affine to cpu1", done.stderr)
        assert told == ["pinned"]


THREAD = r" \[function make_mistake of module mistakes, thread mistaken/0 \(\d+\), CPU 0\]"
MISTAKES = {
    "init_fails": "module mistakes could not be loaded: -ENODEV",
    "sleeps_in_atomic": "sleeps in atomic context at .*: preemption count 1, .*" + THREAD,
    "sleeps_again_and_again": r"and 15 more: sleeps in atomic context at mistakes.c:\d+: .*"
    + THREAD,
    "delays_for_ever": "code that does not end: it has delayed for 10000100 us, in 100002 steps"
    + THREAD,
    "spins_for_ever": "code that does not end: it has delayed for 100000 us, in 10000001 steps"
    + THREAD,
    "sleeps_in_rcu": "sleeps in atomic context at .*, RCU 1" + THREAD,
    "allocates_in_atomic": "sleeps in atomic context at .*, interrupts off, .*" + THREAD,
    "takes_a_spinlock_twice": "deadlock: CPU 0 takes the spinlock in first_lock, which it holds"
    + THREAD,
    "takes_a_mutex_twice": r"deadlock: mistaken/0 \(\d+\) takes a mutex that it holds" + THREAD,
    "releases_a_free_spinlock": "CPU 0 releases the spinlock in second_lock, which is free"
    + THREAD,
    "releases_anothers_mutex": r"mistaken/0 \(\d+\) releases a mutex that it does not hold"
    + THREAD,
    "is_preemptible": r"per-CPU data of this CPU at mistakes.c:\d+, where it may be preempted"
    + THREAD,
    "frees_percpu_twice": r"free_percpu\(\) of what was not allocated, or is freed" + THREAD,
    "overruns_percpu": "AddressSanitizer: use-after-poison",
    "overruns": "AddressSanitizer: heap-buffer-overflow",
    "frees_too_soon": "AddressSanitizer: heap-use-after-free",
    "deadlocks": "deadlock: CPU 1 waits for the spinlock in first_lock, whose holder waits for a lock of CPU 1",
    "never_ends": "an event that does not end: a loop without end" + THREAD,
    "bugs": r"BUG at mistakes.c:\d+: kind" + THREAD,
    "damages_a_list": "a list is damaged where an entry is added: it is in a list" + THREAD,
    "changes_a_key_in_atomic": "sleeps in atomic context at .*: preemption count 1, .*" + THREAD,
    "reads_anothers_clock": r"WARN at mistakes\.c:\d+: !\(__sim_rq_held\(.*" + THREAD,
    "changes_affinity_secretly": r"check: CPU \d, busy/\d+: is on a CPU that it may not use",
    "takes_a_cpu_away": r"check: CPU 1, .*: is current of a CPU that is offline, where \d are",
    "loops": "500001 events at one instant: a loop, in which function again of module mistakes is called ",
    # libc has no frames by which one could find who has called it.
    "aborts": r"crash: Aborted \[thread mistaken/0 \(\d+\), CPU 0\]",
    "fills_the_stack": r"crash: AddressSanitizer has found an error \[.*\n(?s:.*): stack-overflow",
    "leaves_a_lock": "event expired has left preemption count 1, .*, 1 spinlocks ",
    "timer_never_ends": r"loop without end \[function never_returns of module mistakes, .*, in an interrupt, CPU 0\]",
    "worker_leaves_preemption_off": r"workqueue: leaves_preemption_off\(\) has left preemption count 1,",
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes_are_reported(kind: str) -> None:
    done = run(
        simulator(Kind.SANITIZE, module="mistakes"),
        *(f"mistakes.kind={kind}", "for=100000000", "check=1"),
    )
    assert done.returncode == (-signal.SIGABRT if kind == "aborts" else 1)
    assert re.search(MISTAKES[kind], done.stderr), done.stderr


@pytest.mark.parametrize(
    ("kind", "number", "says"),
    [
        ("aborts", signal.SIGABRT, "Aborted"),
        ("fills_the_stack", signal.SIGSEGV, "the stack is full: a recursion without end, or a"),
    ],
)
def test_a_crash_without_a_sanitizer_says_who_it_was(kind: str, number: int, says: str) -> None:
    done = run(simulator(module="mistakes"), f"mistakes.kind={kind}", "for=100000000")
    assert done.returncode == -number
    assert re.search(rf"crash: {says}.* \[.*thread mistaken/0 \(\d+\), CPU 0\]", done.stderr)


def test_a_complaint_is_made_ten_times() -> None:
    done = run(simulator(module="mistakes"), "mistakes.kind=sleeps_again_and_again", "for=1000000")
    warnings = json.loads(done.stdout)["warnings"]
    assert len(re.findall(r"\] sleeps in atomic", done.stderr)) == 10
    assert [text[:12] for text in warnings] == ["sleeps in at", "and 15 more:"]


def test_little_address_space() -> None:
    limited = f"ulimit -v 8000000; exec {simulator()} for=1000000 -"
    done = subprocess.run(["bash", "-c", limited], input=BUSY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_mistakes_are_made() -> None:
    source = (TESTS / "mistakes" / "mistakes.c").read_text()
    kinds = re.findall(r'^\t\{ "(\w+)",', source, re.M)
    assert {*kinds, "init_fails"} == set(MISTAKES)
    assert run(simulator(module="mistakes"), "for=100000000").returncode == 0


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("machinery.words=x", "module machinery has no parameter words; it has: "),
        ("machinery.cycles=x", "option machinery.cycles=x: the module does not take that: -EINVAL"),
        ("machinery.numbers=1,2,3,4,5", "does not take that: -EINVAL"),
        ("machine.cycles=1", "option machine.cycles=1: there is no module of that name"),
        (
            "set=on_violation:perhaps",
            "option set=on_violation:perhaps: the kernel does not take that: -EINVAL",
        ),
        (
            "set=nothing:1",
            "option set=nothing:1: there is no such file; there are check_transitions, ",
        ),
        ("set=/sys/kernel/debug/machinery/state:1", "-EACCES"),
        ("cpus=0", "option cpus=0: between 1 and 65536 is possible"),
        ("cpus=65", "cpus=65: this simulator was built for at most 64"),
        ("cpus=12 smt=2 llc=3", "llc=3 is no multiple of smt=2: a core would have two caches"),
        ("seed=-1", "option seed=-1: a whole number is expected"),
        ("sed=1", "there is no option sed=; there are cpus=, "),
        ("check=2", "option check=2: between 0 and 1 is possible"),
        ("other", "one program is expected, not both other and -"),
    ],
)
def test_bad_options(option: str, says: str) -> None:
    done = run(simulator(), *option.split())
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_the_example_of_a_setting_is_taken() -> None:
    example = re.search(r"as in (set=\S+)", run(simulator(), "set=x").stderr)
    assert example and run(simulator(), example[1], "for=1000000").returncode == 0


def test_a_program_that_is_not_there() -> None:
    done = subprocess.run([simulator(), "/nowhere/x=1"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "/nowhere/x=1: cannot be read: No such file or directory\n"


def test_interrupted() -> None:
    """What there is comes out. It is in its first hundredth when it says that it is at work."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [simulator(), f"for={10**13}", f"progress={writer}", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[writer],
    )
    os.close(writer)
    assert process.stdin
    process.stdin.write(BUSY)
    process.stdin.close()
    with os.fdopen(reader) as progress:
        assert progress.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert process.stdout
    result = json.loads(process.stdout.read())
    assert result["interrupted"] and result["end_ns"] < 10**13


def test_progress(tmp_path: Path) -> None:
    """A hundred lines, which are no part of the run."""
    with (tmp_path / "progress").open("w") as file:
        done = subprocess.run(
            [simulator(), f"progress={file.fileno()}", "for=100000000", "-"],
            input=BUSY,
            capture_output=True,
            text=True,
            pass_fds=[file.fileno()],
        )
    assert done.stdout == run(simulator(), "for=100000000").stdout
    lines = [line.split() for line in (tmp_path / "progress").read_text().splitlines()]
    assert [int(ns) for ns, _ in lines[:100]] == [n * 1000000 for n in range(1, 101)]
    events = [int(number) for _, number in lines]
    assert events == sorted(events) and events[0] > 0
