# SPDX-License-Identifier: GPL-2.0
import pytest

from saakm import paths, source
from saakm.errors import SaakmError

MAKEFILE = "# SPDX\nVERSION = 6\nPATCHLEVEL = {}\nSUBLEVEL = 5\nEXTRAVERSION =\n"


def kernel_tree(root, patchlevel):
    root.mkdir(parents=True)
    (root / "Makefile").write_text(MAKEFILE.format(patchlevel))
    return root


def test_6_12_is_taken(tmp_path):
    assert source.check_series(kernel_tree(tmp_path / "t", 12)) == "6.12.5"


@pytest.mark.parametrize("patchlevel", [1, 11, 120])
def test_other_series_are_refused(tmp_path, patchlevel):
    with pytest.raises(SaakmError, match=rf"is Linux 6\.{patchlevel}\.5"):
        source.check_series(kernel_tree(tmp_path / "t", patchlevel))


def test_what_is_no_kernel_is_refused(tmp_path):
    with pytest.raises(SaakmError, match="not a kernel tree"):
        source.check_series(tmp_path)


def test_a_copy_leaves_the_users_tree_alone_and_drops_what_was_built(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "TREES", tmp_path / "trees")
    mine = kernel_tree(tmp_path / "mine", 12)
    (mine / ".config").write_text("CONFIG_A=y\n")
    (mine / "core.c").write_text("one\n")
    _, tree = source.copied_tree(mine)
    (tree / "core.c").write_text("changed in the copy\n")
    assert (mine / "core.c").read_text() == "one\n"
    assert not (tree / ".config").exists()
    (mine / "core.c").write_text("two, edited by the user\n")
    source.copied_tree(mine)
    assert (tree / "core.c").read_text() == "two, edited by the user\n"
