# SPDX-License-Identifier: GPL-2.0
"""What programs do, by hand, on the ideal machine that other tests take for their oracle."""

import re

import ideal_machine
import pytest
from ideal_machine import Broken, Stream, child_of

from saakm.workload import program_text
from saakm.workload.builder import (
    Builder,
    at,
    bimodal,
    exponential,
    own_number,
    picked,
    rounds_done,
    uniform,
)

MS = 1_000_000


def run(build: Builder, until_ns: int = 1_000 * MS) -> ideal_machine.Result:
    program = build.program("test")
    again = program_text.parse_text(program_text.to_text(program), "FILE")
    assert again == program
    return ideal_machine.run(again, until_ns)


def test_the_random_numbers_are_those_of_the_definition():
    # SplitMix64's own first number for the seed 0.
    assert Stream(0).next() == 0xE220A8397B1DCDAF
    text = program_text.__doc__ or ""
    assert hex(child_of(1, 0, 0)) in text and hex(child_of(1, 1, 2)) in text
    stream = Stream(child_of(1, 0, 0))
    shown = re.findall(r"\d+(?: \d+){4}", text)
    assert shown[0] == " ".join(str(stream.time(exponential(MS))) for _ in range(5))
    assert shown[1] == " ".join(str(stream.time(uniform(1, 6))) for _ in range(5))


def test_random_times_are_distributed_as_they_say():
    stream, many = Stream(7), 50_000
    exponentials = [stream.time(exponential(MS)) for _ in range(many)]
    # Five standard errors; the stream is always the same.
    assert abs(sum(exponentials) / many - MS) < 5 * MS / many**0.5
    above = sum(one > MS for one in exponentials) / many
    assert abs(above - 0.36788) < 5 * (0.3679 * 0.6321 / many) ** 0.5
    rare = sum(stream.time(bimodal(1, 2, 5_000)) == 2 for _ in range(many)) / many
    assert abs(rare - 0.005) < 5 * (0.005 * 0.995 / many) ** 0.5
    faces = [stream.time(uniform(1, 6)) for _ in range(many)]
    assert {*faces} == {1, 2, 3, 4, 5, 6}


def test_run_and_sleep_take_their_time_and_loops_repeat():
    build = Builder()
    with build.group("g", 3, start_ns=5) as thread:
        with thread.loop(4), thread.loop(2):
            thread.run(100)
            thread.sleep(50)
            thread.iteration()
        thread.exit()
        thread.run(MS)
    result = run(build)
    assert (result.end_ns, result.run_ns["g"], result.iterations["g"]) == (1205, 2400, 24)
    assert result.ended["g"] == 3 and not result.interrupted


@pytest.mark.parametrize("relative, end_ms", [(True, 55), (False, 40)])
def test_a_late_timer_catches_up_or_begins_anew(relative, end_ms):
    build = Builder()
    build.timer("t")
    build.mark("late")
    with build.group("g") as thread:
        for ms in (2, 25, 1, 1):  # the second is late by 15 ms
            thread.run(ms * MS)
            thread.timer("t", 10 * MS, relative)
            thread.mark_begin("late", "due")
            thread.mark_end("late")
    result = run(build)
    # Relative: due at 10, 20 (at 35), then 45, 55. Absolute: 10, 20 (at 35), 30 (at 36), 40.
    assert result.end_ns == end_ms * MS
    assert result.marks["g", "late"] == [0, 15 * MS, 0 if relative else 6 * MS, 0]


def test_a_mutex_lets_one_in():
    build = Builder()
    build.mutex("m")
    build.mark("lock")
    with build.group("g", 4) as thread:
        thread.mark_begin("lock")
        thread.lock("m")
        thread.mark_end("lock")
        thread.run(10)
        thread.unlock("m")
    result = run(build)
    assert result.marks["g", "lock"] == [0, 10, 20, 30] and result.end_ns == 40


def test_a_signal_wakes_the_first_and_a_broadcast_all():
    for broadcast, woken in ((False, 1), (True, 3)):
        build = Builder()
        build.mutex("m")
        build.cond("c")
        with build.group("sleepers", 3) as thread:
            thread.lock("m")
            thread.wait("c", "m")
            thread.run(5)
            thread.unlock("m")
        with build.group("waker", start_ns=100) as thread:
            (thread.broadcast if broadcast else thread.signal)("c")
        result = run(build)
        assert result.ended["sleepers"] == woken and len(result.asleep) == 3 - woken
        assert result.end_ns == 100 + 5 * woken


def test_a_signal_that_nobody_waits_for_is_lost():
    build = Builder()
    build.mutex("m")
    build.cond("c")
    with build.group("early") as thread:
        thread.signal("c")
    with build.group("late", start_ns=5) as thread:
        thread.lock("m")
        thread.wait("c", "m")
    assert run(build).asleep == ["late"]


def test_a_barrier_is_as_new_after_the_last():
    build = Builder()
    build.barrier("b", parties=3)
    with build.group("g", 3) as thread, thread.loop(2):
        thread.run(uniform(1, 1_000))
        thread.barrier("b")
        thread.iteration()
    result = run(build)
    assert result.iterations["g"] == 6 and not result.asleep


def test_a_full_pipe_holds_the_sender_and_messages_keep_their_order():
    build = Builder()
    build.pipe("p", capacity=2)
    build.mark("age")
    with build.group("sender") as thread:
        for _ in range(5):
            thread.run(1)
            thread.send("p")
    with build.group("receiver", start_ns=100) as thread, thread.loop(5):
        thread.receive("p")
        thread.mark_begin("age", "sent")
        thread.mark_end("age")
        thread.run(10)
    result = run(build)
    # Sent at 1, 2, then when there is room: at 100, 110, 120. Received at 100, 110, ... 140.
    assert result.marks["receiver", "age"] == [99, 108, 20, 20, 20]
    assert result.end_ns == 150


def test_a_semaphore_counts():
    build = Builder()
    build.semaphore("s", initial=2)
    with build.group("g", 5) as thread:
        thread.receive("s")
        thread.run(10)
        thread.send("s")
    assert run(build).end_ns == 30
    build = Builder()
    build.semaphore("s")
    with build.group("up") as thread:
        thread.send("s", 7)
    with build.group("down") as thread:
        thread.receive("s", 8)
    assert run(build).asleep == ["down"]


def test_who_is_suspended_is_resumed_one_or_all():
    for who, woken in ((at("g", 2), 1), (at("g", 9), 0), ("g", 4)):
        build = Builder()
        with build.group("g", 4) as thread:
            thread.suspend()
        with build.group("other", start_ns=3) as thread:
            thread.resume(who)
        assert run(build).ended["g"] == woken


def test_children_run_and_are_joined():
    build = Builder()
    with build.group("parent") as thread:
        thread.fork("child", 3)
        thread.join(2)
        thread.run(1)
        thread.join_all()
        thread.join_all()
        thread.join(5)
        thread.iteration()
    with build.group("child", 0) as thread:
        thread.run(10)
        thread.fork("grandchild", 2)
    with build.group("grandchild", 0) as thread:
        thread.run(100)
    result = run(build)
    assert result.threads == {"parent": 1, "child": 3, "grandchild": 6}
    assert result.ended == result.threads and result.end_ns == 110


def test_what_a_child_draws_does_not_depend_on_who_forks_first():
    def drawn(first_ns: int, second_ns: int) -> list[int]:
        build = Builder()
        for name, start_ns in (("a", first_ns), ("b", second_ns)):
            with build.group(name, start_ns=start_ns) as thread:
                thread.fork("child")
        build.mark("took")
        with build.group("child", 0) as thread:
            thread.mark_begin("took")
            thread.run(exponential(MS))
            thread.mark_end("took")
        return sorted(run(build).marks["child", "took"])

    assert drawn(0, 5) == drawn(5, 0)
    assert len(set(drawn(0, 5))) == 2


def test_indices_add_up():
    build = Builder()
    build.semaphore("s", count=10)
    with build.group("up", 3) as thread, thread.loop(2):
        thread.send(at("s", own_number(times=3), rounds_done(), 4))  # 4 5, 7 8, 10 11
    for number in (4, 5, 7, 8, 0, 1):
        with build.group(f"down{number}") as thread:
            thread.receive(at("s", number))
    result = run(build)
    assert not result.asleep
    build = Builder()
    build.mutex("m", count=5)
    with build.group("g", 20) as thread, thread.loop(20):
        thread.pick(5)
        thread.lock(at("m", picked(divide=2, times=2)))
        thread.run(1)
        thread.unlock(at("m", picked(divide=2, times=2)))
    assert run(build).ended["g"] == 20


def test_wrong_use_of_a_mutex_is_seen():
    for wrong in ("unlock", "lock twice", "wait", "meet"):
        build = Builder()
        build.mutex("m")
        build.cond("c")
        with build.group("g") as thread:
            if wrong == "unlock":
                thread.unlock("m")
            elif wrong == "wait":
                thread.wait("c", "m")
            elif wrong == "meet":
                thread.meet("c", "m", 1)
            else:
                thread.lock("m")
                thread.lock("m")
        with pytest.raises(Broken):
            run(build)


def test_a_loop_that_takes_no_time_is_seen():
    build = Builder()
    with build.group("g") as thread, thread.forever():
        thread.sched_yield()
    with pytest.raises(Broken, match="loops"):
        run(build)
