# SPDX-License-Identifier: GPL-2.0
"""rt-app's JSON: what it becomes, and that what is not taken is refused by name, file and line."""

import json
import random
import re

import ideal_machine
import pytest

from saakm.workload import located, program_text
from saakm.workload.errors import BadWorkload
from saakm.workload.program import CpuList, Policy, Program
from saakm.workload.rtapp import read, translate
from saakm.workload.rtapp_export import export

MS = 1_000_000

# Runs in rt-app 1.0 as Debian has it (without "saakm", which it ignores), with the same rounds of each phase.
EVERYTHING = """\
{
  /* timers, locks,
     phases */
  "tasks": {
    "periodic": {
      "instance": 2, "loop": 3, "phases": {
        "light": { "loop": 4, "run": 1000, "timer": {"ref": "unique", "period": 10000}, "saakm": "rr" },
        "heavy": { "loop": 2, "saakm": "fair", "priority": 5, "runtime": 3000, "sleep": 2000,
                   "timer": {"ref": "unique", "period": 10000} } } },
    "first": { "loop": 2, "saakm": "fifo", "phases": {
        "p": { "lock": "m", "run": 500, "unlock": "m", "run": 500, "resume": "second", "sleep": 5000 } } },
    "second": { "loop": 2, "phases": {
        "p": { "suspend": "second", "run": 200, "yield": "", "barrier": "B" } } },
    "third": { "loop": 2, "delay": 3000, "phases": {
        "p": { "cpus": [0], "run0": 300, "sleep1": 700, "barrier": "B" }, // a comma more
        "q": { "cpus": [1], "run": 10 }, } },
  },
  "global": { "duration": 2, "calibration": "CPU0", "default_policy": "SCHED_OTHER", "logdir": "/tmp",
              "lock_pages": false }
}
"""


def of_tasks(tasks: str) -> Program:
    return translate('{"tasks": {' + tasks + "}}", "FILE", 8)


def ops(tasks: str) -> list[str]:
    """Those of the first task, as the text form says them."""
    lines = program_text.to_text(of_tasks(tasks)).splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("program"))
    return [line.strip() for line in lines[begin + 1 : lines.index("end", begin)]]


def refused(text: str, cpus: int = 8) -> str:
    with pytest.raises(BadWorkload) as caught:
        translate(text, "FILE", cpus)
    assert caught.value.status == 2 and caught.value.next_step
    return f"{caught.value.what} | {caught.value.why} | {caught.value.next_step}"


def test_everything_runs_as_often_as_in_rt_app():
    program = translate(EVERYTHING, "FILE", 2)
    assert program.duration_ns == 2_000 * MS
    result = ideal_machine.run(program, 2_000 * MS)
    assert result.iterations == {"periodic": 36, "first": 2, "second": 2, "third": 4}
    assert result.end_ns == 180 * MS and not result.asleep
    assert set(result.marks["periodic", "timer"]) == {0}
    assert program_text.parse_text(program_text.to_text(program), "again") == program


def test_a_task_without_phases_is_one():
    assert ops('"t": {"run": 1000, "sleep": 2}') == [
        "loop forever",
        "run 1000000",
        "sleep 2000",
        "iteration",
        "end",
    ]
    assert ops('"t": {"loop": 1, "run": 1}') == ["run 1000", "iteration"]
    assert ops('"t": {"loop": 3, "run": 1}')[0] == "loop 3"
    assert ops('"t": {"loop": -1, "run": 1}')[0] == "loop forever"


def test_events_keep_their_order_and_may_have_numbers_or_come_again():
    written = '"run": 1, "sleep": 2, "run1": 3, "run": 4, "sleep_long": 5, "run-x": 6'
    assert ops('"t": {"loop": 1, ' + written + "}")[:-1] == [
        "run 1000",
        "sleep 2000",
        "run 3000",
        "run 4000",
        "sleep 5000",
        "run 6000",
    ]


def test_what_each_event_becomes():
    cond = '{"ref": "c", "mutex": "m"}'
    events = (
        f'"runtime": 7, "lock": "m", "wait": {cond}, "unlock": "m", "signal": "c", "broad": "c",'
        '"yield": "", "barrier": "b", "suspend": "s", "resume": "s", "fork": "child"'
    )
    assert ops(f'"t": {{"loop": 1, {events}}}, "child": {{"instance": 0, "run": 1}}') == [
        *("spin 7000", "lock m.m", "wait c.c m.m", "unlock m.m", "signal c.c", "broadcast c.c"),
        *("yield", "lock bm.b", "meet b.b bm.b 1", "unlock bm.b"),
        *("lock m.s", "wait c.s m.s", "unlock m.s"),
        *("lock m.s", "broadcast c.s", "unlock m.s", "fork child 1", "iteration"),
    ]


def test_sync_locks_unless_the_task_holds_the_mutex():
    sync = '"sync": {"ref": "c", "mutex": "m"}'
    assert ops(f'"t": {{"loop": 1, {sync}}}') == [
        *("lock m.m", "signal c.c", "wait c.c m.m", "unlock m.m", "iteration")
    ]
    held = ops(f'"t": {{"loop": 1, "lock": "m", {sync}, "unlock": "m"}}')
    assert held == [*("lock m.m", "signal c.c", "wait c.c m.m", "unlock m.m", "iteration")]


def test_timers_are_shared_by_name_or_each_threads_own():
    one = '"timer": {"ref": "%s", "period": 5}'
    task = '"%s": {"instance": 3, "loop": 1, "timer": {"ref": "%s", "period": 5%s}}'
    assert ops(task % ("t", "unique1", ""))[0] == "timer t0.unique1[self] 5000 relative"
    assert ops(task % ("t", "tick", ""))[0] == "timer t.tick 5000 relative"
    # As in rt-app, one use of a timer as absolute makes it so everywhere.
    both = task % ("t", "tick", "") + ", " + task % ("u", "tick", ', "mode": "absolute"')
    assert ops(both)[0] == "timer t.tick 5000 absolute"
    alone = of_tasks('"t": {' + one % "unique" + "}")
    assert [(made.name, made.count) for made in alone.objects] == [("t0.unique", 1)]


def test_policies_and_priorities():
    def group(fields: str, rest: str = "") -> tuple[Policy, int]:
        text = '{"tasks": {"t": {"run": 1' + fields + "}}" + rest + "}"
        made = translate(text, "FILE", 8).groups[0]
        return made.policy, made.nice

    assert group("") == (Policy("main"), 0)
    assert group(', "policy": "SCHED_OTHER", "priority": -7') == (Policy("main"), -7)
    assert group(', "policy": "SCHED_FIFO"') == (Policy("rt", priority=10), 0)
    assert group(', "policy": "SCHED_RR", "priority": 99') == (Policy("rr", priority=99), 0)
    assert group(', "policy": "SCHED_IDLE"') == (Policy("idle"), 0)
    assert group(', "saakm": "vtime", "priority": 3') == (Policy("saakm", name="vtime"), 3)
    assert group(', "saakm": "fair"') == (Policy("fair"), 0)
    assert group(', "saakm": "main", "policy": "SCHED_OTHER"') == (Policy("main"), 0)
    fifo = ', "global": {"default_policy": "SCHED_FIFO"}'
    assert group("", fifo) == (Policy("rt", priority=10), 0)
    assert group(', "priority": 4', fifo) == (Policy("rt", priority=4), 0)
    assert group(', "policy": "SCHED_OTHER"', fifo) == (Policy("main"), 0)


def test_a_phase_changes_what_it_names():
    phases = (
        '"a": {"run": 1, "cpus": [1, 0, 3]}, "b": {"run": 1, "priority": 4}, '
        '"c": {"run": 1, "policy": "SCHED_RR"}, "d": {"run": 1, "priority": 7}'
    )
    assert ops('"t": {"loop": 1, "cpus": [5], "phases": {' + phases + "}}") == [
        *("set_cpus 0-1,3", "run 1000", "iteration"),
        *("set_cpus 5", "set_policy main", "set_nice 4", "run 1000", "iteration"),
        *("set_policy rr:10", "run 1000", "iteration"),
        *("set_policy rr:7", "run 1000", "iteration"),
    ]
    there = of_tasks('"t": {"cpus": [5], "phases": {"a": {"run": 1, "cpus": [2]}}}').groups[0]
    assert there.cpus == CpuList(((2, 2),)) and [op.name for op in there.ops][1] == "run"


def test_barriers_count_all_who_name_them():
    both = '"a": {"instance": 3, "barrier": "b"}, "c": {"instance": 2, "run": 1, "barrier": "b"}'
    program = of_tasks(both)
    assert [(one.kind, one.name) for one in program.objects] == [("cond", "b.b"), ("mutex", "bm.b")]
    many = [op.operands[2] for group in program.groups for op in group.ops if op.name == "meet"]
    assert many == [5, 5]


def test_a_barrier_lets_pass_who_comes_again_before_the_others_have_run():
    program = of_tasks(
        '"a": {"loop": 1, "barrier": "b"}, "c": {"loop": 3, "delay": 5, "barrier": "b"}'
    )
    assert ideal_machine.run(program).iterations == {"a": 1, "c": 3}


def test_a_barrier_has_the_mutexes_of_the_file():
    text = '{"tasks": {"t": {"barrier": "b"}}, "global": {"pi_enabled": true}}'
    assert "pimutex bm.b 1\n" in program_text.to_text(translate(text, "FILE", 1))


def test_cycles_of_resumes_are_taken_and_seen_to_sleep():
    other = '"%s": {"loop": 2, "suspend": "%s", "run": 1, "resume": "%s"}'
    program = of_tasks(other % ("a", "a", "b") + ", " + other % ("b", "b", "a"))
    assert ideal_machine.run(program).asleep == ["a", "b"]
    alone = of_tasks('"a": {"suspend": "a", "resume": "a"}')
    assert ideal_machine.run(alone).asleep == ["a"]
    begun = '"c": {"loop": 1, "sleep": 5, "resume": "a"}'
    program = of_tasks(other % ("a", "a", "b") + ", " + other % ("b", "b", "a") + ", " + begun)
    assert ideal_machine.run(program).iterations == {"a": 2, "b": 2, "c": 1}


def test_a_task_may_fork_itself():
    program = of_tasks('"t": {"loop": 1, "run": 1000, "fork": "t"}')
    assert ideal_machine.run(program, 10 * MS).threads == {"t": 11}


@pytest.mark.parametrize(
    "task, line, words",
    [
        ('"run": "5"', 3, "'run' is a string | it must be a whole number"),
        ('"run": -5', 3, "'run' is -5 | it must be from 0"),
        ('"run": 1.5', 3, "'run' is a fraction"),
        ('"run": true', 3, "'run' is true or false"),
        ('"run": null', 3, "'run' is null"),
        ('"run": 2147483648', 3, "it must be from 0 to 2,147,483,647"),
        ('"run": {}', 3, "'run' is an object"),
        ('"runs": 5', 3, "'runs' in the task 't' | rt-app would take it for 'run'"),
        ('"rnu": 5', 3, "the key 'rnu' in the task 't' | it is not known"),
        ('"run": 5, "instance": 1000000000', 3, "'instance' is 1000000000"),
        ('"run": 5, "instance": -1', 3, "'instance' is -1"),
        ('"run": 5, "instance": 0', 0, "no group has an instance"),
        ('"run": 5, "loop": 0', 2, "a loop of 0"),
        ('"run": 5, "loop": -2', 3, "'loop' is -2"),
        ('"run": 5, "loop": 1, "loop": 2', 3, "'loop' in the task 't' | it is there twice"),
        ('"run": 5, "delay": -1', 3, "'delay' is -1"),
        ('"run": 5, "cpus": [8]', 3, "'cpus' is 8 | it must be from 0 to 7"),
        ('"run": 5, "cpus": []', 3, "a thread needs a CPU"),
        ('"run": 5, "cpus": "0-3"', 3, "'cpus' is a string | it must be a list"),
        ('"run": 5, "cpus": [0,\n"1"]', 4, "'cpus' is a string"),
        ('"run": 5, "nodes_membind": [0]', 3, "memory is not simulated | use `cpus`"),
        ('"run": 5, "taskgroup": "/a"', 3, "cgroups"),
        ('"run": 5, "util_min": 5', 3, "clamps"),
        ('"run": 5, "dl-runtime": 5', 3, "SCHED_DEADLINE"),
        ('"mem": 5', 3, "'mem' in the task 't' | memory is not simulated | use `run`"),
        ('"iorun1": 5', 3, "'iorun1' in the task 't' | devices are not simulated"),
        ('"exec": 5', 3, "older grammar"),
        ('"run": 5, "policy": "SCHED_DEADLINE"', 3, "'SCHED_DEADLINE' | it is not simulated"),
        ('"run": 5, "policy": 5', 3, "'policy' is a whole number | it must be a string"),
        ('"run": 5, "policy": "SCHED_FIFO", "priority": 0', 3, "'priority' is 0"),
        ('"run": 5, "policy": "SCHED_IDLE", "priority": 1', 3, "nothing with SCHED_IDLE"),
        ('"run": 5, "priority": 20', 3, "'priority' is 20"),
        ('"run": 5, "saakm": "a b"', 3, "a name is 1 to 31"),
        ('"run": 5, "saakm": ""', 3, "a name is missing"),
        ('"run": 5, "saakm": "rr", "policy": "SCHED_RR"', 3, "a thread has one policy"),
        ('"instance": 2', 2, "no event in the task 't'"),
        ('"phases": {}', 2, "no event in the task 't'"),
        ('"phases": {"p": {}}', 3, "no event in the phase 'p'"),
        ('"phases": {"p": 5}', 3, "the phase 'p' is a whole number"),
        ('"phases": []', 3, "'phases' is a list"),
        ('"phases": {"p": {"run": 5}}, "sleep": 5', 3, "rt-app ignores events beside phases"),
        ('"phases": {"p": {"run": 5, "instance": 2}}', 3, "'instance' in the phase 'p'"),
        ('"phases": {"p": {"run": 5,\n"loop": 0}}', 3, "a loop of 0"),
        ('"timer": 5', 3, "'timer' is a whole number | it must be an object"),
        ('"timer": {"period": 5}', 3, "no 'ref' in 'timer'"),
        ('"timer": {"ref": "a"}', 3, "no 'period' in 'timer'"),
        ('"timer": {"ref": "a", "period": 0}', 3, "'period' is 0"),
        ('"timer": {"ref": "a", "period": 5, "mode": "late"}', 3, "the mode 'late'"),
        ('"timer": {"ref": "a b", "period": 5}', 3, "timer 'a b'"),
        ('"lock": "a b"', 3, "lock 'a b' | a name is"),
        ('"lock": 5', 3, "'lock' is a whole number"),
        ('"lock_pages": true', 3, "'lock_pages' is true or false"),
        ('"wait": "c"', 3, "'wait' is a string"),
        ('"wait": {"ref": "c"}', 3, "no 'mutex' in 'wait'"),
        ('"wait": {"ref": "c", "mutex": "m", "x": 1}', 3, "the key 'x' in 'wait'"),
        ('"resume": "nobody"', 3, "no task suspends itself by this name"),
        ('"fork": "nobody"', 3, "there is no such task"),
        ('"barrier": "b", "run": 1, "barrier1": "b"', 3, "a task may name it once"),
        ('"fork": "t", "barrier": "b"', 3, "the task 't' is forked"),
        ('"fork": "t", "timer": {"ref": "unique", "period": 5}', 3, "the task 't' is forked"),
        ('"fork": "t", "delay": 5', 3, "the task is forked"),
    ],
)
def test_a_task_is_refused(task, line, words):
    found = refused('{"tasks": {\n"t": {\n' + task + "}}}")
    assert found.startswith(f"FILE:{line}: " if line else "FILE: "), found
    assert words in found


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("", 1, "the file ends too early"),
        ("[]", 1, "the file is a list"),
        ("{}", 1, "no 'tasks'"),
        ('{"tasks": []}', 1, "'tasks' is a list"),
        ('{"tasks": {}}', 0, "no group has an instance"),
        ('{"tasks": {"t": 5}}', 1, "the task 't' is a whole number"),
        ('{"tasks": {"a b": {"run": 5}}}', 1, "the group 'a b' | a name is"),
        ('{"tasks": {"t": {"run": 5},\n"t": {"run": 6}}}', 2, "there are two of the name"),
        ('{"tasks": {"t": {"run": 5}},\n"more": 5}', 2, "the key 'more' in the file"),
        ('{"tasks": {"t": {"run": 5}},\n"tasks": {}}', 2, "it is there twice"),
        ('{"tasks": {"t": {"run": 5}} x', 1, "a comma or } after the value of 'tasks'"),
        ('{"tasks": {"t": {"run": 5}}}\n}', 2, "more follows"),
        ('{"tasks": {"t": {"run": 05}}}', 1, "a comma or }"),
        ('{"tasks": {"t": {"run": +5}}}', 1, "it is no value"),
        ('{"tasks": {"t": {"run": NaN}}}', 1, "it is no value"),
        ('{"tasks": {"t": {"run": ' + "9" * 1000 + "}}}", 1, "the number is too long"),
        ('{"tasks": {"t": {"suspend",}}}', 1, "the : after the key 'suspend' is missing"),
        ('{"tasks": {"t": {run: 5}}}', 1, "a key in"),
        ("{'tasks': 5}", 1, "a key in"),
        ('{"tasks": {"t\n": {"run": 5}}}', 1, "the string has no end in its line"),
        ('{"tasks": {"\\x": {"run": 5}}}', 1, "the string is none"),
        ('{"tasks":\n/* no end', 2, "the comment has no end"),
        ('{"tasks": ' + "[" * 100_000, 1, "nested deeper"),
        ('{"tasks": ' + '{"a":' * 100_000, 1, "nested deeper"),
    ],
)
def test_a_file_is_refused(text, line, words):
    found = refused(text)
    assert found.startswith(f"FILE:{line}: " if line else "FILE: "), found
    assert words in found


@pytest.mark.parametrize(
    "text, words",
    [
        ('"duration": 0', "nothing would run"),
        ('"duration": -2', "from -1 to"),
        ('"duration": "5"', "a whole number"),
        ('"default_policy": "SCHED_NONE"', "it is not simulated"),
        ('"default_policy": "SCHED_DEADLINE"', "it is not simulated"),
        ('"pi_enabled": 0', "true or false"),
        ('"calibration": true', "it must be str or int"),
        ('"gnuplot": 1', "it must be bool"),
        ('"die_on_dmiss": true', "SCHED_DEADLINE"),
        ('"colour": 1', "the key 'colour' in 'global'"),
    ],
)
def test_global_is_refused(text, words):
    found = refused('{"tasks": {"t": {"run": 5}},\n"global": {' + text + "}}")
    assert found.startswith("FILE:2: ") and words in found


def test_what_has_no_effect_is_taken():
    logs = {
        "logdir": "x",
        "log_basename": "y",
        "log_size": 5,
        "ftrace": "main,task",
        "gnuplot": True,
    }
    rest = {"io_device": "z", "mem_buffer_size": 5, "cumulative_slack": True, "calibration": 100}
    resources = {"m": {"type": "mutex"}, "c": {"type": "wait"}}
    text = {"tasks": {"t": {"run": 5}}, "global": {**logs, **rest, "duration": -1}}
    program = translate(json.dumps({**text, "resources": resources}), "FILE", 1)
    assert program == of_tasks('"t": {"run": 5}') and program.duration_ns is None


def test_operations_know_their_lines():
    program = of_tasks('\n"t": {\n"lock": "m",\n"run": 5}')
    assert [op.line for op in program.groups[0].ops if op.name in ("lock", "run")] == [3, 4]


def test_a_file_that_is_cut_off_is_refused_wherever_that_is():
    for end in range(len(EVERYTHING.rstrip())):
        assert re.match(r"FILE:\d+: ", refused(EVERYTHING[:end]))


@pytest.mark.parametrize("seed", range(100))
def test_a_damaged_file_is_read_or_refused(seed):
    draw = random.Random(seed)
    for _ in range(20):
        at, much = draw.randrange(len(EVERYTHING)), draw.randint(0, 4)
        junk = "".join(
            draw.choice('{}[]:,"0-9.x\\/*\n\x00\ud800é') for _ in range(draw.randint(0, 3))
        )
        try:
            translate(EVERYTHING[:at] + junk + EVERYTHING[at + much :], "FILE", 4)
        except BadWorkload as error:
            assert re.match(r"FILE(:[1-9]\d*)?: ", error.what)


def test_strict_json_is_read_as_python_reads_it():
    def plain(node: located.Node) -> object:
        if node.kind == "an object":
            return {member.key: plain(member.node) for member in node.members}
        return [plain(one) for one in node.nodes] if node.kind == "a list" else node.value

    def value(draw: random.Random, depth: int) -> object:
        leaves = (None, True, 0, -12, 1.5, -2e-7, "", 'a"\\\n\u20ac', "/* no */ // comment")
        kind = draw.randint(0, 3 if depth else 1)
        if kind == 2:
            return [value(draw, depth - 1) for _ in range(draw.randint(0, 4))]
        if kind == 3:
            return {draw.choice("abcdef"): value(draw, depth - 1) for _ in range(3)}
        return draw.choice(leaves)

    for seed in range(300):
        there = value(random.Random(seed), 5)
        for text in (json.dumps(there), json.dumps(there, indent=1, ensure_ascii=False)):
            assert plain(located.parse(text, "FILE")) == there


def test_what_is_exported_is_strict_and_means_the_same():
    again = export(EVERYTHING, "FILE", 2)
    assert "saakm" not in again and "run1" in again
    plain = json.loads(again)
    assert [*plain["tasks"]["first"]["phases"]["p"]] == [
        *("lock", "run", "unlock", "run1", "resume", "sleep")
    ]
    without = re.sub(r', "saakm": "\w+"|"saakm": "\w+", ', "", EVERYTHING)
    assert translate(again, "FILE", 2) == translate(without, "FILE", 2)
    with pytest.raises(BadWorkload):
        export('{"tasks": {"t": {"mem": 5}}}', "FILE", 2)


def test_an_export_finds_names_that_are_free():
    text = '{"tasks": {"t": {"run": 1, "run1": 2, "run": 3, "run": 4, "run1": 5}}}'
    assert translate(export(text, "FILE", 1), "FILE", 1) == translate(text, "FILE", 1)
    assert json.loads(export(text, "FILE", 1))["tasks"]["t"] == {
        **{"run": 1, "run1": 2, "run2": 3, "run3": 4, "run4": 5}
    }


def test_with_pi_enabled_mutexes_lend_priority():
    tasks = '"tasks": {"t": {"lock": "m", "unlock": "m", "suspend": "s"}}'
    for pi, kinds in (("true", {"pimutex", "cond"}), ("false", {"mutex", "cond"})):
        program = translate(f'{{"global": {{"pi_enabled": {pi}}}, {tasks}}}', "FILE", 2)
        assert {one.kind for one in program.objects} == kinds


def test_the_mark_with_which_some_editors_begin_a_file_is_passed_over(tmp_path):
    path = tmp_path / "marked.json"
    path.write_text('{"tasks": {"a": {"loop": 1, "run": 100}}}', encoding="utf-8-sig")
    assert [group.name for group in read(path, 4).groups] == ["a"]


def test_what_is_not_utf8_is_said_to_be_none(tmp_path):
    path = tmp_path / "binary.json"
    path.write_bytes(b"\x7f\xb0\x00")
    with pytest.raises(BadWorkload, match="no text in UTF-8"):
        read(path, 4)
