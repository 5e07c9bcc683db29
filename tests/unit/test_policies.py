# SPDX-License-Identifier: GPL-2.0
"""A policy is what its Kbuild says, of any number of files, with headers that policies share."""

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.base.files import hash_named
from saakm.builder.policies import by_name, find_policy, is_policy, module_name, source_files


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
        ("obj-y := x.o\n", "names 0 modules"),
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
