# SPDX-License-Identifier: GPL-2.0
"""Checkouts that share a cache do not share what they may have in different forms."""

import os
import shutil
from pathlib import Path

import pytest

from saakm.base import locks, paths
from saakm.base.errors import SaakmError
from saakm.base.files import write_stamp
from saakm.builder import cargo, ctl, leftovers, modules
from saakm.builder.kernel import Kernel

LONG_AGO = (0, 0)


class Checkouts:
    """Two, of one policy and one program each. Compilers only copy what they read."""

    def __init__(self, tmp_path, monkeypatch):
        self.place, self._monkeypatch = tmp_path, monkeypatch
        self.kernel = Kernel("base", tmp_path / "cache/build/key-base", "inputs")
        self.built = []
        monkeypatch.setattr(paths, "CARGO", tmp_path / "cache/cargo")
        monkeypatch.setattr(paths, "LOGS", tmp_path / "cache/logs")
        monkeypatch.setattr(modules, "run_logged", self._make)
        monkeypatch.setattr(cargo, "run_logged", self._cargo)
        for name in ("one", "other"):
            self.write(f"{name}/policies/mine/Kbuild", "obj-m := mine.o\n")
            self.write(f"{name}/policies/mine/mine.c", f"of {name}")
            self.write(f"{name}/crates/main.rs", f"of {name}")

    def write(self, file, text):
        path = self.place / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def work_in(self, name):
        self._monkeypatch.setattr(paths, "REPO", self.place / name)
        self._monkeypatch.setattr(paths, "POLICIES", self.place / name / "policies")
        self._monkeypatch.setattr(paths, "CRATES", self.place / name / "crates")

    def build(self, name, source=None):
        self.work_in(name)
        (module,) = modules.build_modules(
            self.kernel, sources=[source or self.place / name / "policies/mine"]
        )
        return module

    def build_saakmctl(self, name):
        self.work_in(name)
        return ctl.build_saakmctl()

    def _make(self, command, log, what, env):
        copy = Path(next(word for word in command if word.startswith("M="))[2:])
        self.built.append(copy)
        (copy / "mine.ko").write_text((copy / "mine.c").read_text())

    def _cargo(self, command, log, what, env, cwd, **_):
        """As cargo does it: one file under two names, and what has a fingerprint is not built."""
        release = Path(env["CARGO_TARGET_DIR"]) / "release"
        program, fingerprint = release / "deps/saakmctl-01", release / ".fingerprint/saakmctl-01"
        if not program.exists() or not fingerprint.exists():
            self.built.append(cwd)
            fingerprint.mkdir(parents=True, exist_ok=True)
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text((cwd / "main.rs").read_text())
        (release / "saakmctl").unlink(missing_ok=True)
        (release / "saakmctl").hardlink_to(program)


@pytest.fixture
def checkouts(tmp_path, monkeypatch):
    return Checkouts(tmp_path, monkeypatch)


def test_each_has_its_own_module(checkouts):
    one, other = checkouts.build("one"), checkouts.build("other")
    assert one.read_text() == "of one" and other.read_text() == "of other"
    # And neither takes the other's for one that is to be built again.
    assert checkouts.build("one") == one and checkouts.build("other") == other
    assert len(checkouts.built) == 2


def test_each_has_its_own_of_a_policy_elsewhere(checkouts):
    """It is built with the headers of the checkout."""
    checkouts.write("elsewhere/mine/Kbuild", "obj-m := mine.o\n")
    source = checkouts.write("elsewhere/mine/mine.c", "of nobody").parent
    for name in ("one", "other"):
        checkouts.write(f"{name}/policies/lib/heap.h", f"of {name}")
    for name in ("one", "other", "one"):
        header = checkouts.build(name, source).parent / "lib/heap.h"
        assert header.read_text() == f"of {name}"
    assert len(checkouts.built) == 2


def test_each_has_its_own_program(checkouts):
    one, other = checkouts.build_saakmctl("one"), checkouts.build_saakmctl("other")
    assert one.read_text() == "of one" and other.read_text() == "of other"
    assert checkouts.build_saakmctl("one") == one and len(checkouts.built) == 2


def test_who_has_the_same_shares_the_program(checkouts):
    shutil.copy(checkouts.place / "one/crates/main.rs", checkouts.place / "other/crates")
    assert checkouts.build_saakmctl("one") == checkouts.build_saakmctl("other")
    assert len(checkouts.built) == 1


def test_a_truncated_program_is_built_again(checkouts):
    """Also what cargo keeps of it."""
    program = checkouts.build_saakmctl("one")
    for file in (program, paths.CARGO / "release/saakmctl"):
        file.write_text("of o")
    assert checkouts.build_saakmctl("one").read_text() == "of one"


def test_a_program_that_nobody_uses_goes(checkouts):
    one, other = checkouts.build_saakmctl("one"), checkouts.build_saakmctl("other")
    for used in (one, other):
        os.utime(used.with_name("saakm.stamp"), LONG_AGO)
    checkouts.build_saakmctl("one")  # which is a use
    checkouts.write("other/crates/main.rs", "another")
    checkouts.build_saakmctl("other")
    assert one.exists() and not other.exists()


def test_a_build_removes_nothing_but_its_own_directory(checkouts, monkeypatch):
    """Whatever the module is called."""
    neighbour = checkouts.write("cache/build/key-base/precious", "of another")
    checkouts.work_in("one")
    monkeypatch.setattr(modules, "module_name", lambda _: "../../../precious")
    with pytest.raises(SaakmError, match="there is no module"):
        checkouts.build("one")
    assert neighbour.exists() and checkouts.built


def age(module):
    """As if nobody had been there for long; and none of its time is noted at all."""
    for path in (module.parent, module.parents[1] / leftovers.LOCK):
        os.utime(path, LONG_AGO)


@pytest.mark.parametrize("used", ["long ago", "today", "now"])
def test_modules_of_a_checkout_that_is_gone(checkouts, used):
    module = checkouts.build("other")
    shutil.rmtree(checkouts.place / "other")
    lock = module.parents[1] / leftovers.LOCK
    checkouts.work_in("one")
    assert lock.parent != checkouts.kernel.modules  # else it would wait for itself
    if used == "now":
        with locks.locked(lock):
            age(module)
            checkouts.build("one")
    else:
        if used == "long ago":
            age(module)
        checkouts.build("one")
    assert module.exists() == (used != "long ago")


def test_modules_of_a_checkout_that_is_there_stay(checkouts):
    module = checkouts.build("other")
    age(module)
    checkouts.build("one")
    assert module.exists()


@pytest.mark.parametrize("used", ["long ago", "today"])
def test_the_module_of_a_policy_that_is_gone(checkouts, used):
    checkouts.write("elsewhere/mine/Kbuild", "obj-m := mine.o\n")
    source = checkouts.write("elsewhere/mine/mine.c", "").parent
    module = checkouts.build("one", source)
    log = module.parent.with_name(f"{module.parent.name}.log")
    log.touch()
    shutil.rmtree(source)
    if used == "long ago":
        age(module)
    ours = checkouts.build("one")
    gone = used == "long ago"
    assert (not module.parent.exists(), not log.exists()) == (gone, gone) and ours.exists()


@pytest.mark.parametrize("used", ["long ago", "today"])
def test_what_an_earlier_version_has_left(checkouts, used):
    """It had all modules under one lock."""
    root = checkouts.kernel.modules.parent
    old = checkouts.write(root.relative_to(checkouts.place) / "fifo/fifo.ko", "old")
    write_stamp(old.with_name("saakm.stamp"), "inputs", old)
    (root / leftovers.LOCK).touch()
    if used == "long ago":
        os.utime(root / leftovers.LOCK, LONG_AGO)
    checkouts.build("one")
    assert old.exists() == (used == "today")


@pytest.mark.parametrize("name", ["user-notes", "fifo", "0123456789ab"])
@pytest.mark.parametrize("lock", [None, "lock", "{name}/lock"])
def test_what_is_not_certainly_ours_stays(checkouts, name, lock):
    """Such as the directory of a checkout that has made it just now."""
    root = checkouts.kernel.modules.parent
    (root / name).mkdir(parents=True)
    if lock:
        (root / lock.format(name=name)).touch()
        os.utime(root / lock.format(name=name), LONG_AGO)
    os.utime(root / name, LONG_AGO)
    checkouts.build("one")
    assert (root / name).is_dir()


def test_a_checkout_whose_lock_is_not_there_yet_stays(checkouts):
    module = checkouts.build("other")
    age(module)
    (module.parents[1] / leftovers.LOCK).unlink()
    shutil.rmtree(checkouts.place / "other")
    checkouts.build("one")
    assert module.exists()


def noted(checkouts, write):
    """Whether another's module stays when `write` has changed its note."""
    module = checkouts.build("other")
    write(module.parents[1] / "saakm.checkout")
    age(module)
    checkouts.build("one")
    return module.exists()


@pytest.mark.parametrize(
    "text",
    [b"{other}\n", b"\xff\xfe", b"/" + b"x" * 5000, b"", b"gone", b"/nobody/\0", b"/gone"],
)
def test_a_note_that_makes_no_sense_keeps_it(checkouts, text):
    text = text.replace(b"{other}", str(checkouts.place / "other").encode())
    assert noted(checkouts, lambda note: note.write_bytes(text))


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_note_that_is_no_file_keeps_it(checkouts, make):
    assert noted(checkouts, lambda note: (note.unlink(), make(note)))


@pytest.mark.parametrize("fault", [PermissionError, OSError])
def test_what_may_not_be_looked_at_is_not_gone(checkouts, monkeypatch, fault):
    module = checkouts.build("other")
    age(module)
    look = Path.stat

    def stat(path, **options):
        if path == checkouts.place / "other":
            raise fault("of a test")
        return look(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    checkouts.build("one")
    assert module.exists()


def test_what_was_interrupted_is_removed(checkouts):
    half = checkouts.kernel.modules.parent / f".0123456789ab.going.{'0' * 16}"
    half.mkdir(parents=True)
    checkouts.build("one")
    assert not half.exists()


def test_it_is_locked_while_it_is_removed(checkouts, monkeypatch):
    module = checkouts.build("other")
    lock = module.parents[1] / leftovers.LOCK
    shutil.rmtree(checkouts.place / "other")
    age(module)
    seen = []
    monkeypatch.setattr(leftovers, "_remove", lambda path: seen.append(locks.is_locked(lock)))
    checkouts.build("one")
    assert seen == [True]


def test_who_waited_for_what_was_removed_makes_another(tmp_path, monkeypatch):
    """Else he would hold the lock of a directory that is not there."""
    lock = tmp_path / "it/lock"
    wait, removed = locks._wait_for, []

    def removed_meanwhile(file, path):
        wait(file, path)
        if not removed:
            removed.append(shutil.rmtree(path.parent))

    monkeypatch.setattr(locks, "_wait_for", removed_meanwhile)
    with locks.locked(lock):
        assert removed and lock.exists() and locks.is_locked(lock)
