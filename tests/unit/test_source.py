# SPDX-License-Identifier: GPL-2.0
import hashlib
import shutil
import subprocess

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder import pinned, source
from saakm.commands import doctor

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


# --- the tarball is the pinned one, or it is said ---


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Gives it a tarball of such a content, and a dpkg that says of which version it is."""
    tarball = tmp_path / "linux-source-6.12.tar.xz"
    monkeypatch.setattr(source, "TARBALL", tarball)
    monkeypatch.setattr(paths, "TREES", tmp_path / "trees")
    monkeypatch.setattr(pinned, "FILE", tmp_path / "pin.txt")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    dpkg = tmp_path / "dpkg-query"

    def set_up(content, version):
        shutil.rmtree(tmp_path / "packed", ignore_errors=True)
        tree = kernel_tree(tmp_path / "packed" / "linux", 12)
        (tree / "README").write_text(content)
        tar = ["tar", "-cJf", tarball, "--mtime=@0", "--sort=name", "-C", tree.parent, "linux"]
        subprocess.run(tar, check=True)
        answers = f'-S) echo "linux-source-6.12: $2" ;; -W) printf %s {version} ;;'
        dpkg.write_text(f"#!/bin/sh\ncase $1 in {answers if version else ''} esac\n")
        dpkg.chmod(0o755)
        return hashlib.sha256(tarball.read_bytes()).hexdigest()

    digest = set_up("first", "6.12.5-1")
    pinned.FILE.write_text(f"# comment\nlinux-source-6.12 6.12.5-1 {digest}\n")
    return set_up


def test_the_pinned_tarball_is_taken_without_a_word(machine):
    key, tree = source.default_tree()
    assert (tree / "README").read_text() == "first"
    assert pinned.pin().sha256.startswith(key) and pinned.instead(key) == ""
    assert doctor._source().ok


def test_the_pinned_version_with_another_hash_is_refused(machine):
    machine("forged", "6.12.5-1")
    with pytest.raises(SaakmError, match="is not that of 6.12.5-1") as error:
        source.default_tree()
    assert pinned.pin().sha256 in error.value.why
    assert "--reinstall linux-source-6.12=6.12.5-1" in error.value.next_step
    assert not list(paths.TREES.glob("*/linux"))


@pytest.mark.parametrize("version", ["6.12.6-1", ""])
def test_another_version_is_taken_and_said(machine, version):
    machine("next", version)
    key, tree = source.default_tree()
    assert (tree / "README").read_text() == "next"
    said = pinned.instead(key)
    assert f"from {version or 'another tarball'} instead of the pinned 6.12.5-1" in said
    finding = doctor._source()
    assert not finding.ok and not finding.needed and "6.12.5-1" in finding.fix


def test_the_hash_of_another_version_is_remembered(machine):
    machine("next", "6.12.6-1")
    source.default_tree()
    machine("first", "6.12.5-1")
    source.default_tree()
    machine("forged", "6.12.6-1")
    with pytest.raises(SaakmError, match="is not that of 6.12.6-1"):
        source.default_tree()
