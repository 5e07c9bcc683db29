# SPDX-License-Identifier: GPL-2.0
"""The policy user: who decides is a program, which may be killed, may err and may lie."""

import re

import pytest

from saakm.base.procfs import unanswered

from .support import (
    SYSFS,
    ejected,
    last_error,
    load_policy,
    module_file,
    policies,
    run_ok,
    spins,
    until,
)

# On the debug kernel, too, as of test_user_storm.py; there all of these would take ten minutes.
pytestmark = pytest.mark.kernel("base")

GRACE = "/sys/module/user/parameters/grace_ms"
AGENTS = "/sys/module/user/parameters/agents"
NO_FAST_PATH = "4"
# An event is not waited for any longer; timers look every 5 ms, and time is counted in ticks.
ANSWER_US = 100_000
LOOK_US = 5_000 + 5 * 4_000


@pytest.fixture
def user(guest, program):
    """Loads the policy; returns how to start an agent in a mode, which has its CPUs then."""
    id_ = load_policy(guest, "user")

    def start(mode: str, cpus: str = "0xffffffffffffffff", flags: str = NO_FAST_PATH) -> None:
        run_ok(
            guest,
            f"{program('agent')} {mode} {id_} {cpus} {flags} >/tmp/agent.{mode} 2>&1 & agent=$!\n"
            "until grep -q . /tmp/agent.$mode; do [ -e /proc/$agent ] || break;"
            " busybox usleep 10000; done".replace("$mode", mode),
        )

    start.id = id_
    yield start
    run_ok(guest, "pkill -KILL agent; rm -f /tmp/agent.*")


def said(guest, mode: str) -> str:
    return run_ok(guest, f"cat /tmp/agent.{mode}").strip()


def counts(guest) -> dict[str, int]:
    """What became of decisions."""
    dump = run_ok(guest, "saakmctl dump user")
    found = re.search(
        r"decisions: (?P<decided>\d+) carried out, (?P<stale>\d+) stale, (?P<bounced>\d+) bounced, "
        r"(?P<gone>\d+) of threads that are gone; (?P<beyond>\d+) counts beyond",
        dump,
    )
    assert found, dump
    rescued = unanswered(dump)
    return {**{name: int(value) for name, value in found.groupdict().items()}, "rescued": rescued}


def decided_by_domain(guest) -> dict[str, int]:
    """How many decisions of each agent were carried out."""
    dump = run_ok(guest, "saakmctl dump user")
    found = re.findall(r" on CPUs ([\d,-]+).*decisions: (\d+) carried out", dump)
    return {cpus: int(decided) for cpus, decided in found}


def naps(guest, program, id_: int, times: int = 60, under: str = "") -> tuple[int, int]:
    """By how much a thread overslept, in us: on the average, and at most."""
    total, longest = run_ok(guest, f"{under}{program('naps')} {id_} {times}").split()
    return int(total) // times, int(longest)


def test_agent_decides_about_all(guest, program, user):
    user("fifo")
    assert said(guest, "fifo") == "attached:"
    naps(guest, program, user.id)
    found = counts(guest)
    assert found["decided"] >= 60
    assert found["rescued"] == found["bounced"] == found["gone"] == found["beyond"] == 0
    assert policies(guest)["user"].state == "active"


def test_killed_agent_leaves_a_fifo(guest, program, user):
    user("fifo")
    out = run_ok(
        guest,
        f"{program('naps')} {user.id} 1000 >/tmp/naps & naps=$!; "
        "busybox usleep 200000; pkill -KILL agent; wait $naps; cat /tmp/naps",
    )
    assert int(out.split()[1]) < 20_000
    assert "no agent" in run_ok(guest, "saakmctl dump user")


RAN = "sed 's/.*) //' /proc/{}/stat | cut -d ' ' -f 12"  # utime, in ticks


def test_hogs_of_a_killed_agent_take_turns(guest, program, user):
    """Keys that it gave differ; those of the next one are less, who gives the CPU to all, too."""
    hog = "taskset -c 1 saakmctl exec user -- sh -c 'while :; do :; done' >/dev/null 2>&1"
    user("fifo")
    start = f"for i in 1 2 3 4; do {hog} & echo $!; done; {spins(4)}; sleep 0.3"
    pids = run_ok(guest, start).split()

    def least() -> int:
        """In a second, while each one's share is 25"""
        begun = [int(run_ok(guest, RAN.format(pid))) for pid in pids]
        run_ok(guest, "sleep 1")
        return min(
            int(run_ok(guest, RAN.format(pid))) - n for pid, n in zip(pids, begun, strict=True)
        )

    run_ok(guest, "pkill -KILL agent; sleep 0.3")
    alone = least()
    user("twice")
    again = least()
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert alone > 5 and again > 5


# Each keeps the first one waiting; from then on the kernel waits for 16 ms and a look.
@pytest.mark.parametrize("mode", ["unread", "forgets", "loops", "stale", "noise"])
def test_agent_that_does_not_answer_is_not_waited_for(guest, program, user, mode):
    user(mode)
    average, longest = naps(guest, program, user.id)
    assert longest < ANSWER_US + LOOK_US
    assert average < 30_000
    assert counts(guest)["rescued"] > 30 or mode in ("loops", "noise")


def test_stopped_agent_is_not_waited_for(guest, program, user):
    user("fifo")
    naps(guest, program, user.id, 20)
    run_ok(guest, "pkill -STOP agent")
    average, longest = naps(guest, program, user.id)
    assert longest < ANSWER_US + LOOK_US
    assert average < 30_000
    run_ok(guest, "pkill -CONT agent")
    before = counts(guest)["decided"]
    naps(guest, program, user.id)
    assert counts(guest)["decided"] > before + 30


@pytest.mark.parametrize("mode", ["elsewhere", "flags"])
def test_wrong_decisions_are_counted(guest, program, user, mode):
    user(mode)
    naps(guest, program, user.id)
    assert counts(guest)["bounced"] >= 60


def test_decisions_that_come_twice_are_stale(guest, program, user):
    user("twice")
    naps(guest, program, user.id)
    found = counts(guest)
    assert found["stale"] >= 60 and found["rescued"] == 0


def test_guesses_harm_nobody(guest, program, user):
    user("guesses")
    _, longest = naps(guest, program, user.id)
    assert longest < ANSWER_US + LOOK_US
    assert counts(guest)["gone"] > 50


def test_other_protocol_is_refused(guest, user):
    user("old")
    assert said(guest, "old") == (
        "Protocol error: the agent speaks protocol 2, this kernel 1: rebuild it"
    )


def test_stranger_is_refused(guest, user):
    user("stranger")
    assert said(guest, "stranger") == (
        "Operation not permitted: the thread is not of this policy: join it first"
    )


def test_agent_that_cannot_be_answered_decides_about_nobody_and_may_try_again(guest, user):
    run_ok(guest, f"echo 0 >{GRACE}")
    user("readonly")
    assert said(guest, "readonly") == "Bad address"
    assert run_ok(guest, f"cat {AGENTS}").strip() == "0"
    run_ok(guest, "pkill -USR1 agent")
    until(lambda: "attached:" in said(guest, "readonly"), 10, lambda: said(guest, "readonly"))
    assert run_ok(guest, f"cat {AGENTS}").strip() == "1"


def test_second_agent_is_refused(guest, user):
    user("fifo")
    user("twice")
    assert re.fullmatch(
        r"Device or resource busy: agent.c \(pid \d+\) has CPUs of this domain; another process "
        r"may ask to take over",
        said(guest, "twice"),
    )


def test_second_agent_takes_over(guest, program, user):
    user("fifo")
    user("twice", flags="1")
    assert said(guest, "twice") == "attached: agent.c has taken over from agent.c"
    until(lambda: said(guest, "fifo").endswith("retired"), 5, "the first one leaves")
    assert run_ok(guest, f"cat {AGENTS}").strip() == "1"


def test_agent_that_does_not_leave_is_replaced(guest, user):
    user("loops")
    user("fifo", flags="1")
    assert "has taken over" in said(guest, "fifo")
    assert run_ok(guest, f"cat {AGENTS}").strip() == "1"


def test_domains(guest, program, user):
    """Each agent decides about the threads of its own CPUs, and about no others."""
    user("fifo", cpus="0x3")
    user("twice", cpus="0xc")
    assert run_ok(guest, f"cat {AGENTS}").strip() == "2"
    assert decided_by_domain(guest) == {"0-1": 0, "2-3": 0}
    naps(guest, program, user.id, under="taskset -c 0-1 ")
    one = decided_by_domain(guest)
    assert one["0-1"] >= 60 and one["2-3"] == 0, one
    naps(guest, program, user.id, under="taskset -c 2-3 ")
    both = decided_by_domain(guest)
    assert both["0-1"] == one["0-1"] and both["2-3"] >= 60, (one, both)


def test_policy_without_an_agent_is_ejected(guest, user):
    run_ok(guest, "echo 500 >/sys/module/user/parameters/grace_ms")
    run_ok(guest, "saakmctl exec user -- sleep 3")
    assert ejected(guest)["user"].reason == (
        "no agent for 500 ms: start one before threads join, or load with grace_ms=0"
    )


def test_device_takes_a_capability(guest, user):
    out = run_ok(
        guest,
        "setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice -- "
        "sh -c 'exec 3<>/dev/saakm_user' 2>&1 || :",
    )
    assert "/dev/saakm_user" in out and "Operation not permitted" in out


def test_no_slice_is_refused(guest):
    assert guest.run("true").status == 0
    with pytest.raises(Exception, match="slice_us"):
        guest.load("user", "slice_us=0")
    assert SYSFS and last_error(guest).startswith("load user: slice_us=0")


def test_a_load_that_fails_shows_no_device(guest, program):
    """It could be opened, and its file would outlive the module."""
    file = module_file(guest.kernel, "user")
    made, admission = program("made"), program("admission")
    done = guest.run(f"{made} /dev \"{admission} 'insmod {file}'\"")
    assert done.status and "no deadline bandwidth" in last_error(guest), done
    assert "saakm_user" not in done.stdout
    done = guest.run(f"{made} /dev 'insmod {file}'")
    assert not done.status and done.stdout == "saakm_user\n", done
    guest.unload("user")


def test_decision_preempts(guest, program, user):
    """Beside a hog that has a slice of seconds on the only CPU that both may use."""
    user("urgent")
    hog = "saakmctl exec user -- taskset -c 1 sh -c 'while :; do :; done'"
    run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}")
    _, longest = naps(guest, program, user.id, 50, under="taskset -c 1 ")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert longest < 50_000  # its slice is 10 s


def test_agent_may_let_a_thread_wait(guest, program, user):
    """It decides about others meanwhile, so it does answer; the order is its own."""
    user("later")
    hog = "taskset -c 1 saakmctl exec user -- sh -c 'while :; do :; done' >/dev/null 2>&1"
    run_ok(guest, f"for i in 1 2; do {hog} & done; {spins(2)}")
    _, longest = naps(guest, program, user.id, 3, under="taskset -c 1 ")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert longest >= 300_000
    assert counts(guest)["rescued"] == 0


HOG = "sh -c 'while :; do :; done'"
BESIDE = {
    "fair": f"taskset -c 1 {HOG} & for i in 1 2; do taskset -c 2 saakmctl exec user -- {HOG} & done",
    "signals": "agent=$(pgrep -x agent); while kill -USR1 $agent; do busybox usleep 5000; done &",
}


@pytest.mark.parametrize("beside", BESIDE)
def test_neglected_thread_runs_where_nobody_else_of_the_policy_does(guest, program, user, beside):
    """Whatever the agent decides elsewhere meanwhile, and however often it runs there itself."""
    user("neglects", cpus="0x2" if beside == "signals" else "0xffffffffffffffff")
    there = spins(3) if beside == "fair" else "sleep 0.2"
    run_ok(guest, f"({BESIDE[beside]}) >/dev/null 2>&1; {there}")
    _, longest = naps(guest, program, user.id, 3, under="taskset -c 1 ")
    run_ok(guest, "pkill -KILL -f '^sh -c while'; pkill -KILL agent")
    # Behind a fair thread it has the CPU once in a second.
    assert longest < 3_000_000 and policies(guest)["user"].state == "active"


def test_first_event_says_so_whoever_placed_the_thread(guest, program, user):
    """A thread that joins has the CPU: that placement is the kernel's, and no event."""
    user("news", flags="0")
    hog = "taskset -c 1 saakmctl exec user -- sh -c 'while :; do :; done' >/dev/null 2>&1"
    pids = run_ok(guest, f"for i in 1 2; do {hog} & echo $!; done; {spins(2)}; sleep 1").split()
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    told = re.findall(r"^new (\d+)$", said(guest, "news"), re.M)
    assert [told.count(pid) for pid in pids] == [1, 1], (pids, told)


def test_events_for_which_there_is_no_room_are_counted(guest, program, user):
    """A thread that the agent was told of changes its nice value more often than the ring holds."""
    user("unread")
    hog = "taskset -c 1 saakmctl exec user -- sh -c 'while :; do :; done' >/dev/null 2>&1"
    changes = "import os; [os.setpriority(os.PRIO_PROCESS, {pid}, n % 2) for n in range(5000)]"
    pids = run_ok(guest, f"for i in 1 2; do {hog} & echo $!; done; {spins(2)}; sleep 1").split()
    for pid in pids:
        run_ok(guest, f"/usr/bin/python3 -c '{changes.format(pid=pid)}'")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    dump = run_ok(guest, "saakmctl dump user")
    found = re.search(r"(\d+) events, (\d+) unread, (\d+) lost", dump)
    assert found, dump
    written, unread, lost = map(int, found.groups())
    assert written == unread == 4096 and lost > 900, dump


def _start_bound(guest, program, id_, mode, cpu=0, other=0):
    run_ok(
        guest,
        f"OTHER={other} taskset -c {cpu} {program('agent')} {mode} {id_} 0xffffffffffffffff"
        f" {NO_FAST_PATH} >/tmp/agent.{mode} 2>&1 &\n"
        f"until grep -q . /tmp/agent.{mode}; do busybox usleep 10000; done",
    )


def test_agent_that_goes_to_another_policy_is_no_fault(guest, program, user):
    other = load_policy(guest, "rr")
    hog = "taskset -c 0 saakmctl exec rr -- sh -c 'while :; do :; done'"
    run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}")
    _start_bound(guest, program, user.id, "defects", 0, other)
    run_ok(guest, f"taskset -c 1 {program('naps')} {user.id} 300")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert policies(guest)["user"].state == "active", ejected(guest)["user"].reason


def test_agent_is_replaced_while_it_is_parked(guest, program, user):
    """A tick of the hog that has its CPU finds it there, and no agent that is attached."""
    _start_bound(guest, program, user.id, "loops")
    naps(guest, program, user.id, 110, under="taskset -c 0 ")
    hog = "taskset -c 0 saakmctl exec user -- sh -c 'while :; do :; done'"
    run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}")
    user("fifo", flags="1")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert "has taken over" in said(guest, "fifo")


def test_stopped_agent_is_listened_to_again(guest, program, user):
    _start_bound(guest, program, user.id, "fifo")
    naps(guest, program, user.id, 20, under="taskset -c 1 ")
    run_ok(guest, "pkill -STOP agent")
    naps(guest, program, user.id, 60, under="taskset -c 1 ")
    run_ok(guest, "pkill -CONT agent; sleep 0.2")
    before = counts(guest)
    naps(guest, program, user.id, 60, under="taskset -c 1 ")
    after = counts(guest)
    assert after["rescued"] - before["rescued"] < 20, (before, after)


def test_agent_that_loops_beside_a_thread(guest, program, user):
    _start_bound(guest, program, user.id, "loops")
    _, longest = naps(guest, program, user.id, 100, under="taskset -c 0 ")
    assert longest < 200_000


def test_thread_is_not_waited_for_beside_another_policy(guest, program, user):
    _start_bound(guest, program, user.id, "forgets")
    load_policy(guest, "fifo")
    hog = "taskset -c 1 saakmctl exec fifo -- sh -c 'while :; do :; done'"
    run_ok(guest, f"{hog} >/dev/null 2>&1 & {spins()}")
    _, longest = naps(guest, program, user.id, 10, under="taskset -c 1 ")
    run_ok(guest, "pkill -KILL -f '^sh -c while'")
    assert longest < 300_000
