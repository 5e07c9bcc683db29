# SPDX-License-Identifier: GPL-2.0
"""The source sync, with real trees and the real patch(1)."""

import os
import subprocess
from pathlib import Path

import pytest

from saakm.base.errors import SaakmError
from saakm.builder.sync import owned_files, sync

CORE = "\n".join(f"line {n}" for n in range(1, 41)) + "\n"


class Lab:
    """A kernel tree, and the checkout's linux/ beside it."""

    def __init__(self, root: Path):
        self.linux, self.tree = root / "checkout" / "linux", root / "key" / "linux"
        write(self.tree / "kernel/core.c", CORE)
        write(self.tree / "kernel/fair.c", "fair\n")
        write(self.linux / "kernel/saakm/class.c", "class\n")
        write(self.linux / "configs/base.config", "CONFIG_A=y\n")

    def patch(self, name: str, file: str, old: str, new: str) -> None:
        """A patch as diff -u makes it, for `file` going from `old` to `new`."""
        scratch = self.linux.parent / "diff"
        write(scratch / "a" / file, old)
        write(scratch / "b" / file, new)
        done = subprocess.run(
            ["diff", "-u", f"a/{file}", f"b/{file}"], cwd=scratch, capture_output=True, text=True
        )
        write(self.linux / "patches" / name, done.stdout)

    def read(self, name: str) -> str:
        return (self.tree / name).read_text()

    def age(self) -> None:
        """The clock of a file system may stand still from one sync to the next: for 4 ms, or 10."""
        for path in self.tree.rglob("*"):
            os.utime(path, (0, 0))

    def written(self) -> set[str]:
        """Since then."""
        return {p.name for p in self.tree.rglob("*") if p.is_file() and p.stat().st_mtime_ns}

    def contents(self) -> dict[str, str]:
        return {str(p): p.read_text() for p in self.tree.rglob("*") if p.is_file()}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def test_new_files_and_patches_arrive_and_configs_do_not(lab):
    lab.patch("0001-hook.patch", "kernel/core.c", CORE, CORE.replace("line 5\n", "line 5\nhook\n"))
    sync(lab.linux, lab.tree)
    assert lab.read("kernel/saakm/class.c") == "class\n"
    assert "line 5\nhook\n" in lab.read("kernel/core.c")
    assert not (lab.tree / "configs").exists() and not (lab.tree / "patches").exists()


def test_patches_of_one_file_apply_in_order_of_name(lab):
    one = CORE.replace("line 5\n", "five\n")
    lab.patch("0001.patch", "kernel/core.c", CORE, one)
    lab.patch("0002.patch", "kernel/core.c", one, one.replace("five\n", "FIVE\n"))
    sync(lab.linux, lab.tree)
    assert "FIVE\n" in lab.read("kernel/core.c")


def test_a_second_sync_touches_nothing(lab):
    lab.patch("0001.patch", "kernel/core.c", CORE, CORE.replace("line 5\n", "five\n"))
    sync(lab.linux, lab.tree)
    lab.age()
    sync(lab.linux, lab.tree)
    assert lab.written() == set()


def test_only_the_file_that_changed_is_written(lab):
    lab.patch("0001.patch", "kernel/core.c", CORE, CORE.replace("line 5\n", "five\n"))
    sync(lab.linux, lab.tree)
    lab.age()
    write(lab.linux / "kernel/saakm/class.c", "better class\n")
    sync(lab.linux, lab.tree)
    assert lab.written() == {"class.c"}


def test_what_left_the_checkout_leaves_the_tree(lab):
    lab.patch("0001.patch", "kernel/core.c", CORE, CORE.replace("line 5\n", "five\n"))
    sync(lab.linux, lab.tree)
    (lab.linux / "patches/0001.patch").unlink()
    (lab.linux / "kernel/saakm/class.c").unlink()
    sync(lab.linux, lab.tree)
    assert lab.read("kernel/core.c") == CORE
    assert not (lab.tree / "kernel/saakm/class.c").exists()
    assert owned_files(lab.tree) == set()


def test_a_hunk_that_does_not_fit_is_named_and_nothing_is_half_applied(lab):
    other = CORE.replace("line 30\n", "something else\n").replace("line 31\n", "altogether\n")
    wanted = other.replace("line 3\n", "three\n").replace("altogether\n", "ALTOGETHER\n")
    lab.patch("0001-good.patch", "kernel/fair.c", "fair\n", "fairer\n")
    lab.patch("0002-bad.patch", "kernel/core.c", other, wanted)
    before = lab.contents()
    with pytest.raises(SaakmError) as error:
        sync(lab.linux, lab.tree)
    text = str(error.value)
    assert "0002-bad.patch" in text and "kernel/core.c: hunk 2" in text and "hunk 1" not in text
    assert lab.contents() == before


def test_a_patch_that_is_applied_already_is_refused(lab):
    patched = CORE.replace("line 5\n", "five\n")
    lab.patch("0001.patch", "kernel/core.c", CORE, patched)
    write(lab.tree / "kernel/core.c", patched)
    with pytest.raises(SaakmError, match="0001.patch does not fit"):
        sync(lab.linux, lab.tree)


def test_a_patch_for_a_file_that_linux_lacks_is_refused(lab):
    lab.patch("0001.patch", "kernel/gone.c", CORE, CORE + "more\n")
    with pytest.raises(SaakmError, match="edits kernel/gone.c"):
        sync(lab.linux, lab.tree)


def test_a_patch_that_adds_a_file_is_refused(lab):
    write(
        lab.linux / "patches/0001.patch", "--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1 @@\n+new\n"
    )
    with pytest.raises(SaakmError) as error:
        sync(lab.linux, lab.tree)
    assert "put new files below linux/" in str(error.value)


def test_a_new_file_never_replaces_one_of_linux(lab):
    write(lab.linux / "kernel/fair.c", "mine\n")
    with pytest.raises(SaakmError, match="would replace a file of Linux"):
        sync(lab.linux, lab.tree)
    assert lab.read("kernel/fair.c") == "fair\n"


def test_pristine_files_follow_the_users_own_tree(lab, tmp_path):
    upstream = tmp_path / "upstream"
    write(upstream / "kernel/core.c", CORE)
    lab.patch("0001.patch", "kernel/core.c", CORE, CORE.replace("line 5\n", "five\n"))
    sync(lab.linux, lab.tree, upstream)
    write(upstream / "kernel/core.c", CORE + "edited by the user\n")
    sync(lab.linux, lab.tree, upstream)
    assert lab.read("kernel/core.c").endswith("edited by the user\n")
    assert "five\n" in lab.read("kernel/core.c")
