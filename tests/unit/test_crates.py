# SPDX-License-Identifier: GPL-2.0
"""Schedulers from crates.io: sources that we patch, and options behind a name."""

import io
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from saakm.base import paths
from saakm.base.errors import BadInput, SaakmError
from saakm.builder import crates, peers
from saakm.commands import under
from saakm.lab.bench import schedulers
from saakm.lab.cost import measure
from saakm.lab.cost.operations import chosen_schedulers, is_policy

NEWER = "scx_lavd-1.1.4"
PATCH = """\
Why.
---
--- a/src/main.rs
+++ b/src/main.rs
@@ -1 +1 @@
-{}
+new
"""


@pytest.fixture
def crate(monkeypatch, tmp_path):
    """One whose sources cargo has, and a cargo that installs nothing."""
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    packed = tmp_path / "cargo/registry/cache/index/nosuch-1.0.crate"
    packed.parent.mkdir(parents=True)
    with tarfile.open(packed, "w:gz") as archive:
        about = tarfile.TarInfo("nosuch-1.0/src/main.rs")
        about.size = 4
        archive.addfile(about, io.BytesIO(b"old\n"))
    monkeypatch.setattr(crates.subprocess, "run", _without_cargo(crates.subprocess.run))
    patch = tmp_path / "nosuch.patch"
    patch.write_text(PATCH.format("old"))
    digest = sha256(packed.read_bytes()).hexdigest()
    return crates.Crate("nosuch", "1.0", patch=patch, sha256=digest)


def _without_cargo(run):
    def instead(command, **how):
        return run(["true"] if command[0] == "cargo" else command, **how)

    return instead


def test_the_sources_are_patched_and_installed(monkeypatch, crate):
    calls = []

    def install(command, log, what, target, cwd):
        calls.append(command)
        root = Path(command[command.index("--root") + 1])
        (root / "bin").mkdir()
        (root / "bin/nosuch").touch()

    monkeypatch.setattr(crates, "run_cargo", install)
    program = crates.build(crate)
    assert program.parent.parent.name == crate.build
    [command] = calls
    sources = Path(command[-1])
    assert command[:2] == ["install", "--locked"] and command[-2] == "--path"
    assert (sources / "src/main.rs").read_text() == "new\n"
    assert crates.build(crate) == program and len(calls) == 1


def test_another_patch_is_another_build(crate):
    before = crate.build
    assert before.startswith("nosuch-1.0-")
    crate.patch.write_text(PATCH.format("older"))
    assert crate.build != before
    assert replace(crate, patch=None).build == "nosuch-1.0"


def test_a_patch_that_does_not_fit(crate):
    crate.patch.write_text(PATCH.format("other"))
    with pytest.raises(SaakmError, match="nosuch 1.0 cannot be built") as error:
        crates.build(crate)
    assert "FAILED" in error.value.why


def test_sources_of_another_sum_are_none(crate):
    with pytest.raises(SaakmError, match="no sources of nosuch 1.0") as error:
        crates.build(replace(crate, sha256="0" * 64))
    assert "000" in error.value.why and "nosuch@1.0" in error.value.next_step


def test_a_name_and_its_options():
    assert peers.apart(NEWER) == (NEWER, ())
    assert peers.apart(f"{NEWER}  --virt-llc=4-4 --per-cpu-dsq") == (
        NEWER, ("--virt-llc=4-4", "--per-cpu-dsq"))  # fmt: skip
    assert peers.apart(f"{NEWER} --cpu-pref-order '0, 1'")[1] == ("--cpu-pref-order", "0, 1")
    assert peers.apart("user:rustland --no-burst") == ("user:rustland --no-burst", ())
    assert peers.apart("my/policies --old/lavd")[1] == ()
    with pytest.raises(BadInput, match="no command line"):
        peers.apart(f"{NEWER} '--per-cpu-dsq")
    with pytest.raises(BadInput, match="'lavd' takes no options"):
        peers.apart("lavd --virt-llc=4-4")


def test_applications_under_one_with_options(monkeypatch, tmp_path):
    program = tmp_path / "scx_lavd-1.1.4-abc" / "bin" / "scx_lavd"
    monkeypatch.setattr(peers, "build", lambda name: program)
    words = [NEWER, f"{NEWER}  --virt-llc=4-4", f"{NEWER} --virt-llc=4-4 --log-level 'a b:/c'"]
    plain, split, quoted = (schedulers.find(named) for named in schedulers.chosen(words))
    assert (plain.name, split.name, quoted.name) == (NEWER, f"{NEWER} --virt-llc=4-4", words[2])
    assert split.build == "scx_lavd-1.1.4-abc" and split.number == 7
    assert f"{program} --partial --virt-llc=4-4" in split.prefix
    assert f"{program} --partial --virt-llc=4-4 --log-level 'a b:/c'" in quoted.prefix
    # 1.0.11 would take all threads of the guest.
    with pytest.raises(SaakmError, match="no scheduler 'scx_lavd'"):
        schedulers.chosen(["scx_lavd"])


def test_a_command_under_one_with_options(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "build", lambda name: tmp_path / "scx_lavd")
    chosen = under.chosen(f"{NEWER} --per-cpu-dsq")
    assert chosen.is_partial and chosen.has_starter and chosen.policy is None
    assert (chosen.name, chosen.title) == (NEWER, f"{NEWER} --per-cpu-dsq")
    assert f"{tmp_path}/scx_lavd --partial --per-cpu-dsq" in chosen.words(["true"])


def test_costs_of_one_with_options():
    words = ["scx_lavd", f"{NEWER} --virt-llc=4-4"]
    assert chosen_schedulers(words, patched=True) == words
    assert not any(map(is_policy, words))
    assert measure.loaded_policies(words[1], measure.Conditions()) == []
    plain, optional = (measure.time_limit(w, [], measure.Conditions()) for w in ("fifo", words[1]))
    assert optional > plain
    with pytest.raises(BadInput, match="'scx_fifo' takes no options"):
        chosen_schedulers(["scx_fifo --x"], patched=True)


def test_what_the_measuring_guest_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "_refuse_kernel", lambda target, scheduler: None)
    monkeypatch.setattr(measure, "policy_files", lambda target, names: [])
    monkeypatch.setattr(measure, "compile_static", lambda *what: tmp_path / "cost")
    monkeypatch.setattr(peers, "build", lambda name: Path("/bin/true"))
    target = SimpleNamespace(vmlinux=tmp_path / "vmlinux")
    conditions = measure.Conditions()
    guest = measure.guest_of(target, f"{NEWER} --virt-llc=4-4 --per-cpu-dsq", ["pipe"], conditions)
    assert guest.arguments[1] == "scheduler=scx_lavd"
    assert 'options="--virt-llc=4-4 --per-cpu-dsq"' in guest.arguments
    with pytest.raises(BadInput, match="cannot be measured"):
        measure.guest_of(target, f"{NEWER} --cpu-pref-order '0, 1'", ["pipe"], conditions)
