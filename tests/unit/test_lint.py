# SPDX-License-Identifier: GPL-2.0
"""saakm lint: each checker runs, notices a fault, and is silent without one."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from test_cli import saakm

from saakm import lint
from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder import cargo, source
from saakm.builder.kernel import Kernel
from saakm.lint import checker, kernelside, sources

RUST = 'fn main() {{\n    println!("x");\n{}}}\n'
TESTED = "fn main() {{}}\n\n#[test]\nfn it() {{\n    assert_eq!(1, {});\n}}\n"
POLICY = "// SPDX-License-Identifier: GPL-2.0\n{}int x;\n"
# The checker, the file, what is good and what is not, and a word of the complaint.
FAULTS = [
    ("ruff", "src/saakm/x.py", "import os\n\nos.sync()\n", "import os\n", "F401"),
    ("format", "src/saakm/x.py", "x = 1\n", "x  =  1\n", "x.py"),
    ("mypy", "src/saakm/x.py", "def f() -> None: ...\n", "def f(): ...\n", "no-untyped-def"),
    (
        "clippy",
        "crates/src/main.rs",
        RUST.format(""),
        RUST.format("    return;\n"),
        "return",
    ),
    ("rustfmt", "crates/src/main.rs", "fn main() {}\n", "fn  main() {}\n", "Diff in"),
    ("cargo-test", "crates/src/main.rs", TESTED.format(1), TESTED.format(2), "it --- FAILED"),
    ("shellcheck", "any/script", '#!/bin/sh\necho "$1"\n', "#!/bin/sh\necho $1\n", "SC2086"),
    (
        "shellcheck",
        "x",
        "# shellcheck shell=sh\ntrue\n",
        "# shellcheck shell=sh\n[ 1 == 1 ]\n",
        "SC",
    ),
    ("checkpatch", "policies/x/x.c", POLICY.format(""), POLICY.format("\n\n\n"), "LINE_SPACING"),
]


@pytest.fixture
def scratch(tmp_path):
    """What the checkers look for in a checkout, and nothing to complain of."""
    shutil.copy(paths.REPO / "pyproject.toml", tmp_path)
    for file, text in {
        "src/saakm/__init__.py": "",
        "tests/bisection.py": "",
        "crates/Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
        "crates/Cargo.lock": 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
        "crates/src/main.rs": "fn main() {}\n",
    }.items():
        put(tmp_path, file, text)
    return tmp_path


def put(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("checker", "file", "good", "bad", "word"), FAULTS, ids=[f"{f[0]}-{f[1]}" for f in FAULTS]
)
def test_a_checker_notices_a_fault(scratch, checker, file, good, bad, word):
    if checker == "checkpatch":
        source.default_tree()
    put(scratch, file, good)
    (outcome,) = lint.run_checkers([checker], scratch)
    assert (outcome.complaint, outcome.skipped) == ("", "")
    put(scratch, file, bad)
    (outcome,) = lint.run_checkers([checker], scratch)
    assert word in outcome.complaint


@pytest.fixture
def kernel(tmp_path):
    """A build as make leaves it, as far as sparse looks at it, of a class in two files."""
    tree, build = tmp_path / "linux", tmp_path / "build"
    inside = "kernel/sched/saakm"
    put(tree, f"{inside}/build.c", '#include "given.h"\n#include "../sched.h"\n#include "part.c"\n')
    put(tree, f"{inside}/part.c", "")
    put(tree, "kernel/sched/sched.h", "")
    put(tree, "include/given.h", "#define __user __attribute__((noderef, address_space(1)))\n")
    put(
        build,
        f"{inside}/.build.o.cmd",
        f"savedcmd_{inside}/build.o := ccache gcc -Wp,-MMD,x.d -nostdinc -I{tree}/include -O2 -Wall "
        f"-g -I{tree}/{inside} -I{inside} -DKBUILD_MODNAME='\"build\"' -c -o {inside}/build.o "
        f"{tree}/{inside}/build.c ; ./tools/objtool/objtool {inside}/build.o\n",
    )
    return Kernel("base", build, "")


BAD = "int *plain(int __user *p);\nint *plain(int __user *p)\n{\n\treturn p;\n}\n"


@pytest.mark.parametrize(
    ("file", "noticed"),
    [
        ("linux/kernel/sched/saakm/part.c", True),
        ("policies/x/x.c", True),
        ("linux/kernel/sched/sched.h", False),  # Linux's own: not ours to mend
    ],
)
def test_sparse_notices_a_fault_of_ours(kernel, tmp_path, file, noticed):
    put(tmp_path, "policies/x/x.c", '#include "given.h"\n')
    assert kernelside.sparse(kernel, tmp_path) == ""
    put(tmp_path, file, ('#include "given.h"\n' if "policies" in file else "") + BAD)
    said = kernelside.sparse(kernel, tmp_path)
    assert bool(said) == noticed
    assert not noticed or re.search(rf"{Path(file).name}:\d+:\d+: error: incorrect type", said)


def test_sparse_that_cannot_read_a_file_says_so(kernel, tmp_path):
    put(tmp_path, "policies/x/x.c", '#include "nosuch.h"\n')
    assert "nosuch.h" in kernelside.sparse(kernel, tmp_path)


def test_all_scripts_are_found():
    found = {str(path.relative_to(paths.REPO)) for path in sources.shell_scripts(paths.REPO)}
    assert {"saakm", ".ci/run", "benchmarks/measure"} <= found
    assert {f"src/saakm/guest/{name}" for name in ("init", "agent", "shell")} <= found


def test_the_command_shows_the_complaint_and_fails(monkeypatch, scratch):
    """And a checker that is clean does not hide one that is not."""
    put(scratch, "src/saakm/x.py", "import os\n")
    shutil.copytree(paths.PACKAGE, scratch / "src/saakm", dirs_exist_ok=True)
    done = saakm("lint", "ruff", "rustfmt", PYTHONPATH=str(scratch / "src"))
    assert done.returncode == 1
    assert re.search(r"^ruff +\d+\.\d s  complains$", done.stdout, re.M) and "F401" in done.stdout
    assert re.search(r"^rustfmt +\d+\.\d s  clean$", done.stdout, re.M)


def test_without_a_kernel_tree_it_says_what_did_not_run(tmp_path):
    done = saakm("lint", "sparse", "checkpatch", "rustfmt", SAAKM_CACHE=str(tmp_path / "cache"))
    for name in ("sparse", "checkpatch"):
        assert re.search(rf"^{name} .* did not run: .*saakm build", done.stdout, re.M)
    assert done.returncode == 0


def test_a_checker_whose_program_is_missing_says_so(tmp_path):
    done = saakm("lint", "shellcheck", "rustfmt", PATH=str(tmp_path))
    assert "did not run: there is no program 'shellcheck'" in done.stdout
    assert "did not run: rustfmt does not run; apt-get install rustfmt-web" in done.stdout


def test_who_interrupts_waits_for_nothing(tmp_path):
    """What runs is ended, and what waits for its turn does not begin."""
    begun = tmp_path / "begun"

    def slow(root: Path) -> str:
        return checker.complaint_of(["sh", "-c", f"echo >>{begun}; exec sleep 600"], root)

    checkers = [checker.Checker("quick", lambda _: "")]
    checkers += [checker.Checker(f"slow {n}", slow) for n in range(os.cpu_count() + 2)]
    outcomes = checker.run_side_by_side(checkers, tmp_path)
    assert next(outcomes).checker == "quick"
    while not begun.exists():
        time.sleep(0.01)
    outcomes.close()
    assert len(begun.read_text()) <= os.cpu_count()


def test_a_program_that_is_none_is_a_complaint(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    assert "does not run: Exec format error" in checker.complaint_of([str(program)], tmp_path)


def test_what_another_checkout_built_is_not_ours(tmp_path):
    mine = [tmp_path / ".fingerprint" / name for name in ("saakm-1", "saakmctl-1")]
    others = tmp_path / ".fingerprint" / "serde-1"
    for root, stays in (("a", False), ("a", True), ("b", False)):
        for directory in (*mine, others):
            directory.mkdir(parents=True, exist_ok=True)
        cargo.forget_other_checkouts(tmp_path, Path(root))
        assert [directory.exists() for directory in mine] == [stays, stays]
        assert others.exists()


def test_an_unknown_checker_is_refused():
    with pytest.raises(SaakmError, match="there is no checker 'pylint'"):
        lint.run_checkers(["pylint"])
