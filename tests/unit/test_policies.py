# SPDX-License-Identifier: GPL-2.0
"""A policy is what its Kbuild says, of any number of files, with headers that policies share."""

import os

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.base.files import hash_named
from saakm.builder import peers
from saakm.builder.names import NO_POLICY, fault_in_module
from saakm.builder.policies import (
    by_name,
    find_policy,
    is_policy,
    module_name,
    own_policies,
    source_files,
)
from saakm.lab.cost.operations import CLASSES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Policies of a user's own, beside a checkout that has none but shared headers."""
    monkeypatch.setattr(paths, "POLICIES", tmp_path / "checkout")
    put(tmp_path / "checkout/lib/heap.h", "checkout's heap")
    put(tmp_path / "checkout/lib/llc.h", "checkout's llc")
    put(tmp_path / "own/lib/heap.h", "own heap")
    put(
        tmp_path / "own/two/Kbuild",
        "# a comment\nobj-m := \\\n\tpair.o # and this\npair-y := main.o sub/slice.o\n",
    )
    for name in ("main.c", "sub/slice.c", "sub/slice.h", ".main.c.swp", "pair.mod.c", "README.md"):
        put(tmp_path / "own/two" / name, name)
    monkeypatch.setenv("SAAKM_POLICIES", str(tmp_path / "own"))
    return tmp_path / "own"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_obj_m_names_it(folder):
    assert module_name(folder / "two") == "pair"
    assert find_policy("pair") == find_policy(str(folder / "two")) == folder / "two"
    with pytest.raises(SaakmError, match="no policy 'two'"):
        find_policy("two")


def test_of_several_modules_the_directory_names_it(folder):
    put(folder / "heir/Kbuild", "obj-m := heir2.o heir.o\n")
    assert module_name(folder / "heir") == "heir"


def test_names_and_directories_by_name(folder):
    assert by_name(["fifo", str(folder / "two")]) == {"fifo": None, "pair": folder / "two"}


def test_what_it_is_built_from(folder):
    found = source_files(folder / "two")
    own = {"Kbuild", "main.c", "sub/slice.c", "sub/slice.h"}
    assert set(found) == own | {"lib/heap.h", "lib/llc.h"}
    assert found["lib/heap.h"].read_text() == "own heap"
    assert found["lib/llc.h"].read_text() == "checkout's llc"
    put(folder / "two/lib/heap.h", "its own")
    assert source_files(folder / "two")["lib/heap.h"].read_text() == "its own"


def test_another_shared_header_is_another_build(folder):
    before = hash_named(source_files(folder / "two"))
    put(folder / "lib/heap.h", "another")
    assert hash_named(source_files(folder / "two")) != before


@pytest.mark.parametrize(
    ("kbuild", "why"),
    [
        (None, "no Kbuild"),
        ("", "names 0 modules"),
        ("# obj-m := x.o\n", "names 0 modules"),
        ("obj-m := x.o y.o\n", "names 2 modules in obj-m: x, y"),
        ("obj-m := x.o\nobj-m += y.o\n", "names 2 modules"),
        ("obj-m := x.o\nobj-m ::= y.o z.o\n", "names 2 modules in obj-m: y, z"),
        ("obj-y := x.o\n", "names 0 modules"),
        ("obj-m ?= x.o\n", "says obj-m ?="),
        ("obj-m := $(NAME).o\n", "only make knows"),
        ("obj-m := $(SUB)/\n", "only make knows"),
        ("obj-m := x.c\n", "'x.c' in obj-m, which is not NAME.o"),
        ("obj-m := ../../x.o\n", "names '../../x' in obj-m: a module's name has"),
        ("obj-m := sub/x.o\n", "a module's name has"),
        ("obj-m := none.o /tmp/x.o\n", "own scheduler"),
        ("obj-m := x.o ../y.o\n", "a module's name has"),
        ("obj-m := a,b.o\n", "a module's name has"),
        ("obj-m := .o\n", "a module's name has"),
        (f"obj-m := {'x' * 80}.o\n", "80 characters"),
        ("obj-m := sched_fifo.o\n", "own scheduler"),
        ("obj-m := scx_mine.o\n", "sched_ext"),
    ],
)
def test_what_is_none_is_refused(folder, kbuild, why):
    put(folder / "none/none.c", "")
    if kbuild is not None:
        put(folder / "none/Kbuild", kbuild)
    assert not is_policy(folder / "none")
    with pytest.raises(SaakmError) as error:
        find_policy(str(folder / "none"))
    assert why in error.value.why


@pytest.mark.parametrize("operator", ["=", ":=", "::=", ":::=", "+="])
def test_all_assignments_of_make(folder, operator):
    put(folder / "one/Kbuild", f"obj-m {operator} it.o\n")
    assert module_name(folder / "one") == "it"
    put(folder / "one/Kbuild", f"obj-m{operator}before.o\nobj-m := it.o sub/\n")
    assert module_name(folder / "one") == "it"


def test_names_that_saakm_new_would_not_give(folder):
    for name in ("My_Own", "my-own", "2nd"):
        put(folder / "one/Kbuild", f"obj-m := {name}.o\n")
        assert module_name(folder / "one") == name


def test_no_class_is_a_policy():
    for name in (*NO_POLICY, *CLASSES, *peers.OURS, *peers.CRATES):
        assert fault_in_module(name), name


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_kbuild_that_is_no_file_is_refused(folder, make):
    (folder / "none").mkdir()
    make(folder / "none/Kbuild")
    with pytest.raises(SaakmError) as error:
        module_name(folder / "none")
    assert error.value.why == "its Kbuild is not a file" and not is_policy(folder / "none")


def test_only_files_are_sources(folder):
    os.mkfifo(folder / "two/pipe.c")
    (folder / "two/directory.c").mkdir()
    (folder / "two/dangling.h").symlink_to("nowhere")
    (folder / "lib/dangling.h").symlink_to("nowhere")
    (folder / "two/link.h").symlink_to("main.c")
    found = source_files(folder / "two")
    assert not {"pipe.c", "directory.c", "dangling.h", "lib/dangling.h"} & set(found)
    assert "link.h" in found


def test_names_that_are_not_utf_8_are_refused(folder):
    put(folder / "\udcff/Kbuild", "obj-m := it.o\n")
    assert own_policies() == [folder / "two"]
    with pytest.raises(SaakmError, match="xff is not a policy's directory") as error:
        find_policy(str(folder / "\udcff"))
    assert error.value.why == "its path is not UTF-8"
    assert str(error.value).encode()
    put(folder / "two/\udcff.h", "")
    with pytest.raises(SaakmError, match=r"xff.h cannot be built"):
        source_files(folder / "two")


def test_a_scheduler_in_user_space_is_no_policy(folder):
    put(folder / "mine/Cargo.toml", "")
    with pytest.raises(SaakmError) as error:
        find_policy(str(folder / "mine"))
    assert error.value.next_step.endswith(f"saakm run user --agent {folder / 'mine'}")


def test_nobody_is_sent_to_make_one_of_a_name_that_there_cannot_be(folder):
    for name, made in (("mine", "mine"), ("fair", "NAME"), ("scx_mine", "NAME"), ("My", "NAME")):
        (folder / name).mkdir()
        with pytest.raises(SaakmError) as error:
            find_policy(str(folder / name))
        assert error.value.next_step.endswith(f"saakm new {made} makes one"), name
    with pytest.raises(SaakmError, match="no policy 'scx_mine'") as error:
        find_policy("scx_mine")
    assert "saakm new" not in error.value.next_step
    with pytest.raises(SaakmError, match="no policy 'nosuch'") as error:
        find_policy("nosuch")
    assert error.value.next_step.endswith("or: saakm new nosuch")
