# SPDX-License-Identifier: GPL-2.0
"""The text form of workloads: what is written is read, and what is wrong is refused with its line."""

import random
import re

import pytest
from random_programs import program as random_program

from saakm.workload import program_text
from saakm.workload.checking import MAX_GROUPS, MAX_NESTED
from saakm.workload.errors import BadWorkload
from saakm.workload.operations import OPERATIONS
from saakm.workload.program import Group, Object, Op, Program, Ref, Time
from saakm.workload.program_text import lines_of, parse_text, to_text

GOOD = """\
# a comment
saakm-program 1
mutex m 2
\tcond c 1   # another
barrier b 1 3
semaphore s 1 0
pipe p 1 10
timer t 1
mark k
group a 2 0 main -5 0,2-5 inherit,reset
group z 0 7 saakm:rr 0 all none

program a
  loop 3
    run 5
    lock m[self/2*3+loop+pick*2+7]
    fork z 2
  end
  join all
end
program z
end
"""


def refused(text: str) -> str:
    with pytest.raises(BadWorkload) as caught:
        parse_text(text, "FILE")
    assert caught.value.status == 2
    return f"{caught.value.what}: {caught.value.why}"


def test_it_reads_what_the_form_shows():
    found = parse_text(GOOD, "FILE")
    assert [group.name for group in found.groups] == ["a", "z"]
    assert found.threads == 2
    a = found.groups[0]
    assert (a.nice, a.inherit, a.reset, a.cpus.ranges) == (-5, True, True, ((0, 0), (2, 5)))
    assert [op.line for op in a.ops] == [14, 15, 16, 17, 18, 19]
    assert parse_text(to_text(found), "again") == found


def test_each_line_knows_which_one_it_is_made_of():
    found = parse_text(GOOD, "FILE")
    made = list(zip(to_text(found).splitlines(), lines_of(found), strict=True))
    assert ("  loop 3", 14) in made and ("group z 0 7 saakm:rr 0 all none", 11) in made
    assert made[0] == ("saakm-program 1", 0)
    theirs = GOOD.splitlines()
    for text, line in made:
        assert not line or text.split()[0] in (theirs[line - 1].split()[0], "program", "end")


@pytest.mark.parametrize("seed", range(150))
def test_a_program_survives_its_text(seed):
    there = random_program(seed)
    text = to_text(there)
    assert parse_text(text, "FILE") == there
    assert to_text(parse_text(text, "FILE")) == text


def test_the_random_programs_use_all_operations():
    used = {op.name for seed in range(150) for g in random_program(seed).groups for op in g.ops}
    assert used == set(OPERATIONS)


@pytest.mark.parametrize("seed", range(100))
def test_a_damaged_text_is_read_or_refused_with_its_line(seed):
    draw = random.Random(seed)
    text = to_text(random_program(seed))
    for _ in range(20):
        at, much = draw.randrange(len(text)), draw.randint(0, 5)
        junk = "".join(draw.choice("0 19-:[]+*/,#az\n\x00é") for _ in range(draw.randint(0, 3)))
        try:
            parse_text(text[:at] + junk + text[at + much :], "FILE")
        except BadWorkload as error:
            assert re.match(r"FILE(:[1-9]\d*)?: ", error.what)


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_off_text_is_refused(seed):
    text = to_text(random_program(seed))
    for line in range(text.count("\n") - 1):
        short = "".join(text.splitlines(keepends=True)[:line])
        assert refused(short).startswith("FILE:") or not short


def test_lines_without_words_do_not_count():
    spread = GOOD.replace("\n", "\n\n   \n# no\n")
    assert parse_text(spread, "FILE") == parse_text(GOOD, "FILE")


@pytest.mark.parametrize(
    "old, new, line, why",
    [
        ("saakm-program 1", "saakm-program 2", 2, "this reads version 1"),
        ("saakm-program 1\n", "", 2, "not 'saakm-program 1'"),
        ("mutex m 2", "mutex m", 3, "mutex NAME COUNT"),
        ("mutex m 2", "mutex m 2 2", 3, "mutex NAME COUNT"),
        ("mutex m 2", "mutex m 0", 3, "from 1 to 1,000,000"),
        ("mutex m 2", "mutex m -1", 3, "no whole number"),
        ("mutex m 2", "mutex m 1_0", 3, "no whole number"),
        ("mutex m 2", "mutex m 99999999999999999999999", 3, "no whole number"),
        ("mutex m 2", "mutex 2m 2", 3, "begins with a letter"),
        ("mutex m 2", f"mutex {'m' * 32} 2", 3, "1 to 31"),
        ("mutex m 2", "mutex c 2", 4, "declared twice"),
        ("mutex m 2", "rwlock m 2", 3, "no such word"),
        ("barrier b 1 3", "barrier b 1 0", 5, "from 1 to"),
        ("barrier b 1 3", "barrier b 1", 5, "barrier NAME COUNT PARTIES"),
        ("pipe p 1 10", "pipe p 1 0", 7, "from 1 to"),
        ("pipe p 1 10", "pipe p 1000000 1000", 0, "16,000,000"),
        ("mark k", "mark k\nmark k", 10, "declared twice"),
        ("mark k", "mark k[0]", 9, "a name is"),
        ("group a 2 0", "group a 2", 10, "group NAME INSTANCES"),
        ("group a 2 0", "group a 1000000000 0", 10, "from 0 to 1,000,000"),
        ("group a 2 0", "group a 0 0", 0, "no group has an instance"),
        ("group a 2 0", "group a 2 -1", 10, "no whole number"),
        ("main -5", "main -21", 10, "from -20 to 19"),
        ("main -5", "best -5", 10, "a policy is"),
        ("main -5", "rt -5", 10, "a policy is"),
        ("main -5", "rt:100 -5", 10, "from 1 to 99"),
        ("main -5", "saakm: -5", 10, "a name is missing"),
        ("0,2-5", "2-5,0", 10, "CPUs rise"),
        ("0,2-5", "0-2,2", 10, "CPUs rise"),
        ("0,2-5", "4096", 10, "from 0 to 4,095"),
        ("inherit,reset", "inherit,inherit", 10, "of inherit and reset"),
        ("inherit,reset", "loud", 10, "of inherit and reset"),
        ("group z", "group a", 11, "declared twice"),
        ("program a", "program b", 13, "no group has the name"),
        ("program z\nend\n", "", 11, "it has no program"),
        ("program z\nend\n", "program a\nend\n", 21, "the group has one"),
        ("program z\nend\n", "program z\nend\nmutex n 1\n", 23, "only programs follow"),
        ("program z\nend\n", "program z\n", 21, "its end"),
        ("program z\nend\n", "program z\nend\nend\n", 23, "only programs follow"),
        ("  join all\nend\n", "  join all\n", 13, "its end"),
        ("join all", "join none", 19, "no whole number"),
        ("join all", "join", 19, "join N or all"),
        ("join all", "nap 5", 19, "no such operation"),
        ("join all", "pick 0", 19, "from 1 to"),
        ("join all", "yield 1", 19, "it is written: yield"),
        ("loop 3", "loop 0", 14, "from 1 to"),
        ("loop 3", "loop ever", 14, "no whole number"),
        ("run 5", "run -5", 15, "no whole number"),
        ("run 5", "run 0x10", 15, "no whole number"),
        ("run 5", "run 1000000000000001", 15, "from 0 to"),
        ("run 5", "run uniform:5:4", 15, "above its highest"),
        ("run 5", "run uniform:5", 15, "a time is"),
        ("run 5", "run fixed:5", 15, "a time is"),
        ("run 5", "run bimodal:1:2:1000001", 15, "from 0 to 1,000,000"),
        ("run 5", "lock c", 15, "it is a cond, not a mutex"),
        ("run 5", "lock q", 15, "no mutex or pimutex has the name"),
        ("run 5", "wait m c", 15, "it is a mutex, not a cond"),
        ("run 5", "meet m c 2", 15, "it is a mutex, not a cond"),
        ("run 5", "meet c m 0", 15, "from 1 to"),
        ("run 5", "send m 1 now", 15, "not a semaphore or pipe"),
        ("run 5", "send p 1 later", 15, "now or due"),
        ("run 5", "timer t 5 loose", 15, "relative or absolute"),
        ("run 5", "fork q 1", 15, "no group has the name"),
        ("run 5", "fork z[0] 1", 15, "a name is"),
        ("run 5", "resume q", 15, "no group has the name"),
        ("run 5", "mark_end q", 15, "no mark has the name"),
        ("run 5", "set_nice 20", 15, "from -20 to 19"),
        ("m[self", "m[self/0", 16, "adds up"),
        ("m[self/2*3", "m[self*3/2", 16, "adds up"),
        ("m[self/2*3", "m[self+self", 16, "once each"),
        ("m[self/2*3", "m[self+", 16, "adds up"),
        ("m[self/2*3+loop+pick*2+7]", "m[]", 16, "adds up"),
        ("m[self/2*3+loop+pick*2+7]", "m[1", 16, "neither NAME nor NAME"),
    ],
)
def test_it_refuses(old, new, line, why):
    assert GOOD.count(old) == 1
    found = refused(GOOD.replace(old, new))
    assert found.startswith(f"FILE:{line}: " if line else "FILE: "), found
    assert why in found


def test_a_line_is_not_endless():
    assert parse_text(GOOD + "#" * 1023, "FILE")
    assert refused(GOOD + "#" * 1024).startswith("FILE:23: a line")


def test_loops_are_nested_so_deep():
    def nested(depth: int) -> str:
        inside = "loop 2\n" * depth + "end\n" * depth
        return GOOD.replace("program z\n", f"program z\n{inside}")

    assert parse_text(nested(MAX_NESTED), "FILE")
    assert refused(nested(MAX_NESTED + 1)).startswith(f"FILE:{22 + MAX_NESTED}: a loop")


def test_there_are_so_many_groups():
    def groups(many: int) -> Program:
        return Program(tuple(Group(f"g{n}", ()) for n in range(many)))

    assert parse_text(to_text(groups(MAX_GROUPS)), "FILE").threads == MAX_GROUPS
    with pytest.raises(BadWorkload, match="4,097 groups"):
        to_text(groups(MAX_GROUPS + 1))


@pytest.mark.parametrize(
    "op, why",
    [
        (Op("run", (Time("fixed", (-1,)),)), "no whole number"),
        (Op("run", (5,)), "read as"),
        (Op("run", (Ref("m"),)), "no whole number"),
        (Op("lock", (Ref("m m"),)), "neither NAME nor"),
        (Op("nap"), "no such operation"),
        (Op("end"), "no loop is open"),
        (Op("loop", (2,)), "its end is missing"),
    ],
)
def test_a_program_that_the_text_could_not_say_is_refused(op, why):
    with pytest.raises(BadWorkload) as caught:
        to_text(Program((Group("g", (op,)),), (Object("mutex", "m"),)))
    assert why in caught.value.why


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadWorkload, match="it cannot be read"):
        program_text.read(tmp_path / "none")


def test_a_file_may_have_any_bytes_in_comments(tmp_path):
    file = tmp_path / "program"
    file.write_bytes(b"# \xff\xfe\n" + GOOD.encode())
    assert program_text.read(file) == parse_text(GOOD, "FILE")
    file.write_bytes(GOOD.replace("run 5", "run 5\r").encode())
    with pytest.raises(BadWorkload, match=":15: "):
        program_text.read(file)
