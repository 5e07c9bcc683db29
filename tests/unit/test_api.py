# SPDX-License-Identifier: GPL-2.0
"""The API page: what the headers declare for policies is what their kernel-doc describes.

What is not for policies stands between `private:` and `public:`, in a header as inside of a struct.
"""

import re
import subprocess
from pathlib import Path

import pytest

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
SHIPPED = sorted([*paths.POLICIES.glob("*/*.c"), *(paths.REPO / "docs/examples").glob("*/*.c")])

_MARK = re.compile(r"/\*\s*(?:\*\s*)?(private|public):")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|.)*$", re.M)


class NotUnderstood(Exception):
    pass


def uncommented(text: str) -> tuple[str, str]:
    """The code for policies and the class's own, both without comments."""
    public, private, hidden, depth = [], [], False, 0
    for part in re.split(r"(/\*.*?\*/)", text, flags=re.S):
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
        bare = re.sub(r"\b__\w+\([^()]*\) ?", "", statement)  # attributes
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
    assert sorted(found) == sorted(HEADERS)
    rst = (paths.LINUX / "Documentation/scheduler/saakm.rst").read_text()
    assert re.findall(r"^\.\. kernel-doc:: (\S+)$", rst, re.M) == [
        str(header.relative_to(paths.LINUX)) for header in HEADERS
    ]


def test_what_the_class_exports_is_declared():
    sources = "".join(file.read_text() for file in (paths.LINUX / "kernel/sched/saakm").glob("*.c"))
    exported = set(re.findall(r"^EXPORT_SYMBOL(?:_NS)?_GPL\((\w+)", sources, re.M))
    assert len(exported) > 10
    exported.remove("saakm_transition_allowed")  # for the tests' own module
    for header in HEADERS:
        exported -= set().union(*map(declared, uncommented(header.read_text())))
    assert not exported


@pytest.mark.parametrize("policy", SHIPPED, ids=lambda path: path.name)
def test_shipped_policies_use_nothing_private(policy):
    private = set().union(*(declared(uncommented(h.read_text())[1]) for h in HEADERS))
    assert {"topology_levels", "saakm_task", "saakm_exit"} <= private
    used = set(re.findall(r"\w+", policy.read_text()))
    assert sorted(private & used) == []


def test_promises_are_those_that_are_checked():
    (text,) = re.findall(r"DOC: Promises\n.*?\*/", HEADERS[0].read_text(), re.S)
    assert set(re.findall(r"``([a-z-]+)``", text)) == set(PROMISES)


# --- this test itself ---


@pytest.mark.parametrize(
    "name", ["saakm_for_each_task", "saakm_rq_next", "saakm_rq", "saakm_order_fn"]
)
def test_a_comment_that_is_gone_fails(tmp_path, name):
    text = (paths.LINUX / "include/linux/saakm_runqueue.h").read_text()
    less = re.sub(
        rf"/\*\*\n \* (?:struct |typedef )?{name}\b(?:(?!\*/).)*\*/\n", "", text, flags=re.S
    )
    assert less != text
    header = tmp_path / "saakm_runqueue.h"
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
    assert declared(private) == {"hidden"}
    with pytest.raises(NotUnderstood):
        declared("int a, b = 4;")
