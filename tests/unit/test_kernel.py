# SPDX-License-Identifier: GPL-2.0
"""What decides whether something is built again."""

import re

import pytest

from saakm.base.errors import SaakmError
from saakm.base.files import hash_files
from saakm.base.process import run_logged
from saakm.builder.kernel import Kernel, environment
from saakm.builder.modules import module_file


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a.c").write_text("a")
    (tmp_path / "b.c").write_text("b")
    return tmp_path


def digest(tree, *more):
    return hash_files(tree.rglob("*.c"), tree, *more)


def test_the_same_files_give_the_same_hash_wherever_they_are(tree, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for name in ("b.c", "a.c"):
        (other / name).write_text((tree / name).read_text())
    assert digest(tree, "base") == digest(other, "base")


def test_a_kernel_does_not_say_when_by_whom_or_for_which_time_it_was_built():
    said = {"TIMESTAMP", "USER", "HOST", "VERSION"}
    assert {f"KBUILD_BUILD_{word}" for word in said} <= environment().keys()


def test_content_name_and_configuration_all_count(tree):
    seen = {digest(tree, "base"), digest(tree, "debug")}
    (tree / "a.c").write_text("A")
    seen.add(digest(tree, "base"))
    (tree / "a.c").rename(tree / "c.c")
    seen.add(digest(tree, "base"))
    assert len(seen) == 4


def test_text_that_moves_to_the_next_file_counts(tree):
    (tree / "a.c").write_text("xy")
    (tree / "b.c").write_text("z")
    before = digest(tree)
    (tree / "a.c").write_text("x")
    (tree / "b.c").write_text("yz")
    assert digest(tree) != before


def test_a_module_that_is_not_built_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(SaakmError, match="no module 'nosuch'") as error:
        module_file(Kernel("debug", tmp_path, "x"), "nosuch")
    assert "saakm build --config debug" in str(error.value)


def test_a_failing_build_shows_the_end_of_its_log_and_where_it_is(tmp_path):
    log = tmp_path / "log"
    script = "for i in $(seq 100); do echo line $i; done; exit 3"
    with pytest.raises(SaakmError) as error:
        run_logged(["sh", "-c", script], log, "the build")
    text = str(error.value)
    assert "status 3" in text and "line 100" in text and str(log) in text
    assert len(re.findall(r"^line \d+$", text, re.M)) == 40
    assert log.read_text().startswith("line 1\n")


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(SaakmError, match="the build failed") as error:
        run_logged(["no-such-program"], tmp_path / "log", "the build")
    assert "saakm doctor" in str(error.value)
