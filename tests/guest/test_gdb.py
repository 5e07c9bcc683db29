# SPDX-License-Identifier: GPL-2.0
"""saakm gdb on real guests, and the lines of the source in what a dying guest says."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from saakm.base import paths
from saakm.base.errors import GuestDied
from saakm.builder.modules import build_modules

from .support import PATIENCE, SYSFS, TURNS, load_policy, run_ok

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]
_FAULTY = """\
#include <linux/saakm.h>

static void faulty_place(struct process_event *event, struct core_event *core)
{
	if (event->task->prio == 101)
		*(volatile int *)8 = 1;
}

SAAKM_POLICY(faulty, .place = faulty_place);
"""

# A CPU may have stopped in the middle of a change. Whoever makes one holds a runqueue's lock, with
# interrupts off; one that idles would not step. Nobody else goes on meanwhile.
_BETWEEN_CHANGES = """\
import gdb
from linux import cpus
from saakm_values import runqueue


def changes():
    locks = (runqueue(cpu)["__lock"] for cpu in cpus.each_online_cpu())
    return any(int(lock["raw_lock"]["val"]["counter"]) for lock in locks)


gdb.execute("set scheduler-locking step")
while changes():
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        if not int(gdb.parse_and_eval("(int)$eflags")) & 0x200:
            gdb.execute("stepi", to_string=True)
"""


def saakm(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "saakm", *words], text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def gdb(pid, *commands):
    """What gdb says to these commands, on the guest of a process."""
    words = [word for command in commands for word in ("-ex", command)]
    wait = str(int(120 * PATIENCE))
    out, err = saakm("gdb", str(pid), "--wait", wait, "--batch", *words).communicate()
    return out + err


@pytest.fixture
def look(guest, tmp_path):
    """As gdb(), at a guest that has stood still since, between two changes of who runs and waits."""
    script = tmp_path / "between_changes.py"
    script.write_text(_BETWEEN_CHANGES)

    def look_now(*commands):
        # While gdb starts, time would go on, as much as the host is slow.
        guest.wait_for_debugger()
        return gdb(os.getpid(), f"source {script}", *commands)

    return look_now


def test_list_names_the_guests_that_run(guest):
    out, _ = saakm("gdb", "--list").communicate()
    assert re.search(rf"\b{os.getpid()}\b", out), out


@pytest.fixture
def hogs(guest):
    """Six threads that never sleep, under fifo on two of four CPUs."""
    # Who waits does so for ever, however long gdb takes.
    load_policy(guest, "fifo", "timeout_ms=0")
    run_ok(guest, f"echo 1 >{SYSFS}/history")
    # All at once: behind one that spins, the others would never get as far as their shell.
    # Nothing that they share: whoever holds its lock may wait behind one that spins, too.
    run_ok(
        guest,
        "for i in 1 2 3 4 5 6; do "
        "taskset -c 2,3 saakmctl exec fifo -- sh -c 'kill -STOP $$; while :; do :; done' "
        ">/dev/null 2>&1 & done; until [ $(pgrep -r T -fc '^sh -c kill') = 6 ]; do sleep 0.1; done; "
        # No more is kept than how they were woken: later turns would push that out.
        f"pkill -CONT -f '^sh -c kill'; echo 0 >{SYSFS}/history; sleep 0.5",
    )
    yield sorted(map(int, run_ok(guest, "pgrep -f 'while :'").split()))
    guest.run("pkill -KILL -f 'while :'")


def test_what_every_cpu_runs(guest, hogs, look):
    said = look("saakm-policies", "saakm-rqs")
    assert re.search(r"^\d+ +fifo +fifo +0 active +6 ", said, re.M), said
    running = set(map(int, re.findall(r"^CPU \d  \w+/(\d+) RUNNING under fifo", said, re.M)))
    queues = re.findall(r"core->rq of fifo, FIFO, (\d+): (.*)", said)
    waiting = set(map(int, re.findall(r"/(\d+)", " ".join(words for _, words in queues))))
    assert running | waiting == set(hogs) and not running & waiting, said
    assert sum(int(count) for count, _ in queues) == len(waiting)
    assert "WRONG" not in said
    assert guest.run("echo on").stdout == "on\n"  # it goes on


def test_one_thread_and_variables_of_a_module(hogs, look):
    pid = hogs[-1]
    said = look(f"saakm-task {pid}", "saakm-rqs", "p fifo_timeout_ms",
                'p $saakm_core("fifo", 2).id', "lx-lsmod")  # fmt: skip
    cpu, state = re.search(r"^cpu +(\d),(?:.|\n)*^state +(\w+) for ", said, re.M).groups()
    if state == "RUNNING":
        assert re.search(rf"^CPU {cpu}  sh/{pid} RUNNING", said, re.M), said
    else:
        assert state == "READY" and f"queue     core->rq of fifo, CPU {cpu}" in said, said
        assert re.search(rf" core->rq of fifo, FIFO, \d: .*sh/{pid} \(", said), said
    assert "allowed   CPUs 2-3" in said
    assert re.search(r"^history +[\d.]+ \w+ -> READY on CPU \d in \w+_place$", said, re.M), said
    assert "$1 = 0" in said and "$2 = 2" in said
    assert re.search(r"^0x\w+ fifo ", said, re.M)


def test_no_deadline_passes_while_a_guest_waits_for_gdb(guest):
    guest.wait_for_debugger()
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(guest.run, "echo on", timeout=1)
        # A stopped guest spends a second of patience in eight.
        time.sleep(10)
        assert not answer.done()
        assert "There is no thread 99999" in gdb(os.getpid(), "saakm-task 99999")
        assert answer.result().stdout == "on\n"


def _first_question():
    """What gdb sees when a policy that is loaded later is asked for the first time."""
    command = "run fifo --exact --gdb --cpus 2 -- hackbench -g 1 -l 20"
    with saakm(*command.split()) as run:
        try:
            seen = gdb(run.pid, "break fifo_prepare", "continue", "p $lx_per_cpu(runqueues, 0).clock",
                       "saakm-rqs", "info registers", "bt 8")  # fmt: skip
            assert "hit Breakpoint" in seen, seen
            out, err = run.communicate()
        finally:
            run.kill()
    assert run.returncode == 0 and "Time: " in out, err
    # Standard error, with the process's number, comes last.
    return seen[seen.index("Breakpoint 1") : seen.index("saakm: gdb on guest")]


@pytest.mark.parallel(TURNS)
def test_a_run_repeats_to_the_bit_up_to_a_breakpoint():
    first = _first_question()
    assert "fifo.c:" in first and "select_task_rq" in first
    assert re.search(r"in the handler (new|unblock)_prepare\b", first)
    assert _first_question() == first


def _where_it_fails():
    """The commands of docs/how-to/check-a-policy.md."""
    with saakm("check", "fifo", "--only", "fairness", "--gdb") as run:
        try:
            seen = gdb(run.pid, "saakm-failures", "continue", "saakm-rqs", "saakm-policies")
            out, err = run.communicate()
        finally:
            run.kill()
    assert run.returncode == 1 and "3 equal threads got" in out, out + err
    assert re.search(r"^1 +fifo .* 3 +3 ", seen, re.M), seen
    return re.search("hit Breakpoint .*", seen)[0]


def test_a_check_stops_where_it_fails_and_again_at_the_same_place():
    """To the instruction only if gdb stops nowhere before."""
    first = _where_it_fails()
    assert re.search(r"do_group_exit \(exit_code=.*256\)", first)
    assert _where_it_fails() == first


@pytest.mark.long
def test_exact_runs_are_the_same():
    """Without a debugger, but with the monitor that waits for one: to the nanosecond."""
    load = "for i in 1 2 3 4; do sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done' & done; wait"
    command = ["run", "rr", "--exact", "--cpus", "2", "--seed", "7", "--", "sh", "-c"]
    runs = [saakm(*command, f"{load}; cat /proc/schedstat /proc/interrupts") for _ in range(2)]
    outputs = [run.communicate()[0] for run in runs]
    assert "cpu1 " in outputs[0] and outputs[0] == outputs[1]


@pytest.fixture
def faulty(tmp_path):
    """It follows a wild pointer for a thread of nice -19."""
    directory = tmp_path / "faulty"
    directory.mkdir()
    (directory / "faulty.c").write_text(_FAULTY)
    (directory / "Kbuild").write_text("obj-m := faulty.o\n")
    return directory


def test_a_dying_guest_names_the_line(boot, faulty):
    guest = boot()
    build_modules(guest.kernel, sources=[faulty])
    guest.load(faulty)
    with pytest.raises(GuestDied) as died:
        guest.run("saakmctl exec faulty -- nice -n -19 true")
    source = (faulty / "faulty.c").read_text()
    line = source[: source.index("*(volatile")].count("\n") + 1
    assert re.search(rf"RIP: .*faulty_place\+.*\(faulty\.c:{line}\)", died.value.tail), (
        died.value.tail
    )
    assert re.search(r"enqueue_task_saakm\+.*kernel/sched/saakm/class\.c:\d+", died.value.tail)
