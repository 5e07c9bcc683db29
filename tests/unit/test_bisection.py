# SPDX-License-Identifier: GPL-2.0
"""tests/series: what it would build of each step, and what it says of a step that fails."""

import argparse

import bisection
import pytest
from test_series import MAKEFILE, change
from test_sync import CORE, Lab, write

from saakm.base import paths
from saakm.base.errors import SaakmError

OPTION = "config SCHED_CLASS_SAAKM\n"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A mend, the class, and a hook; builds only note the files that they find."""
    lab = Lab(tmp_path)
    lab.built, lab.broken = [], None
    write(lab.tree / "Makefile", MAKEFILE)
    write(lab.tree / "kernel/Kconfig.preempt", "config PREEMPT\n")
    mended = change(CORE, 5, "mended")
    lab.patch("0001-mend.patch", "kernel/core.c", CORE, mended)
    lab.patch(
        "0002-class.patch",
        "kernel/Kconfig.preempt",
        "config PREEMPT\n",
        f"config PREEMPT\n{OPTION}",
    )
    lab.patch("0003-hook.patch", "kernel/core.c", mended, change(mended, 30, "hook"))
    for patch in (lab.linux / "patches").iterdir():
        write(patch, f"sched: {patch.stem[5:]}\n\nIt is needed.\n---\n{patch.read_text()}")
    home = tmp_path / "home"
    monkeypatch.setattr(paths, "LINUX", lab.linux)
    monkeypatch.setattr(bisection, "default_tree", lambda: ("key", lab.tree))
    for name, place in (("HOME", "."), ("TREE", "linux"), ("REPOSITORY", "repository")):
        monkeypatch.setattr(bisection, name, home / place)
    monkeypatch.setattr(bisection, "KNOWN", home / "known.json")
    monkeypatch.setattr(bisection.cache, "refuse_unusable", lambda: None)
    monkeypatch.setattr(bisection, "build", lambda variant, jobs: note(lab, variant))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada Lovelace")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    return lab


def note(lab, variant):
    core = (bisection.TREE / "kernel/core.c").read_text()
    seen = [word for word in ("mended", "hook") if word in core]
    seen += ["class"] * (bisection.TREE / "kernel/saakm/class.c").exists()
    lab.built.append((variant.name, "saakm" in variant.configs, seen))
    if lab.broken in seen:
        raise SaakmError("building failed", "it is broken", "mend it")


def run(again=False):
    return bisection.run(argparse.Namespace(again=again, jobs=None))


def test_each_step_is_built_off_and_from_the_class_on_with_the_option(lab, capsys):
    assert run() == 0
    assert lab.built == [
        ("off", False, ["mended"]),
        ("ext", False, ["mended"]),
        ("off", False, ["mended", "class"]),
        ("on", True, ["mended", "class"]),
        ("ext", True, ["mended", "class"]),
        ("off", False, ["mended", "hook", "class"]),
        ("on", True, ["mended", "hook", "class"]),
        ("ext", True, ["mended", "hook", "class"]),
    ]
    assert "series: 8 builds in 0 min\nseries: all 3 steps build\n" in capsys.readouterr().out


def test_what_builds_is_known_until_something_before_it_changes(lab, capsys):
    run()
    lab.built.clear()
    assert run() == 0 and not lab.built
    assert "series: 0 builds in 0 min, and 8 that were known\n" in capsys.readouterr().out
    write(lab.linux / "kernel/saakm/class.c", "better class\n")
    assert run() == 0
    assert [name for name, _, _ in lab.built] == ["off", "on", "ext"] * 2
    assert (bisection.TREE / "kernel/saakm/class.c").read_text() == "better class\n"


def test_a_step_that_does_not_build_is_named(lab, capsys):
    lab.broken = "hook"
    assert run() == 1
    end = capsys.readouterr().out.partition("min\n")[2]
    assert "of 3 steps, these do not build:\n  3/3 off sched: hook\n" in end.replace(
        "   3/", "  3/"
    )
    lab.broken = None
    lab.built.clear()
    assert run() == 0
    assert {tuple(seen) for _, _, seen in lab.built} == {("mended", "hook", "class")}


def test_the_caches_own_tree_stays_as_it_is(lab):
    before = lab.contents()
    run()
    assert lab.contents() == before
