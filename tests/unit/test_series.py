# SPDX-License-Identifier: GPL-2.0
"""saakm package series: git am makes of the mails what sync() makes of linux/."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_package import package
from test_sync import CORE, Lab, write

from saakm.base import git, paths
from saakm.base.errors import SaakmError
from saakm.builder import source
from saakm.builder.sync import copy_pristine, patches_in_order, sync, touched
from saakm.package.series import prepare, write_series

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n"


def change(text: str, line: int, to: str) -> str:
    return text.replace(f"line {line}\n", f"{to}\n")


@pytest.fixture(autouse=True)
def sender(monkeypatch):
    # Whoever runs this may sign his commits, or have hooks.
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada Lovelace")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")


@pytest.fixture
def lab(tmp_path):
    """Three patches of which the second adds the class."""
    lab = Lab(tmp_path)
    write(lab.tree / "Makefile", MAKEFILE)
    mended = change(CORE, 5, "mended")
    classy = change(mended, 9, "class")
    steps = [("mend", CORE, mended), ("class", mended, classy)]
    steps.append(("hook", classy, change(classy, 30, "hook")))
    for number, (name, old, new) in enumerate(steps, 1):
        file = f"{number:04}-{name}.patch"
        lab.patch(file, "kernel/core.c", old, new)
        patch = lab.linux / "patches" / file
        write(patch, f"sched: add the {name}\n\nIt is needed.\n---\n{patch.read_text()}")
    return lab


def applied(mails: list[Path], tree: Path) -> dict[str, bytes]:
    """The files of a repository of `tree` after git am."""
    commands = [["init", "-q"], ["add", "-A"], ["commit", "-qm", "Linux"]]
    commands.append(["am", "-q", "--signoff", "--empty=drop", *map(str, mails)])
    for command in commands:
        done = subprocess.run(["git", *command], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return contents(tree)


def contents(tree: Path) -> dict[str, bytes]:
    files = (path for path in tree.rglob("*") if path.is_file())
    return {str(f.relative_to(tree)): f.read_bytes() for f in files if ".git" not in f.parts}


def test_git_am_makes_what_the_builder_makes(lab, tmp_path):
    pristine = shutil.copytree(lab.tree, tmp_path / "pristine")
    mails = write_series(lab.linux, lab.tree, tmp_path / "mails")
    sync(lab.linux, lab.tree)
    assert applied(mails, pristine) == contents(lab.tree)
    log = ["git", "log", "--reverse", "--format=%s%n%b"]
    said = subprocess.run(log, cwd=pristine, capture_output=True, text=True, check=True).stdout
    assert re.findall("sched: add the (.*)", said) == ["mend", "class", "hook"]
    assert said.count("It is needed.\n\nSigned-off-by: Ada Lovelace <ada@example.org>") == 3


def test_new_files_go_with_the_class(lab, tmp_path):
    _, mend, the_class, _ = write_series(lab.linux, lab.tree, tmp_path / "mails")
    assert the_class.name == "0002-sched-add-the-class.patch"
    text = the_class.read_text()
    assert "Subject: [PATCH 2/3] sched: add the class\n" in text
    assert re.search(r"^---\n kernel/core.c .*\n kernel/saakm/class.c .*\n 2 files", text, re.M)
    assert "saakm" not in mend.read_text()


def test_the_cover_letter_counts_files_of_linux_and_new_ones(lab, tmp_path):
    cover = write_series(lab.linux, lab.tree, tmp_path / "mails")[0].read_text()
    assert "Subject: [PATCH 0/3] sched: schedulers as kernel modules (SaaKM)\n" in cover
    assert "for Linux 6.12.117. In files that it has:\n 1 file changed, 3 insertions" in cover
    assert "in the list below:\n 1 file changed, 1 insertion" in cover
    assert re.search(r"^ kernel/core.c .*\n kernel/saakm/class.c .*\n 2 files", cover, re.M)
    assert "***" not in cover


def test_mails_are_the_same_of_a_tree_that_is_patched(lab, tmp_path):
    before = write_series(lab.linux, lab.tree, tmp_path / "before")
    sync(lab.linux, lab.tree)
    after = write_series(lab.linux, lab.tree, tmp_path / "after")
    assert [mail.read_bytes() for mail in before] == [mail.read_bytes() for mail in after]


def test_settings_of_the_caller_do_not_matter(lab, tmp_path, monkeypatch):
    before = write_series(lab.linux, lab.tree, tmp_path / "before")
    settings = tmp_path / "gitconfig"
    write(settings, "[diff]\nnoprefix = true\n[format]\nsignOff = true\nnumbered = false\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    after = write_series(lab.linux, lab.tree, tmp_path / "after")
    assert [mail.read_bytes() for mail in before] == [mail.read_bytes() for mail in after]


def test_mails_without_a_sender_are_refused(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(git, "say", lambda *arguments: "")
    with pytest.raises(SaakmError, match="no sender"):
        write_series(lab.linux, lab.tree, tmp_path / "mails")
    assert not (tmp_path / "mails").exists()


@pytest.mark.parametrize("address", ["", "ada", "ada lovelace", "a@b c"])
def test_a_sender_has_an_address(lab, tmp_path, monkeypatch, address):
    monkeypatch.setattr(git, "say", lambda *arguments: f"Ada <{address}> 1700000000 +0000\n")
    with pytest.raises(SaakmError, match="no sender"):
        prepare(tmp_path / "mails")


def test_without_a_commit_the_date_is_that_of_the_newest_file(lab, tmp_path, monkeypatch):
    say = git.say
    monkeypatch.setattr(git, "say", lambda *words: "" if words[0] == "log" else say(*words))
    for file in lab.linux.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    mail = write_series(lab.linux, lab.tree, tmp_path / "mails")[1]
    assert "\nDate: Tue, 14 Nov 2023 22:13:20 +0000\n" in mail.read_text()


def test_places_that_cannot_be_written_are_refused(lab, tmp_path):
    write(tmp_path / "file", "")
    with pytest.raises(SaakmError, match="cannot write into"):
        prepare(tmp_path / "file")
    (tmp_path / "mails" / "0000-cover-letter.patch").mkdir(parents=True)
    with pytest.raises(SaakmError, match="cannot write"):
        write_series(lab.linux, lab.tree, tmp_path / "mails")


def test_one_patch_is_called_class(lab, tmp_path):
    (lab.linux / "patches/0002-class.patch").rename(lab.linux / "patches/0002-my-class.patch")
    with pytest.raises(SaakmError, match="which patch the new files belong to"):
        write_series(lab.linux, lab.tree, tmp_path / "mails")


def test_a_patch_that_does_not_fit_is_named(lab, tmp_path):
    write(lab.tree / "kernel/core.c", change(CORE, 30, "another"))
    with pytest.raises(SaakmError, match="0003-hook.patch does not fit"):
        write_series(lab.linux, lab.tree, tmp_path / "mails")


def test_other_patches_are_not_mixed_in(lab, tmp_path):
    out = tmp_path / "mails"
    write_series(lab.linux, lab.tree, out)
    write_series(lab.linux, lab.tree, out)
    write(out / "0002-of-another-day.patch", "")
    with pytest.raises(SaakmError, match="0002-of-another-day.patch"):
        write_series(lab.linux, lab.tree, out)


@pytest.mark.skipif(not source.TARBALL.exists(), reason=f"there is no {source.TARBALL}")
def test_the_series_applies_to_linux(tmp_path):
    mails = [Path(m) for m in json.loads(package("series", "--json", "--out", str(tmp_path / "m")))]
    patches = patches_in_order(paths.LINUX)
    assert len(mails) == len(patches) + 1
    _, tree = source.default_tree()
    linux, own = tmp_path / "linux", tmp_path / "key" / "linux"
    for name in {name for patch in patches for name in touched(patch)}:
        copy_pristine(name, tree, linux / name)
    shutil.copytree(linux, own)
    sync(paths.LINUX, own)
    assert applied(mails, linux) == contents(own)
