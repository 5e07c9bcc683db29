# SPDX-License-Identifier: GPL-2.0
"""The simulator's reader of workloads: what it takes, what it refuses and in which line."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.workload import program_text
from saakm.workload.errors import BadWorkload

ENGINE = paths.REPO / "sim" / "engine"
HARNESS = Path(__file__).parent / "data" / "read_program.c"
FLAGS = ("-std=gnu11", "-g", "-O1", "-Wall", "-Werror", "-fms-extensions")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")

ALL = """\
saakm-program 1
mutex m 2
cond c 3
barrier b 2 4
semaphore s 2 0
pipe p 5 16
timer t 1
pimutex pi 2
cgroup top 2 300 root
cgroup low 3 1 top
mark latency
mark other
group workers 8 0 main 0 all none
group children 0 1000 saakm:rr -20 0,2-5,7 inherit,reset
group rt 1 5 rt:99 19 4095 reset
group m 1 5 rr:1 0 0-3 inherit
program workers
run 100
spin uniform:1:2
sleep exponential:1000
run bimodal:1:2:1000000
timer t 1000 relative
timer t uniform:1:1 absolute
lock m[self]
wait c[loop/2+1] m[self/3*4+loop+pick*2+7]
wait c[2] m
meet c[self] m[loop] 1000000
meet c pi[pick] 2
unlock m[1]
signal c
broadcast c[pick]
barrier b[self]
loop forever
loop 1000000000000
send s[self+pick] 5 now
receive s 1
send p[4] 1000000 due
receive p[loop] 7
end
end
exit
end
program children
suspend
resume workers
resume children[self+1]
resume children[7]
yield
fork rt 100000
join 3
join all
exec
set_nice -20
set_nice 19
set_cpus 1,3-4
set_cpus all
set_policy main
set_policy saakm:rr
set_policy fair
set_policy batch
set_policy idle
set_policy rt:1
set_policy rr:99
mark_begin latency now
mark_begin other due
mark_begin latency sent
mark_end latency
iteration
pick 12
end
program rt
end
program m
mark_end other
chance 250000
loop 3
chance 0
end
end
end
lock pi[1]
wait c pi[self]
unlock pi
set_nice_of workers 5
set_nice_of workers[pick+1] -5
set_cpus_of m all
set_policy_of m[self] any
set_policy any
set_cgroup root
set_cgroup low[self+1]
set_cgroup_of workers top
getattr_of workers[0]
kill children
cgroup_weight top[1] 10000
cgroup_policy low main
cgroup_policy low[pick] none
cgroup_policy low saakm:rr
cpu_offline pick+1
cpu_online 3
steal self/2 uniform:1:2
eject any
eject main
reload saakm:rr
migrate_disable
migrate_enable
end
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    program = tmp_path_factory.mktemp("reader") / "read_program"
    sources = [HARNESS, *sorted(ENGINE.glob("program*.c"))]
    subprocess.run(
        ["gcc", *FLAGS, *SANITIZE, f"-I{ENGINE}", *sources, "-o", program], check=True, text=True
    )
    return program


@pytest.fixture
def read(reader, tmp_path):
    def read(text, encoding="utf-8"):
        file = tmp_path / "load"
        file.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return subprocess.run([reader, "dump", file], capture_output=True, text=True)

    return read


def program(*lines, declared=(), group="group g 1 0 main 0 all none"):
    """Whose operations begin in line 11."""
    head = ["saakm-program 1", *declared, group]
    return "\n".join([*head, *["#"] * (9 - len(head)), "program g", *lines, "end", ""])


DECLARED = ("mutex m 2", "cond c 1", "barrier b 1 2", "semaphore s 1 0", "pipe p 1 1", "timer t 1")


def test_what_it_has_read_is_what_was_written(read):
    done = read(ALL)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == ALL


def test_blanks_comments_and_a_missing_last_line_break_mean_nothing(read):
    spread = ALL.replace("\n", " \t # run é\x01\n\n").replace(" ", " \t ").rstrip("\n")
    done = read("# first\n\n" + spread)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == ALL


def test_indices_that_are_always_the_same_are_resolved(read):
    text = program("lock m[5]", "unlock m[self*2+1+1]", "signal c[self+loop]", declared=DECLARED)
    lines = read(text).stdout.splitlines()
    assert lines[-4:-1] == ["lock m[1]", "unlock m[self*2+2]", "signal c"]


def test_the_limits_themselves_are_taken(read):
    million = 1_000_000
    declared = (
        *(f"mutex m{number} {million}" for number in range(3)),
        "semaphore s 999999 1000000000",
        "pipe p 1 1000000",
    )
    lines = [
        f"sleep {10**15}",
        f"lock m0[self/{million}*{million}+{million}]",
        f"send s {million} now",
        f"pick {million}",
        "fork g 100000",
        "join 100000",
        *[f"loop {10**12}"] * 16,
        *["end"] * 16,
    ]
    group = f"group g {million} {10**15} main -20 0-4095 none"
    done = read(program(*lines, declared=declared, group=group))
    assert (done.stderr, done.returncode) == ("", 0)
    name = "a" * 31
    assert read(program(declared=[f"mutex {name} 1"])).returncode == 0
    assert read(program("# " + "x" * 1021)).returncode == 0
    assert read(program(*["iteration"] * 999_999)).returncode == 0


REFUSED_LINES = {
    "an unknown operation": ("jump 1", "'jump' is no operation"),
    "an operation of which there is more": ("runs 1", "'runs' is no operation"),
    "a declaration": ("mutex x 1", "'mutex' is no operation"),
    "a program": ("program g", "within the program of group 'g'"),
    "no operand": ("run", "'run' takes TIME"),
    "one too many": ("run 1 2", "'run' takes TIME"),
    "far too many": ("run" + " 1" * 100, "'run' takes TIME"),
    "any at all": ("yield 1", "'yield' takes no operand"),
    "a sign": ("run +1", "'+1', which is no whole number"),
    "a negative number": ("run -1", "'-1', which is no whole number"),
    "a fraction": ("run 1.5", "no whole number"),
    "an underscore": ("run 1_000", "no whole number"),
    "another base": ("run 0x10", "no whole number"),
    "21 digits": ("run " + "0" * 20 + "1", "no whole number"),
    "2^64": (f"run {2**64}", "must be 0 to 1000000000000000"),
    "too long a time": (f"run {10**15 + 1}", "must be 0 to 1000000000000000"),
    "a drawn time of one number": ("run uniform:1", "uniform:LOW:HIGH"),
    "a drawn time of three": ("run uniform:1:2:3", "uniform:LOW:HIGH"),
    "a drawn time of many": ("run " + "1:" * 50 + "1", "uniform:LOW:HIGH"),
    "an unknown draw": ("run normal:1:2", "uniform:LOW:HIGH"),
    "low above high": ("run uniform:2:1", "lowest is above its highest"),
    "too high": (f"run uniform:2:{10**15 + 1}", "must be 0 to"),
    "no number drawn": ("run exponential:", "no whole number"),
    "PPM": ("run bimodal:1:2:1000001", "PPM is '1000001': it must be 0 to 1000000"),
    "another kind": ("lock c", "'c' is a cond, not a mutex"),
    "another kind of wait": ("wait m m", "'m' is a mutex, not a cond"),
    "another kind of mutex": ("wait c c", "'c' is a cond, not a mutex"),
    "another kind of meeting": ("meet m m 2", "'m' is a mutex, not a cond"),
    "meeting with a cond": ("meet c c 2", "'c' is a cond, not a mutex"),
    "nobody to meet": ("meet c m 0", "N is '0': it must be 1 to 1000000"),
    "another kind to send": ("send m 1 now", "'m' is a mutex, not a semaphore or pipe"),
    "another kind of timer": ("timer p 1 relative", "'p' is a pipe, not a timer"),
    "a group as object": ("lock g", "'g' is not declared"),
    "nobody's object": ("lock x", "'x' is not declared"),
    "an empty index": ("lock m[]", "'' is no term of an index"),
    "an open index": ("lock m[1", "neither NAME nor NAME[TERM+TERM...]"),
    "a closed index": ("lock m]1[", "neither NAME nor NAME[TERM+TERM...]"),
    "two indices": ("lock m[1][2]", "neither NAME nor NAME[TERM+TERM...]"),
    "nothing indexed": ("lock [1]", "'' is not declared"),
    "blanks in an index": ("lock m[self +1]", "'lock' takes REF"),
    "a plus too many": ("lock m[1+]", "'' is no term of an index"),
    "a term twice": ("lock m[self+loop+self*2]", "uses 'self' twice"),
    "turned factors": ("lock m[self*2/3]", "'2/3', which is no whole number"),
    "two factors": ("lock m[self*2*3]", "'2*3', which is no whole number"),
    "no factor": ("lock m[self*]", "'', which is no whole number"),
    "division by 0": ("lock m[self/0]", "a divisor is '0': it must be 1 to 1000000"),
    "times 0": ("lock m[self*0]", "a factor is '0': it must be 1 to 1000000"),
    "another term": ("lock m[other]", "'other' is no term of an index"),
    "a longer term": ("lock m[selfish]", "'selfish' is no term of an index"),
    "too large an index": ("lock m[1000001]", "an index is '1000001': it must be 0 to 1000000"),
    "a mode": ("timer t 1 now", "'now' is neither 'relative' nor 'absolute'"),
    "a stamp": ("send p 1 sent", "'sent' is neither 'now' nor 'due'"),
    "a time of a mark": ("mark_begin l then", "'then' is none of 'now', 'due' and 'sent'"),
    "no mark": ("mark_end x", "there is no mark 'x'"),
    "an indexed mark": ("mark_end l[1]", "a mark has no index"),
    "0 times": ("send s 0 now", "N is '0': it must be 1 to 1000000"),
    "too often": ("receive s 1000001", "N is '1000001': it must be 1 to 1000000"),
    "no fork": ("fork g 0", "N is '0': it must be 1 to 100000"),
    "too many forks": ("fork g 100001", "N is '100001': it must be 1 to 100000"),
    "a fork of nothing": ("fork x 1", "there is no group 'x'"),
    "an indexed fork": ("fork g[1] 1", "there is no group 'g[1]'"),
    "nobody to resume": ("resume x[1]", "there is no group 'x'"),
    "a wait for none": ("join none", "N is 'none', which is no whole number"),
    "no round": ("loop 0", "the number of rounds is '0': it must be 1 to 1000000000000"),
    "too many rounds": (f"loop {10**12 + 1}", "must be 1 to 1000000000000"),
    "a pick of nothing": ("pick 0", "N is '0': it must be 1 to 1000000"),
    "a high nice value": ("set_nice 20", "the nice value is '20': it must be -20 to 19"),
    "a low nice value": ("set_nice -21", "the nice value is '-21': it must be -20 to 19"),
    "half a nice value": ("set_nice -", "the nice value is '-': it must be -20 to 19"),
    "a CPU too far": ("set_cpus 4096", "a CPU is '4096': it must be 0 to 4095"),
    "falling CPUs": ("set_cpus 3-2", "do not rise"),
    "CPUs twice": ("set_cpus 1-3,3", "do not rise"),
    "open CPUs": ("set_cpus 1-", "a CPU is '', which is no whole number"),
    "no CPU": ("set_cpus 1,,2", "a CPU is '', which is no whole number"),
    "an unknown policy": ("set_policy best", "'best' is no policy"),
    "a nameless policy": ("set_policy saakm:", "'' is no name"),
    "a policy of a bad name": ("set_policy saakm:-", "'-' is no name"),
    "no priority": ("set_policy rt", "'rt' is no policy"),
    "priority 0": ("set_policy rt:0", "the priority is '0': it must be 1 to 99"),
    "priority 100": ("set_policy rr:100", "the priority is '100': it must be 1 to 99"),
    "a byte that is no text": ("run\x01 1", r"'run?' is no operation"),
    "a long word": ("x" * 900, "'" + "x" * 40 + "...' is no operation"),
    "a long line": ("#" + "x" * 1023, "a line of more than 1023 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("line, said", REFUSED_LINES.values(), ids=REFUSED_LINES)
def test_an_operation_is_refused_with_its_line(read, tmp_path, line, said):
    done = read(program("iteration", line, "iteration", declared=[*DECLARED, "mark l"]))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path}/load:12: "), done.stderr
    assert said in done.stderr


GROUP = "group g 1 0 main 0 all none"
REFUSED_FILES = {
    "nothing": ("", 0, "begins with 'saakm-program 1'"),
    "comments alone": ("# a\n# b\n", 2, "begins with 'saakm-program 1'"),
    "another first line": ("mutex m 1\n", 1, "begins with 'saakm-program 1'"),
    "no version": ("\nsaakm-program\n", 2, "begins with 'saakm-program 1'"),
    "another version": ("saakm-program 2\n", 1, "version '2': this reads version 1"),
    "a word behind": ("saakm-program 1 1\n", 1, "begins with 'saakm-program 1'"),
    "a NUL": (b"saakm-program 1\n\0", 2, "a NUL byte"),
    "no group": ("saakm-program 1\n", 1, "there is no group"),
    "no program": (f"saakm-program 1\nmark a\n{GROUP}\n", 3, "group 'g' has no program"),
    "an unknown declaration": ("saakm-program 1\nlock m\n", 2, "'lock' is no declaration"),
    "a name": ("saakm-program 1\nmutex 1m 1\n", 2, "'1m' is no name"),
    "a long name": (f"saakm-program 1\nmark {'a' * 32}\n", 2, "is no name"),
    "a name with a bracket": ("saakm-program 1\nmutex a[1] 1\n", 2, "'a[1]' is no name"),
    "an object twice": ("saakm-program 1\nmutex a 1\ncond a 1\n", 3, "'a' is declared twice"),
    "a mark twice": ("saakm-program 1\nmark a\nmark a\n", 3, "'a' is declared twice"),
    "a group twice": (f"saakm-program 1\n{GROUP}\n{GROUP}\n", 3, "'g' is declared twice"),
    "COUNT": ("saakm-program 1\nmutex a 0\n", 2, "COUNT is '0': it must be 1 to 1000000"),
    "no COUNT": ("saakm-program 1\nmutex a\n", 2, "'mutex' takes NAME COUNT"),
    "PARTIES": ("saakm-program 1\nbarrier a 1 0\n", 2, "PARTIES is '0'"),
    "no PARTIES": ("saakm-program 1\nbarrier a 1\n", 2, "'barrier' takes NAME COUNT PARTIES"),
    "INITIAL": ("saakm-program 1\nsemaphore a 1 1000000001\n", 2, "INITIAL is '1000000001'"),
    "CAPACITY": ("saakm-program 1\npipe a 1 0\n", 2, "CAPACITY is '0'"),
    "objects": (
        "saakm-program 1\n" + "".join(f"cond c{n} 1000000\n" for n in range(5)),
        6,
        "more than 4000000 objects",
    ),
    "messages": (
        "saakm-program 1\npipe a 16 1000000\npipe b 1 1\n",
        3,
        "hold more than 16000000 messages",
    ),
    "marks": (
        "saakm-program 1\n" + "".join(f"mark m{n}\n" for n in range(257)),
        258,
        "more than 256 marks",
    ),
    "groups": (
        "saakm-program 1\n" + "".join(f"group g{n} 1 0 main 0 all none\n" for n in range(4097)),
        4098,
        "more than 4096 groups",
    ),
    "instances": (
        "saakm-program 1\ngroup a 1000000 0 main 0 all none\ngroup b 1 0 main 0 all none\n",
        3,
        "more than 1000000 instances",
    ),
    "no instance": (
        "saakm-program 1\ngroup g 0 0 main 0 all none\nprogram g\nend\n",
        2,
        "no group has an instance",
    ),
    "a short group": ("saakm-program 1\ngroup g 1 0 main 0 all\n", 2, "takes NAME INSTANCES"),
    "a flag": (f"saakm-program 1\n{GROUP}s\n", 2, "'nones' is no flag"),
    "a flag twice": (
        "saakm-program 1\ngroup g 1 0 main 0 all reset,reset\n",
        2,
        "the flag 'reset' is there twice",
    ),
    "none and a flag": (
        "saakm-program 1\ngroup g 1 0 main 0 all none,reset\n",
        2,
        "'none' is no flag",
    ),
    "START": (f"saakm-program 1\ngroup g 1 {10**15 + 1} main 0 all none\n", 2, "START is"),
    "a program of nobody": ("saakm-program 1\nprogram g\n", 2, "there is no group 'g'"),
    "a nameless program": (f"saakm-program 1\n{GROUP}\nprogram\n", 3, "'program' takes GROUP"),
    "two programs": (
        f"saakm-program 1\n{GROUP}\nprogram g\nend\nprogram g\nend\n",
        5,
        "a second program of group 'g'",
    ),
    "a late declaration": (
        f"saakm-program 1\n{GROUP}\nprogram g\nend\nmark a\n",
        5,
        "a declaration after the first program",
    ),
    "no end": (f"saakm-program 1\n{GROUP}\nprogram g\nyield\n", 4, "has no 'end'"),
    "no end of a loop": (
        f"saakm-program 1\n{GROUP}\nprogram g\nloop 1\nend\n",
        5,
        "the program of group 'g' has no 'end'",
    ),
    "an end too many": (
        f"saakm-program 1\n{GROUP}\nprogram g\nend\nend\n",
        5,
        "an 'end' of nothing",
    ),
    "17 loops": (
        f"saakm-program 1\n{GROUP}\nprogram g\n" + "loop 1\n" * 17,
        20,
        "more than 16 loops in each other",
    ),
    "operations": (
        f"saakm-program 1\n{GROUP}\nprogram g\n" + "yield\n" * 1_000_001,
        1_000_004,
        "more than 1000000 operations",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, line, said", REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_a_file_is_refused_with_the_line_that_is_wrong(read, tmp_path, text, line, said):
    done = read(text)
    assert done.returncode == 2
    assert re.match(rf"{re.escape(str(tmp_path))}/load:{line}: ", done.stderr), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("seed", range(4))
def test_no_text_gets_the_reader_out_of_its_way(reader, tmp_path, seed):
    file = tmp_path / "load"
    file.write_text(ALL)
    done = subprocess.run(
        [reader, "fuzz", str(seed), "20000", file],
        capture_output=True,
        text=True,
        # What the reader holds when it refuses is lost there, as nowhere else.
        env={"ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert (done.stderr, done.returncode) == ("", 0)
    accepted, refused = map(int, re.findall(r"\d+", done.stdout))
    assert accepted > 500 and refused > 5000


def mutated(rng, changes):
    """ALL with words that another line has, or that are a little different."""
    lines = [line.split(" ") for line in ALL.splitlines()]
    words = [word for line in lines for word in line]
    for _ in range(changes):
        line = rng.choice(lines)
        at = rng.randrange(len(line))
        match rng.randrange(6):
            case 0:
                line[at] = rng.choice(words)
            case 1:
                line[at] = re.sub(r"\d", lambda _: str(rng.randrange(10)), line[at])
            case 2:
                cut = rng.randrange(len(line[at]) + 1)
                line[at] = line[at][:cut] + rng.choice("0159-+*/[]:,._a#\t\r\x0b") + line[at][cut:]
            case 3:
                line[at] = line[at][:-1]
            case 4:
                lines.insert(rng.randrange(len(lines)), rng.choice(lines).copy())
            case _:
                lines.remove(line)
    return "\n".join(map(" ".join, lines)) + "\n"


@pytest.mark.parametrize("seed", range(4))
def test_both_readers_take_and_refuse_the_same(read, tmp_path, seed):
    rng = random.Random(seed)
    taken = 0
    for _ in range(100):
        text = mutated(rng, rng.choice([1, 1, 2]))
        done = read(text)
        try:
            parsed = program_text.parse_text(text, str(tmp_path / "load"))
        except BadWorkload as error:
            assert done.returncode == 2, f"taken, but: {error.what}\n{text}"
            # Python names the line where what has no end begins, and looks at operands last.
            where = [re.search(r"load:(\d+): ", said)[1] for said in (done.stderr, error.what)]
            assert int(where[0]) <= int(where[1]) or "is missing" in error.why
        else:
            assert done.returncode == 0, f"{done.stderr}\n{text}"
            taken += 1
            # What is always the same object is resolved here, and not there.
            again = read(program_text.to_text(parsed))
            assert again.stdout == done.stdout
    assert 10 < taken < 90
