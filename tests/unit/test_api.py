# SPDX-License-Identifier: GPL-2.0
"""The API page: what the headers declare for policies is what their kernel-doc describes.

What is not for policies stands between `private:` and `public:`, in a header as inside of a struct, or
in saakm_private.h.
"""

import re
import subprocess
from pathlib import Path

import pytest
from documents import table
from header import HEADER, INCLUDE, NotDescribed, handlers

from saakm.base import paths
from saakm.builder import source
from saakm.lab.check.checks import PROMISES

PAGE = paths.REPO / "docs/reference/api.md"
HEADERS = [
    paths.LINUX / name for name in re.findall(r"^\.\. kernel-doc:: (\S+)$", PAGE.read_text(), re.M)
]
EACH = pytest.mark.parametrize(
    "header", HEADERS, ids=lambda path: str(path.relative_to(paths.LINUX / "include"))
)
PRIVATE = INCLUDE / "saakm_private.h"
MOST_LINES = 500
_EXAMPLES = paths.REPO / "docs/examples"
SHIPPED = sorted([*paths.POLICIES.glob("*/*.c"), *_EXAMPLES.glob("*/*.c")])
# Those of docs/explanation/lines.md: whoever writes their like reads one header.
COUNTED = [
    *(paths.POLICIES / f"{x}/{x}.c" for x in ("fifo", "prio", "rr", "vtime")),
    *(_EXAMPLES / f"{x}/{x}.c" for x in ("global", "mlfq", "steal")),
]
# Declared elsewhere because other headers need them: what handlers are given, and its flags.
_GIVEN = re.compile(r"process_event|core_event|SAAKM_EV_\w+")

_MARK = re.compile(r"/\*\s*(?:\*\s*)?(private|public):")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|.)*$", re.M)


class NotUnderstood(Exception):
    pass


def uncommented(text: str) -> tuple[str, str]:
    """The code for policies and the class's own, both without comments."""
    public, private, hidden, depth = [], [], False, 0
    for part in re.split(r"(/\*.*?\*/)", re.sub(r"^//.*", "", text), flags=re.S):
        if not part.startswith("/*"):
            (private if hidden else public).append(part)
            depth += part.count("{") - part.count("}")
        elif depth == 0 and (mark := _MARK.match(part)):
            hidden = mark[1] == "private"
    return " ".join(public), " ".join(private)


def macros(code: str) -> set[str]:
    guards = set(re.findall(r"#ifndef (\w+)\n#define \1\n", code))
    return set(re.findall(r"^#\s*define (\w+)", code, re.M)) - guards


def statements(code: str) -> list[str]:
    """What stands outside of braces, each up to its end; `@` for braces and what is in them."""
    code = _DIRECTIVE.sub("", code)
    while (flat := re.sub(r"\{[^{}]*\}", "@", code)) != code:
        code = flat
    # A function's body ends it; an enum or a struct goes on to the semicolon.
    return [" ".join(text.split()) for text in re.split(r";|(?<=\))\s*@", code)]


def declared(code: str) -> set[str]:
    """Names of functions, macros, types and variables. Enumerators and members: kernel-doc -Wall."""
    found = macros(code)
    for statement in filter(None, statements(code)):
        bare = re.sub(r"\b__(?!saakm)\w+\([^()]*\) ?", "", statement)  # attributes
        if re.fullmatch(r"(?:struct|union|enum) \w+", bare):  # a mere announcement
            continue
        for pattern in (
            r"(?:struct|union|enum) (\w+) @",
            r"typedef [^()]*\(\*(\w+)\)\(.*\)",
            r"typedef .*\b(\w+)",
            r"DECLARE_\w+\(.*\b(\w+)\)",
            r"(?:\w+[ *]+)+?(\w+)\(.*\)",
            r"extern [\w *]*\b(\w+)(?:\[.*\])?",
        ):
            if match := re.fullmatch(pattern, bare):
                found.add(match[1])
                break
        else:
            # A macro that is given something else declares nothing that a policy could name.
            if not re.fullmatch(r"MODULE_\w+\(.*\)", bare):
                raise NotUnderstood(statement)
    return found


def enumerators(code: str) -> set[str]:
    bodies = re.findall(r"\benum \w+ \{([^}]*)\}", code)
    return set(re.findall(r"^\s*(\w+)", "\n".join(bodies).replace(",", "\n"), re.M))


def names(code: str) -> set[str]:
    return declared(code) | enumerators(code)


def private_members(header: Path, struct: str) -> set[str]:
    """What stands behind `private:` in a struct."""
    body = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", header.read_text(), re.M | re.S)[1]
    code = re.sub(r"/\*.*?\*/", "", body.partition("/* private: */")[2], flags=re.S)
    return set(re.findall(r"(\w+)(?:;|, SAAKM_NR)", code)) - {""}


def kernel_doc(header: Path, *options: str) -> subprocess.CompletedProcess[str]:
    _, tree = source.default_tree()
    return subprocess.run(
        [tree / "scripts/kernel-doc", *options, header],
        capture_output=True,
        text=True,
        # Else it asks Sphinx how old it is.
        env={"PATH": "/usr/bin:/bin", "SPHINX_VERSION": "7.0.0"},
    )


def described(header: Path) -> set[str]:
    rst = kernel_doc(header, "-rst", "-sphinx-version", "7.0.0").stdout
    found = set()
    for what in re.findall(r"^\.\. c:(?:function|macro|struct|union|enum|type):: (.*)$", rst, re.M):
        found.add(re.search(r"(\w+) *(?:\(|$)", what)[1])
    return found


@EACH
def test_what_is_for_policies_is_on_the_page_and_nothing_else(header):
    public, _ = uncommented(header.read_text())
    names, on_page = declared(public), described(header)
    assert names
    undescribed, unknown = names - on_page, on_page - names
    assert not undescribed, "these need a kernel-doc comment, or are private:"
    assert not unknown, "these are described, but not declared for policies"


def test_whoever_writes_a_policy_reads_500_lines():
    assert len(HEADER.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("policy", COUNTED, ids=lambda path: path.name)
def test_policies_that_are_counted_need_no_other_header(policy):
    """Beside the kernel's own, and what an event is."""
    code = uncommented(policy.read_text())[0]
    used = set(re.findall(r"\w+", code))
    here = set().union(*map(names, uncommented(HEADER.read_text())))
    elsewhere = set().union(
        *(
            names(part)
            for h in [*HEADERS, PRIVATE]
            if h != HEADER
            for part in uncommented(h.read_text())
        )
    )
    assert {"saakm_policy", "SAAKM_RQ_RBTREE", "saakm_task_data"} <= here
    assert {"saakm_steal", "SAAKM_EV_SYNC", "SAAKM_READY"} <= elsewhere
    assert [name for name in sorted(used & elsewhere - here) if not _GIVEN.fullmatch(name)] == []


def test_the_table_of_handlers_is_that_of_the_header():
    """To write it anew: what it should be is what the failure shows."""
    cells = [[cell.strip() for cell in one.row.strip("|").split("|")] for one in handlers()]
    assert table(PAGE, "## Handlers") == cells, "\n".join(one.row for one in handlers())
    assert len(cells) > 30


def test_the_class_calls_every_handler():
    """But for those that stand for two events."""
    events = {one.name for one in handlers()} - {"prepare", "place"}
    sources = [
        file
        for file in (paths.LINUX / "kernel/sched/saakm").glob("*.[ch]")
        if file.name != "names.c"
    ]
    code = "".join(file.read_text() for file in sources)
    assert {name for name in events if not re.search(rf"(?:->|routines\.){name}\b", code)} == set()


@EACH
def test_kernel_doc_finds_nothing_undescribed(header):
    """Members, enumerators, parameters and what is returned; comments of what is not there."""
    done = kernel_doc(header, "-none", "-Wall")
    assert done.returncode == 0 and done.stderr == ""


def test_the_page_has_every_header_that_a_policy_gets():
    found = [paths.LINUX / "include/linux/saakm.h"]
    for header in found:
        for name in re.findall(
            r"^#include <((?:uapi/)?linux/saakm\w*\.h)>", header.read_text(), re.M
        ):
            if (path := paths.LINUX / "include" / name) not in found:
                found.append(path)
    found.remove(PRIVATE)
    assert sorted(found) == sorted(HEADERS)
    assert not described(PRIVATE)
    rst = (paths.LINUX / "Documentation/scheduler/saakm.rst").read_text()
    assert re.findall(r"^\.\. kernel-doc:: (\S+)$", rst, re.M) == [
        str(header.relative_to(paths.LINUX)) for header in HEADERS
    ]


def test_the_kernels_page_lists_the_files():
    """build.c includes the others."""
    rst = (paths.LINUX / "Documentation/scheduler/saakm.rst").read_text()
    there = {
        str(file.relative_to(paths.LINUX))
        for pattern in (
            "kernel/sched/saakm/*.c",
            "include/linux/saakm*.h",
            "include/uapi/linux/saakm.h",
        )
        for file in paths.LINUX.glob(pattern)
    }
    assert set(re.findall(r"^``(\S+\.[ch])`` ", rst, re.M)) == there - {
        "kernel/sched/saakm/build.c"
    }


def test_what_the_class_exports_is_declared():
    sources = "".join(file.read_text() for file in (paths.LINUX / "kernel/sched/saakm").glob("*.c"))
    exported = set(re.findall(r"^EXPORT_SYMBOL(?:_NS)?_GPL\((\w+)", sources, re.M))
    assert len(exported) > 10
    exported.remove("saakm_transition_allowed")  # for the tests' own module
    for header in [*HEADERS, PRIVATE]:
        exported -= set().union(*map(declared, uncommented(header.read_text())))
    assert not exported


@pytest.mark.parametrize("policy", SHIPPED, ids=lambda path: path.name)
def test_shipped_policies_use_nothing_private(policy):
    private = set().union(*(declared(uncommented(h.read_text())[1]) for h in HEADERS))
    private |= set().union(*map(declared, uncommented(PRIVATE.read_text())))
    assert {"topology_levels", "saakm_task", "saakm_exit", "saakm_add_policy_of"} <= private
    code = uncommented(policy.read_text())[0]
    assert sorted(private & set(re.findall(r"\w+", code))) == []
    members = private_members(HEADER, "saakm_policy")
    assert {"ops", "own", "cores", "reported", "exit"} <= members
    assert not members & set(re.findall(r"policy(?:->|\.)(\w+)", code))
    assert not private_members(INCLUDE / "saakm_runqueue.h", "saakm_rq") & set(
        re.findall(r"rq(?:->|\.)(\w+)", code)
    )
    assert not re.search(r"(?:->|\.)saakm\b", code), "task->saakm is the class's own"


def test_promises_are_those_that_are_checked():
    texts = "".join(header.read_text() for header in HEADERS)
    (text,) = re.findall(r"DOC: Promises\n.*?\*/", texts, re.S)
    assert set(re.findall(r"``([a-z-]+)``", text)) == set(PROMISES)


# --- this test itself ---


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("saakm_for_each_task", "saakm_runqueue.h"),
        ("saakm_rq_next", "saakm_runqueue.h"),
        ("saakm_rq", "saakm_runqueue.h"),
        ("saakm_key_fn", "saakm.h"),
        ("core_event", "saakm_runqueue.h"),
        ("SAAKM_POLICY", "saakm.h"),
    ],
)
def test_a_comment_that_is_gone_fails(tmp_path, name, where):
    text = (INCLUDE / where).read_text()
    less = re.sub(
        rf"/\*\*\n \* (?:struct |typedef )?{name}\b(?:(?!\*/).)*\*/\n", "", text, flags=re.S
    )
    assert less != text
    header = tmp_path / where
    header.write_text(less)
    assert declared(uncommented(less)[0]) - described(header) == {name}


def test_a_comment_of_nothing_fails(tmp_path):
    header = tmp_path / "x.h"
    header.write_text("/**\n * gone() - it was here\n *\n * Context: any.\n */\nvoid here(void);\n")
    assert "expecting prototype for gone()" in kernel_doc(header, "-none", "-Wall").stderr


def test_members_that_nobody_describes_fail(tmp_path):
    header = tmp_path / "x.h"
    header.write_text("/**\n * struct x - a thing\n * @a: one\n */\nstruct x {\n\tint a, b;\n};\n")
    assert "member 'b' not described" in kernel_doc(header, "-none", "-Wall").stderr


@pytest.mark.parametrize(
    ("part", "instead", "why"),
    [
        (" saakm_preempt_by_order(). Default: no.", "", "wakeup_preempt: what happens without it?"),
        (
            "@tick: Timer tick while a thread of this policy is RUNNING. [R]",
            "@tick: Tick.",
            "tick: when",
        ),
        ("@block: ", "@blocked: ", "block: when"),
        ("\tvoid (*block)(", "\tint number;\n\tvoid (*block)(", "block: when"),
        (
            "\t/** @core_entry: The core has come online, and is active. [R] Default: nothing. */\n",
            "",
            "core_entry",
        ),
    ],
)
def test_a_handler_that_is_not_described_fails(tmp_path, part, instead, why):
    header = tmp_path / "saakm.h"
    assert HEADER.read_text().count(part) == 1
    header.write_text(HEADER.read_text().replace(part, instead))
    with pytest.raises(NotDescribed, match=re.escape(why)):
        handlers(header)


def test_all_kinds_of_declarations_are_seen():
    public, private = uncommented("""
        #ifndef _X_H
        #define _X_H
        #define A 1
        #define B(x) do { (x)++; } while (0)
        #define C(x)  \\
            f(x)
        struct later;
        struct s { struct { int m; } n; union { int a; }; };
        enum e { ONE, TWO };
        typedef int (*fn)(int a);
        typedef unsigned int number;
        __printf(1, 2) void said(const char *fmt, ...);
        static inline struct s *made(int x) { if (x) { return 0; } return 0; }
        extern const char * const names[3];
        DECLARE_PER_CPU(struct s *, cpus);
        MODULE_IMPORT_NS(X);
        /* private: */
        int hidden(void);
        /* public: */
        bool last(void);
        #endif
    """.replace("\n        ", "\n"))  # fmt: skip
    assert declared(public) == {
        *("A", "B", "C", "s", "e", "fn", "number", "said", "made", "names", "cpus", "last")
    }
    assert declared(private) == {"hidden"} and names(public) == declared(public) | {"ONE", "TWO"}
    tagged = (
        "struct s { struct_group_tagged(t, x, int (*f)(int a); int m; ); /* private: */ int n; };"
    )
    assert declared(uncommented(tagged)[0]) == {"s"}
    with pytest.raises(NotUnderstood):
        declared("int a, b = 4;")
