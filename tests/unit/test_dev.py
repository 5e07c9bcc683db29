# SPDX-License-Identifier: GPL-2.0
"""saakm dev without a guest: what is noticed, what is read, what is shown."""

import io
import json
import os
import re
import time
from dataclasses import replace

import pytest
from rich.console import Console

from saakm.builder.kernel import Kernel
from saakm.dev import sample
from saakm.dev.complaints import fitted
from saakm.dev.loop import Session, Update
from saakm.dev.plain import Plain
from saakm.dev.saves import Saves
from saakm.dev.screen import Screen
from saakm.dev.sentences import figures, tell
from saakm.dev.story import Story
from saakm.dev.versions import CompileError, Versions
from saakm.view import chart
from saakm.vm.guest import Result

OUTPUT = """\
=== /proc/saakm/policies
id  name module priority state threads new terminated switches
1 mine mine_1 0 ejected 0 9 9 500
2 mine mine_2 0 active 81 90 9 3000
=== /proc/saakm/ejected
id name number kind seconds handler cpu thread reason
1 mine 2 replaced 5.0 none 0 - by mine (id 2)
=== /sys/kernel/saakm/violations
0
=== /sys/kernel/debug/saakm/runqueues
cpu 0: 3 runnable, curr hackbench/70, server 50000/1000000 us active
  hackbench/70 policy mine RUNNING for 1000 ns
  hackbench/71 policy mine READY for 2000 ns
  hackbench/72 policy mine READY for 2000 ns
cpu 1: 0 runnable, curr swapper/1/0, server 50000/1000000 us
=== /proc/uptime
20.50 33.1
=== /tmp/saakm-rounds
0 10.00 12.50 1
=== /sys/kernel/tracing/trace
# tracer: nop
  <idle>-0       [001] dNh4.    20.400000: sched_waking: comm=hackbench pid=70 prio=120 target_cpu=001
  hackbench-71      [000] d..3.    20.400100: sched_migrate_task: comm=hackbench pid=70 prio=120 orig_cpu=1 dest_cpu=0
  hackbench-71      [000] d..2.    20.401000: sched_switch: prev_comm=hackbench prev_pid=71 prev_prio=120 prev_state=S ==> next_comm=hackbench next_pid=70 next_prio=120
"""


class FakeGuest:
    def run(self, command):
        return Result(0, OUTPUT, "", 0.0)


@pytest.fixture
def snapshot():
    before = sample.Snapshot(19.5, 1000, 0, "active", [], [], 0, 0.0, {}, policy_id=2)
    return sample.take(FakeGuest(), "mine", before)


def test_a_sample(snapshot):
    assert (snapshot.state, snapshot.threads, snapshot.switches) == ("active", 81, 3000)
    assert snapshot.switches_rate == 2000 and snapshot.rounds == [(0, 2.5)]
    assert snapshot.round_versions == [1]
    assert [(cpu.running, cpu.ready) for cpu in snapshot.cpus] == [("hackbench 70", 2), ("idle", 0)]
    assert snapshot.wakeup_us == {50: 1000, 99: 1000}
    assert snapshot.migrations_rate == 1 / 0.05
    assert snapshot.ejected == []  # to be replaced is no fault


def test_the_rate_of_a_version_is_unknown_until_its_second_sample(source, snapshot):
    """The one before has the same name, and may have counted less so far."""
    old = sample.Snapshot(19.5, 1000, 0, "active", [], [], 0, 0.0, {}, policy_id=1)
    gone = replace(old, policy_id=None, switches=0, state="gone")
    for before in (None, old, gone):
        now = sample.take(FakeGuest(), "mine", before)
        assert now.switches_rate is None and figures(now).startswith("? switches/s, ")
    assert sample.take(FakeGuest(), "nobody", gone).switches_rate is None
    assert figures(replace(now, switches_rate=0.0)).startswith("0 switches/s, ")
    screen = Screen(source, Console(width=100, height=40, force_terminal=True, file=io.StringIO()))
    for one in (snapshot, now):
        screen.sampled(one)
    text = "\n".join(shown(screen, 100, 40))
    assert re.search(r"^switches/s +\? ", text, re.M) and re.search(r"^most +2,000 ", text, re.M)


@pytest.fixture
def source(tmp_path):
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "mine.c").write_text("int x;\n")
    (directory / "Kbuild").write_text("obj-m := mine.o\n")
    return directory


def test_only_sources_count_as_saved(source, tmp_path):
    versions = Versions(Kernel("base", tmp_path / "build", "x"), source)
    first = versions.digest()
    (source / ".mine.c.swp").write_text("editor")
    (source / "README.md").write_text("words")
    assert versions.digest() == first
    (source / "mine.c").write_text("int y;\n")
    assert versions.digest() not in ("", first)


def test_compile_errors_name_the_users_file(source, tmp_path):
    """A make that knows one rule stands for Kbuild."""
    build = tmp_path / "build"
    build.mkdir()
    (build / "Makefile").write_text("modules:\n\t$(CC) -c $(M)/mine.c -o $(M)/mine.o\n")
    (source / "mine.c").write_text("int x\nint y;\n")
    versions = Versions(Kernel("base", build, "x"), source)
    with pytest.raises(CompileError, match="does not compile") as error:
        versions.build()
    assert error.value.lines[0].startswith("mine.c:") and "error:" in error.value.lines[0]
    assert versions.number == 0
    versions.close()


def test_the_module_of_a_version_has_all_objects_of_the_policy(source, tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    (build / "Makefile").write_text(
        "include $(M)/Kbuild\nmodules:\n\techo $(obj-m) $(mine_a-y) >$(M)/mine_a.ko\n"
    )
    versions = Versions(Kernel("base", build, "x"), source)
    assert versions.build().read_text() == "mine_a.o mine.o\n"
    assert versions.build().name == "mine_a.ko"  # as long as the first was not loaded
    assert versions.accept() == 1
    (source / "Kbuild").write_text("obj-m := mine.o\nmine-y := a.o b.o\n")
    (build / "Makefile").write_text(
        "include $(M)/Kbuild\nmodules:\n\techo $(obj-m) $(mine_b-y) >$(M)/mine_b.ko\n"
    )
    assert versions.build().read_text() == "mine_b.o a.o b.o\n"
    versions.close()


def test_what_did_not_change_is_not_compiled_again(source, tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    (build / "Makefile").write_text("modules:\n\ttouch $(M)/mine_a.ko $(M)/mine_b.ko\n")
    (source / "mine.h").write_text("")
    versions = Versions(Kernel("base", build, "x"), source)
    first = versions.build()
    copy = first.parent.parent / "mine_a"
    os.utime(copy / "mine.c", (1, 1))
    os.utime(copy / "mine.h", (1, 1))
    versions.build()
    (source / "mine.c").write_text("int older;\n")
    os.utime(source / "mine.c", (0, 0))
    (source / "mine.h").unlink()
    assert versions.build() != first  # the guest has read that one
    assert (copy / "mine.c").stat().st_mtime > 1 and not (copy / "mine.h").exists()
    versions.close()


def test_what_is_told():
    taken = {"threads": 81, "longest_pause_ns": 1_500_000, "total_ns": 2}
    update = Update(3, "replaced", 2.5, 1.9, taken)
    assert tell(update, "mine") == (
        "version 3 schedules 2.50 s after the save (build 1.90 s, 81 threads taken over, "
        "longest pause 1.50 ms)"
    )
    assert "version 2 goes on" in tell(Update(2, "compile-error"), "mine")


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_saves_that_wait_for_a_build_are_counted():
    contents = iter(["one", "two", "", "three", "three"])
    asked = []

    def digest():
        asked.append(next(contents, "three"))
        return asked[-1]

    saves = Saves(digest, poll=0.001)
    wait_until(lambda: len(asked) > 6)
    saves.close()
    assert saves.take() == 2 and saves.take() == 0


def test_what_hinders_the_count_is_said():
    def digest():
        if asked:
            raise PermissionError("mine.c")
        asked.append("one")
        return "one"

    asked = []
    saves = Saves(digest, poll=0.001)
    saves._thread.join()
    with pytest.raises(PermissionError):
        saves.take()
    saves.close()


def test_several_saves_become_one_version_and_the_line_says_so(source, tmp_path, monkeypatch):
    guest = FakeGuest()
    guest.kernel = Kernel("base", tmp_path / "build", "x")
    session = Session(guest, source, ["true"])
    assert session.saved() == 0
    session._saves = Saves(session.versions.digest, poll=0.001)
    for number in (1, 2, 3):
        scratch = source / "mine.c.new"
        scratch.write_text(f"int x{number};\n")
        scratch.rename(source / "mine.c")
        wait_until(lambda number=number: session._saves._count == number)
    monkeypatch.setattr(session, "_update", lambda: Update(2, "replaced", 2.5, 1.9))
    update = session.update(session.saved())
    session.close()
    assert tell(update, "mine").startswith("3 saves at once: version 2 schedules 2.50 s after the")
    assert "saves" not in tell(session.update(1), "mine")
    story = Story()
    story.add_update(update)
    assert "3 saves: 1 took over, 2 overtaken by a later one" in story.summary()[0]


def test_lines_wait_for_a_rate_that_will_be_known(source, snapshot, capsys):
    view = Plain(source, as_json=False)
    view.sampled(replace(snapshot, switches_rate=None))
    assert not capsys.readouterr().out
    view.sampled(snapshot)
    assert "2,000 switches/s" in capsys.readouterr().out
    view._said = 0.0
    view.sampled(replace(snapshot, switches_rate=None, policy_id=None, state="gone"))
    assert "? switches/s" in capsys.readouterr().out


def test_lines_for_scripts(source, snapshot, capsys):
    view = Plain(source, as_json=True)
    view.started("hackbench")
    view.updated(Update(2, "compile-error", complaints=["mine.c:1: error: no"]))
    view.sampled(snapshot)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["started", "compile-error", "sample"]
    assert lines[1]["complaints"] == ["mine.c:1: error: no"] and lines[2]["threads"] == 81


def shown(screen, width, height):
    console = Console(width=width, height=height, force_terminal=True)
    screen._console = console
    with console.capture() as capture:
        console.print(screen.render())
    return re.sub(r"\x1b\[[0-9;]*m", "", capture.get()).splitlines()


def test_the_screen_shows_it_all(source, snapshot):
    screen = Screen(source, Console(width=100, height=40, force_terminal=True, file=io.StringIO()))
    screen.started("hackbench -g 4")
    for _ in range(3):
        screen.sampled(snapshot)
    screen.updated(Update(1, "compile-error", complaints=["mine.c:7:2: error: expected ';'"]))
    text = "\n".join(shown(screen, 100, 40))
    for part in ("hackbench 70", "idle", "██", "2,000 switches/s", "p99 1,000 us", "mine.c:7:2"):
        assert part in text
    assert "switches/s         2,000  " in text and "wakeup p99 us      1,000  " in text


CODE = (
    "        if (saakm_task_runtime_ns(event->task) - start_ns >= slice_ns && queue(core->ident).n)"
)
COMPLAINTS = [
    "mine.c: In function 'rr_tick':",
    "mine.c:57:54: error: 'struct core_event' has no member named 'ident'; did you mean 'id'?",
    f"   57 | {CODE}",
    f"      | {' ' * CODE.index('ident')}^~~~~",
    f"      | {' ' * CODE.index('ident')}id",
    "mine.c:60:1: warning: control reaches end of non-void function [-Wreturn-type]",
    "   60 | }",
    "      | ^",
]


@pytest.mark.parametrize(
    ("width", "height"), [(80, 24), (200, 50), (100, 30), (40, 12), (20, 5), (1, 1)]
)
@pytest.mark.parametrize("cpus", [1, 4, 64])
@pytest.mark.parametrize("complaints", [[], COMPLAINTS, COMPLAINTS * 9])
def test_the_screen_fits(source, snapshot, width, height, cpus, complaints):
    screen = Screen(source, Console(width=80, height=24, force_terminal=True, file=io.StringIO()))
    screen.started("hackbench -g 4")
    snapshot.cpus = [sample.Cpu(f"hackbench {n}", n * 7, n * 1e6, n) for n in range(cpus)]
    for _ in range(300):
        screen._story.add_sample(snapshot)
    for _ in range(60):
        screen.updated(Update(1, "compile-error", complaints=complaints))
    lines = shown(screen, width, height)
    assert len(lines) <= height and max(map(len, lines)) <= width
    if height >= 24:
        assert "error:" in "".join(lines) or not complaints
        assert sum(bool(re.match(r" *\d+  hackbench", line)) for line in lines) >= min(cpus, 3)
    if height >= 50 and len(complaints) < 9:
        assert any("wakeup p99" in line for line in lines)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_carets_stay_below_what_they_point_at(width):
    lines = fitted(COMPLAINTS, width)
    assert max(map(len, lines)) <= width
    number = next(i for i, line in enumerate(lines) if "^~~~~" in line)
    code, carets, hint = lines[number - 1 : number + 2]
    at = carets.index("^")
    assert code[at : at + 5] == "ident" and hint[at : at + 2] == "id"
    assert lines[-1].index("^") == lines[-2].index("}")
    assert "".join(lines[1:3]).replace("    ", "").startswith("mine.c:57:54: error: 'struct core")


def test_what_is_told_in_the_end(source, snapshot):
    story = Story()
    story.add_sample(snapshot)
    story.add_update(Update(2, "replaced", replacement={"longest_pause_ns": 2_000_000}))
    story.add_update(Update(2, "compile-error"))
    rounds = [(0, 2.5), (0, 3.5), (0, 4.0), (1, 0.1)]
    later = replace(snapshot, rounds=rounds, round_versions=[1, 1, 2, 2])
    story.add_sample(later)
    end = {"id": "2", "kind": "stall", "handler": "none", "reason": "x waited"}
    ended = replace(later, ejected=[end])
    assert story.add_sample(ended) and not story.add_sample(ended)
    lines = story.summary()
    assert "2 saves: 1 took over, 1 did not compile; longest pause 2.00 ms" in lines[0]
    # The second of its rounds was seen only after the replacement.
    assert lines[1].startswith("version 1: 2 rounds of the workload, 3.00 s each")
    assert lines[2] == "version 2: 1 round of the workload, 4.00 s each (4.00 to 4.00), 1 failed"
    assert lines[3] == "ejected: stall in none: x waited"


def test_an_ejection_is_told_once_even_if_its_module_is_unloaded(snapshot):
    """The next version, too, is ejected, and between two samples the first one's row has gone."""
    story = Story()
    ends = [
        {"id": id, "kind": "stall", "handler": "none", "reason": f"{id} waited"}
        for id in ("2", "3")
    ]
    for end in ends:
        assert story.add_sample(replace(snapshot, ejected=[end])) == [end]
    assert [line for line in story.summary() if line.startswith("ejected")] == [
        "ejected: stall in none: 2 waited",
        "ejected: stall in none: 3 waited",
    ]


def test_curves_and_bars():
    assert chart.curve([0, 4, 8], 4, 2) == ["   █", "  ██"]
    assert chart.curve([], 3) == ["   "] and chart.curve([0, 0], 3) == ["   "]
    assert chart.curve([1, 1000], 2) == ["▁█"]  # what is there at all is seen
    assert chart.bar(0.5, 4) == "██" and chart.bar(2, 4) == "████" and chart.bar(0.125, 4) == "▌"
