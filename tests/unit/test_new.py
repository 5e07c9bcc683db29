# SPDX-License-Identifier: GPL-2.0
"""saakm new: what it writes, what it refuses, and where policies are found afterwards."""

import os
import re
import shutil
from pathlib import Path

import pytest
from call import saakm

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.kernel import latest_builds
from saakm.builder.policies import find_policy, is_policy, own_policies
from saakm.dev.clashes import fault_in_kernel
from saakm.dev.scaffold import (
    LESSONS,
    SMALLEST,
    fault_in_name,
    main_file,
    members,
    policy_files,
    shipped,
)

DOCS = paths.REPO / "docs"
ORIGINS = ["fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", "lavd"]
SOURCES = {name: shipped(name) for name in ORIGINS}
SAMPLE = {"sample.c": (Path(__file__).parent / "data/sample.c").read_text()}
SOURCES_AND_SAMPLE = {**SOURCES, "sample": SAMPLE}
EACH = pytest.mark.parametrize("origin", SOURCES_AND_SAMPLE)


def saakm_new(cwd, *args):
    """With a cache that has no kernel, unless the test puts one there."""
    return saakm("new", *args, cwd=cwd, SAAKM_CACHE=str(cwd / "cache"))


def code_of(text):
    """Without comments and blanks."""
    code = re.sub(r"/\*.*?\*/", "", text[max(text.find("#include"), 0) :], flags=re.S)
    return "".join(code.split())


@EACH
def test_the_code_is_that_of_the_policy_under_another_name(origin):
    sources = SOURCES_AND_SAMPLE[origin]
    made = policy_files("zz", origin, sources)
    assert not any(f"{origin}_" in text for text in made.values())
    for file, text in sources.items():
        new = made["zz" + file.removeprefix(origin) if file.startswith(f"{origin}.") else file]
        assert code_of(new.replace("zz", origin).replace("ZZ", origin.upper())) == code_of(text)


@EACH
def test_every_decision_has_its_lesson(origin):
    """Before the function that decides or, where it is ready-made, before the line that names it."""
    files = policy_files("mine", origin, SOURCES_AND_SAMPLE[origin])
    made = files[main_file(files)]
    lines = made.splitlines()
    asked = {member: value for member, value in members(made).items() if member in LESSONS}
    assert asked
    for member, value in asked.items():
        pattern = rf"static .*\b{value}\(|\s+\.{member}\b\s*= {value}\b"
        at = next(i for i, line in enumerate(lines) if re.match(pattern, line))
        assert lines[at - 1].endswith("*/"), member
    assert max(len(line.expandtabs(8)) for line in lines) <= 100


def test_a_function_that_answers_two_events_has_the_lesson_of_both():
    made = " ".join(policy_files("mine", "sample", SAMPLE)["mine.c"].split())
    assert LESSONS["prepare"].split("?")[0] in made
    assert not any(LESSONS[one] in made for one in ("new_prepare", "unblock_prepare"))


def test_without_an_origin_the_class_decides_everything():
    files = policy_files("mine", None)
    assert code_of(files["mine.c"]) == code_of(SMALLEST["smallest.c"]).replace("smallest", "mine")
    assert members(files["mine.c"]) == {} and "smallest" not in "".join(files.values())
    shown = re.search(
        r"it has two lines:\n\n((?:    .*\n|\n)+)", (DOCS / "tutorial.md").read_text()
    )[1]
    assert code_of(shown) == code_of(files["mine.c"])


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_it_says_where_promises_are_made(origin):
    files = policy_files("mine", origin, SOURCES.get(origin, SMALLEST))
    made = files[main_file(files)]
    (comment,) = re.findall(r"/\*((?:(?!\*/).)*)\*/\n(?=MODULE_INFO|$)", made, re.S)
    assert "saakm check --list" in comment and "MODULE_INFO(saakm_promises" in made


def test_continuation_lines_stay_aligned():
    made = policy_files("a_longer_name", "sample", SAMPLE)["a_longer_name.c"]
    lines = made.expandtabs(8).splitlines()
    at = next(i for i, line in enumerate(lines) if "bool a_longer_name_wakeup_preempt(" in line)
    column = lines[at].index("(") + 1
    assert lines[at + 1] == " " * column + "struct task_struct *woken)"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2fast", "C identifier"),
        ("my-policy", "C identifier"),
        ("Mine", "C identifier"),
        ("x" * 32, "32 characters"),
        ("fair", "own scheduler"),
        ("while", "word of C"),
        ("sched", "functions called sched_"),
        ("woken", "for something else"),
        ("lib", "SaaKM's own"),
        ("lock", "SaaKM's own"),
        ("wrong", "SaaKM's own"),
        ("oracle", "SaaKM's own"),
        ("saakm_oracle", "SaaKM's own"),
        ("bystander", "SaaKM's own"),
        ("bystanders", "SaaKM's own"),
        ("mover", "SaaKM's own"),
        ("sched_fifo", "own scheduler"),
        ("scx_mine", "sched_ext"),
        ("unix", "macro of gcc's own, which stands for 1"),
        ("linux", "macro of gcc's own, which stands for 1"),
    ],
)
def test_names_that_cannot_be_fail(name, why):
    assert why in fault_in_name(name, SAMPLE)


def test_good_names():
    assert not any(
        fault_in_name(n, s)
        for n in ("mine", "stride", "x" * 31, "lottery2")
        for s in (*SOURCES.values(), SMALLEST)
    )


# What <linux/saakm.h> brings along, in small.
HEADER = """\
typedef unsigned long long u64;
extern unsigned long volatile jiffies;
void panic(const char *format, ...);
static inline int busy_place(void) { return 0; }
#define preempting 1
struct saakm_event;
struct saakm_policy { const char *name; int (*place)(struct saakm_event *event); };
#define SAAKM_POLICY(_name, ...) \\
	static struct saakm_policy _name = { .name = #_name, ##__VA_ARGS__ }
"""
# A make that knows one rule stands for Kbuild.
RULE = "%.o:\n\t$(CC) -std=gnu11 -Iinclude -fsyntax-only $(M)/$*.c\n"


@pytest.fixture
def kernel(tmp_path):
    """Where a kernel was built."""
    build = tmp_path / "cache" / "build" / "0123456789ab-base"
    (build / "include" / "linux").mkdir(parents=True)
    (build / "include" / "linux" / "saakm.h").write_text(HEADER)
    (build / "Makefile").write_text(RULE)
    (build / "Module.symvers").touch()
    (build / "modules.builtin.modinfo").write_bytes(
        b"random.parmtype=ratelimit:bool\0rng-core.parmtype=quality:ushort\0crc32.license=GPL\0"
    )
    return build


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("u64", "include/linux/saakm.h of the kernel declares 'u64'"),
        ("jiffies", "include/linux/saakm.h of the kernel declares 'jiffies'"),
        ("panic", "include/linux/saakm.h of the kernel declares 'panic'"),
        ("preempting", "the kernel's headers have a macro 'preempting', or one that begins so"),
        ("random", "the kernel has a part of this name built in"),
        ("rng_core", "the kernel has a part of this name built in"),
    ],
)
def test_a_name_that_the_kernel_has_is_refused(tmp_path, kernel, name, why):
    done = saakm_new(tmp_path, name)
    assert done.returncode == 2 and f"  why:  {why}" in done.stderr, done.stderr
    assert f"  next: choose another name, my_{name} for example\n" in done.stderr
    assert not (tmp_path / name).exists()
    assert saakm_new(tmp_path, f"my_{name}").returncode == 0


def test_names_of_functions_count_too(kernel):
    """The policy's own handlers begin with its name."""
    source = (
        "#include <linux/saakm.h>\n\nstatic int own_place(struct saakm_event *event)\n{\n"
        "\treturn 0;\n}\n\nSAAKM_POLICY(own, .place = own_place);\n"
    )

    def files_of(name):
        return policy_files(name, "own", {"own.c": source, "Kbuild": "obj-m := own.o\n"})

    assert "declares 'busy_place'" in fault_in_kernel("busy", files_of, kernel)
    assert fault_in_kernel("mine", files_of, kernel) is None
    assert fault_in_kernel("crc32", files_of, kernel) is None


def test_a_kernel_that_no_policy_compiles_for_is_no_fault_of_the_name(tmp_path, kernel):
    (kernel / "include" / "linux" / "saakm.h").write_text("#error half of it is built\n")
    assert saakm_new(tmp_path, "u64").returncode == 0


def test_of_each_configuration_the_latest_kernel_is_asked(tmp_path, kernel, monkeypatch):
    monkeypatch.setattr(paths, "BUILD", kernel.parent)
    for number, name in enumerate(("aaa-base", "aaa-debug", "bbb-base")):
        symbols = kernel.parent / name / "Module.symvers"
        symbols.parent.mkdir()
        symbols.touch()
        os.utime(symbols, (number, number))
    assert {build.name for build in latest_builds()} == {kernel.name, "aaa-debug"}
    shutil.rmtree(kernel)
    assert {build.name for build in latest_builds()} == {"bbb-base", "aaa-debug"}


def test_without_a_kernel_it_says_what_it_cannot_know(tmp_path):
    done = saakm_new(tmp_path, "u64")
    assert done.returncode == 0 and "no kernel is built yet" in done.stderr
    assert "macro of gcc's own" in saakm_new(tmp_path, "unix").stderr


def test_new_finds_and_refuses(tmp_path, monkeypatch):
    done = saakm_new(tmp_path, "mine", "--from", "rr")
    assert done.returncode == 0 and f"saakm run {tmp_path}/mine -- " in done.stdout
    assert is_policy(tmp_path / "mine")
    again = saakm_new(tmp_path, "mine")
    assert again.returncode == 2 and "exists already" in again.stderr and "next: " in again.stderr
    shipped = saakm_new(tmp_path, "fifo")
    assert "is a policy already" in shipped.stderr
    elsewhere = saakm_new(tmp_path, "third", "--dir", "sub")
    assert f"saakm run {tmp_path}/sub/third -- " in elsewhere.stdout

    monkeypatch.chdir(tmp_path)
    assert find_policy("./mine") == find_policy(str(tmp_path / "mine")) == tmp_path / "mine"
    assert find_policy("sub/third") == tmp_path / "sub" / "third"
    assert find_policy("fifo") == paths.POLICIES / "fifo" and find_policy("none") is None
    with pytest.raises(SaakmError, match="no policy 'third'"):
        find_policy("third")
    monkeypatch.setenv("SAAKM_POLICIES", str(tmp_path / "sub"))
    assert find_policy("third") == tmp_path / "sub" / "third"
    monkeypatch.chdir(tmp_path / "mine")
    assert find_policy(".") == tmp_path / "mine"
    with pytest.raises(SaakmError, match="not a policy's directory"):
        find_policy("./nothing")


def test_a_name_means_nothing_that_lies_in_the_current_directory(tmp_path, monkeypatch):
    """Somebody else's directory: what is in it is neither built nor loaded unless it is named by path."""
    monkeypatch.delenv("SAAKM_POLICIES", raising=False)
    for name in ("rr", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Kbuild").write_text(f"obj-m := {name}.o\n")
        (tmp_path / name / f"{name}.c").write_text("")
    for here in (tmp_path, tmp_path / "rr"):
        monkeypatch.chdir(here)
        assert find_policy("rr") == paths.POLICIES / "rr"
        assert own_policies() == []
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SaakmError, match="no policy 'theirs'") as error:
        find_policy("theirs")
    assert "./theirs" in error.value.next_step
    assert find_policy("./theirs") == tmp_path / "theirs"
