# SPDX-License-Identifier: GPL-2.0
"""How tests/mutate puts faults into C; what it builds is tried by running it."""

import subprocess

import pytest
from mutation import kernel
from mutation.faults import Fault, chosen_faults, faults_of, rewrite
from mutation.parser import blanked, spans
from mutation.runs import Known, Result, order, within

from saakm.base.errors import SaakmError

SOURCE = """
/* if (this) is no condition */
static const int table[] = { 1, 2 };

static int count(int n, const int *list)
{
	int i, sum = 0;

	if (n < 1 || !list)
		return -1;
	else if (n > 3)
		n = 3;	/* not "n = 4;" */
	for (i = 0; i < n; i++) {
		if (list[i] == 7)
			continue;
		sum += list[i];
	}
	switch (sum) {
	case 5:
		sum = 50;
		break;
	default:
		sum = sum + 1;
	}
	do
		sum++;
	while (sum < 0);
	return sum;
}
"""
CALLER = """
#include <stdio.h>
#include <stdlib.h>
static int live;
#define saakm_live(n) (live == (n))
%s
int main(int argc, char **argv)
{
	int list[] = { 1, 4, 7, 9, 100 };

	live = atoi(argv[1]);
	printf("%%d %%d %%d\\n", count(2, list), count(4, list + 1), count(0, list));
	return argc != 2;
}
"""


def texts(kind: str) -> list[str]:
    return [SOURCE[span.start : span.end] for span in spans(SOURCE) if span.kind == kind]


def test_conditions_are_found():
    assert texts("condition") == ["n < 1 || !list", "n > 3", "i < n", "list[i] == 7"]


def test_statements_are_found():
    assert [" ".join(text.split()) for text in texts("statement")] == [
        "int i, sum = 0;",
        "return -1;",
        "n = 3;",
        "continue;",
        "sum += list[i];",
        "sum = 50;",
        "break;",
        "sum = sum + 1;",
        "sum++;",
        "return sum;",
    ]


def test_comments_strings_and_directives_are_no_code():
    text = '#define A \\\n\tif (x)\nputs("a;\\"b"); // ;\nc = \';\';\n'
    code = blanked(text)
    assert len(code) == len(text) and code.count(";") == 2 and "if" not in code


@pytest.mark.parametrize(
    "line", ["guard(rcu)();", "struct rq *rq = f(p);", "u64 (*call)(int) = f;"]
)
def test_declarations_are_left_alone(line):
    assert not faults_of("a.c", f"void f(void)\n{{\n\t{line}\n}}\n")


def test_macros_that_open_a_scope_are_seen_through():
    text = "void f(void)\n{\n\tfor_each_cpu(cpu, mask)\n\t\tscoped_guard(rcu) {\n\t\t\tg(cpu);\n\t\t}\n}\n"
    assert [text[span.start : span.end] for span in spans(text)] == ["g(cpu);"]


def test_a_cast_that_is_returned_is_one_statement():
    text = "static void *f(void)\n{\n\treturn (void *)p;\n}\n"
    assert [fault.text for fault in faults_of("a.c", text)] == ["return NULL;"]


def numbered() -> list[tuple[int, Fault]]:
    return list(enumerate(faults_of("a.c", SOURCE), 1))


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """Runs the compiled source with a fault live."""
    where = tmp_path_factory.mktemp("rewritten")
    (where / "a.c").write_text(CALLER % rewrite(SOURCE, numbered()))
    command = ["gcc", "-w", "-ftrivial-auto-var-init=zero", "-o", where / "a", where / "a.c"]
    subprocess.run(command, check=True)

    def run(live: int) -> str:
        command = ["timeout", "1", where / "a", str(live)]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    return run


def test_without_a_live_fault_nothing_changes(rewritten):
    assert rewritten(0) == "51 15 -1"


@pytest.mark.parametrize(
    "original, changed, said",
    [
        ("n = 3;", "", "51 115 -1"),
        ("sum += list[i];", "", "2 2 -1"),
        ("break;", "", "52 15 -1"),
        ("list[i] == 7", "!(list[i] == 7)", "2 9 -1"),
        ("n < 1 || !list", "n < 1 && !list", "51 15 2"),
        ("sum = sum + 1;", "sum = sum - 1;", "51 13 -1"),
        ("return sum;", "return 0;", "0 0 -1"),
    ],
)
def test_a_live_fault_changes_what_it_says(rewritten, original, changed, said):
    [n] = [n for n, f in numbered() if (f.original, f.text) == (original, changed)]
    assert rewritten(n) == said


def test_a_fault_keeps_its_key_when_it_moves():
    moved = SOURCE.replace("static int count", "static int other;\n\nstatic int count")
    before, after = faults_of("a.c", SOURCE), faults_of("a.c", moved)
    assert [fault.key for fault in before] == [fault.key for fault in after]
    assert len({fault.key for fault in before}) == len(before)
    assert before[0].line + 2 == after[0].line


# --- the class as it is ---


def test_every_chosen_line_applies():
    assert len(chosen_faults(kernel.sources())) >= 10


def test_a_chosen_line_that_is_gone_is_named(tmp_path):
    rows = tmp_path / "lines.toml"
    row = {"name": "gone", "file": "a.c", "function": "count", "find": "n > 5", "replace": "false"}
    rows.write_text("[[line]]\n" + "".join(f'{key} = "{text}"\n' for key, text in row.items()))
    with pytest.raises(SaakmError, match="'gone'.*does not apply"):
        chosen_faults({"a.c": SOURCE}, rows)


def test_every_file_of_the_class_has_faults_but_those_without_functions():
    without = {name for name, text in kernel.sources().items() if not faults_of(name, text)}
    assert without == {"build.c", "names.c", "rq.h"}


# --- which tests see a fault ---

TESTS = [
    Known("slow", 9.0, frozenset({1, 2})),
    Known("quick", 1.0, frozenset({1})),
    Known("wide", 1.0, frozenset(range(300))),
    Known("elsewhere", 0.1, frozenset({5})),
]


def test_who_noticed_in_the_function_comes_first_then_who_is_quick_and_narrow():
    earlier = Result("k", "c", "f", "place", "noticed", by="slow")
    names = [test.name for test in order(TESTS, 1, "place", [earlier])]
    assert names == ["slow", "quick", "wide"]
    names = [test.name for test in order(TESTS, 1, "another", [earlier])]
    assert names == ["quick", "wide", "slow"]


def test_a_fault_is_tried_for_its_time_and_once_at_least():
    assert [test.name for test in within(TESTS[1:3] + TESTS[:1], 3)] == ["quick", "wide"]
    assert [test.name for test in within(TESTS[:2], 3)] == ["slow"]
