# SPDX-License-Identifier: GPL-2.0
"""Kernels that are not ours, without booting one: pins, what is refused, what is told apart."""

import gzip
import hashlib
import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console
from typer.testing import CliRunner

from saakm.base import own_apt, paths
from saakm.base.errors import BadInput, SaakmError
from saakm.base.files import write_stamp
from saakm.base.own_apt import NotFetched
from saakm.builder import given, kconfig, pinned, ready, unpatched
from saakm.builder.about import About, about
from saakm.cli import app
from saakm.commands import under
from saakm.lab.bench import comparison, figures
from saakm.lab.bench.columns import column_of, refuse_mixture
from saakm.lab.cost import baseline, sections
from saakm.lab.cost.operations import measurable_operations
from saakm.lab.report import inputs
from saakm.model.cost_rows import Row
from saakm.model.results import Linux, RunRecord, Shape
from saakm.model.schema import plain
from saakm.vm import features
from saakm.vm.options import VmOptions

BANNER = b"\0Linux version %s (me@here) (gcc 12) #1 SMP PREEMPT today\n\0"
PINNED = "7.3.4-1~bpo13+1"


def kernel(directory, release=b"7.3.4", *, more=b"", config="", embedded=""):
    """A file that says what a vmlinux says."""
    packed = b"IKCFG_ST" + gzip.compress(embedded.encode()) + b"IKCFG_ED" if embedded else b""
    (directory / "vmlinux").write_bytes(BANNER % release + more + packed + b"\0rest")
    if config:
        (directory / ".config").write_text(config)
    return directory / "vmlinux"


# --- what is pinned ---


def test_a_series_has_its_pin_its_suite_and_its_options():
    assert pinned.pin().package == "linux-source-6.12" and unpatched.series() == ["7.3"]
    for pin in pinned.pins():
        assert re.fullmatch("[0-9a-f]{64}", pin.sha256)
        assert pin.version.startswith(f"{pin.series}.")


@pytest.mark.parametrize("series", unpatched.series())
def test_a_series_has_the_same_machine_and_not_our_class(series):
    (pin,) = (pin for pin in pinned.pins() if pin.series == series)
    wanted = kconfig.wanted(unpatched._fragments(pin))
    assert wanted["CONFIG_SCHED_CLASS_SAAKM"][0] == "n"
    assert wanted["CONFIG_SCHED_CACHE"][0] == "y" and wanted["CONFIG_PREEMPT"][0] == "y"


# --- how its source comes ---


@pytest.fixture
def debian(tmp_path, monkeypatch):
    """A cache of one's own, and a Debian that has the package in such versions."""
    trees = tmp_path / "trees"
    monkeypatch.setattr(paths, "TREES", trees)
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(own_apt, "codename", lambda what: "bookworm")
    monkeypatch.setattr(own_apt, "mirror", lambda name: [("http://mirror/debian", "bookworm")])
    monkeypatch.setattr(pinned, "FILE", tmp_path / "pin.txt")
    found = Debian(tmp_path)
    monkeypatch.setattr(unpatched, "OwnApt", found)
    found.pin()
    return found


class Debian:
    def __init__(self, directory):
        self._directory, self.downloads = directory, []
        self.has([PINNED])

    def has(self, versions):
        self._versions = versions

    def __call__(self, scratch, sources, log):
        (source,) = sources
        assert source.suites == ("trixie-backports",)
        return self

    def update(self):
        pass

    def versions(self, package):
        return self._versions

    def download(self, words, on_line, directory):
        self.downloads.append(words[-1])
        (directory / "linux-source-7.3_0_all.deb").write_bytes(self._package(words[-1]))

    def _package(self, named):
        root = self._directory / f"package-{named.partition('=')[2]}"
        if not root.exists():
            (root / "DEBIAN").mkdir(parents=True)
            (root / "usr/src").mkdir(parents=True)
            (root / "DEBIAN/control").write_text(
                f"Package: linux-source-7.3\nVersion: {named.partition('=')[2]}\n"
                "Architecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: a kernel\n"
            )
            tree = root / "linux"
            tree.mkdir()
            (tree / "Makefile").write_text(named)
            tarball = root / "usr/src/linux-source-7.3.tar.xz"
            subprocess.run(["tar", "-cJf", tarball, "-C", root, "linux"], check=True)
            (tree / "Makefile").unlink()
            tree.rmdir()
            subprocess.run(["dpkg-deb", "-b", root, f"{root}.deb"], check=True, capture_output=True)
        return Path(f"{root}.deb").read_bytes()

    def pin(self, digest=""):
        digest = digest or hashlib.sha256(self._package(f"linux-source-7.3={PINNED}")).hexdigest()
        pinned.FILE.write_text(f"linux-source-7.3 {PINNED} {digest} trixie-backports\n")


def tree():
    (pin,) = pinned.pins()
    return unpatched._unpacked(pin) or unpatched._fetched(pin)


def test_the_pinned_version_is_taken_without_a_word_and_once(debian, capsys):
    debian.has(["7.3.9-1~bpo13+1", PINNED])
    (pin,) = pinned.pins()
    killed = paths.TREES / pin.sha256[:12] / ".of-one-that-was-killed"
    killed.mkdir(parents=True)
    assert (tree() / "Makefile").read_text() == f"linux-source-7.3={PINNED}"
    assert tree() == tree() and len(debian.downloads) == 1 and not killed.exists()
    assert "instead" not in capsys.readouterr().err


def test_a_version_that_debian_has_instead_is_taken_and_said_each_time(debian, capsys):
    debian.has(["7.3.9-1~bpo13+1", "7.3.8-1~bpo13+1"])
    assert (tree() / "Makefile").read_text() == "linux-source-7.3=7.3.9-1~bpo13+1"
    assert len(debian.downloads) == 1
    tree()
    said = capsys.readouterr().err
    assert said.count(f"7.3.9-1~bpo13+1 instead of the pinned {PINNED}: figures may differ") == 2
    assert len(debian.downloads) == 1


def test_another_package_of_the_pinned_version_is_refused(debian):
    debian.pin("0" * 64)
    with pytest.raises(SaakmError, match="cannot be fetched") as error:
        tree()
    assert "SHA-256" in error.value.why and not list(paths.TREES.glob("*/linux"))


def test_without_the_package_or_a_mirror_it_says_what_else_there_is(debian, monkeypatch):
    debian.has([])
    with pytest.raises(SaakmError, match="cannot be fetched") as error:
        tree()
    assert "trixie-backports of http://mirror/debian has no linux-source-7.3" in error.value.why
    assert "--kernel VMLINUX" in error.value.next_step

    def nowhere(what):
        raise NotFetched(f"this is not Debian, which has {what}")

    monkeypatch.setattr(own_apt, "codename", nowhere)
    with pytest.raises(SaakmError) as error:
        tree()
    assert "this is not Debian" in error.value.why


def test_it_is_built_once_and_only_after_it_was_said_what_that_takes(debian, monkeypatch, capsys):
    made = []

    def make(tree, build, config, what, jobs, targets):
        made.append((what, jobs, targets))
        assert not (build / "vmlinux").exists()  # half of one would count as new
        (build / "vmlinux.o").write_text("nearly a kernel")
        (build / "vmlinux").write_text("a kernel")

    monkeypatch.setattr(unpatched, "configure_if_changed", lambda *_: None)
    monkeypatch.setattr(unpatched, "make", make)
    built = unpatched.build("7.3", 2)
    said = capsys.readouterr().err
    assert "GiB in" in said and "minutes" in said and "170 MB" in said
    assert built.config == "7.3" and built.vmlinux.read_text() == "a kernel"
    assert unpatched.build("7.3") == built and made == [("Linux 7.3", 2, ("vmlinux",))]
    assert "GiB" not in capsys.readouterr().err
    built.vmlinux.write_text("half")
    unpatched.build("7.3")
    assert len(made) == 2 and built.vmlinux.read_text() == "a kernel"
    assert "GiB" not in capsys.readouterr().err
    (built.build / "vmlinux.o").unlink()
    built.vmlinux.write_text("half")
    unpatched.build("7.3")
    assert "2.0 GiB in" in capsys.readouterr().err


def test_a_full_disk_is_seen_before_anything_is_fetched(debian, monkeypatch):
    monkeypatch.setattr(unpatched, "_NEEDED", {"fetch": 2.0**60, "build": 1.0})
    with pytest.raises(SaakmError, match=r"cannot build Linux 7\.3") as error:
        unpatched.build("7.3")
    assert "GiB free" in error.value.why and not debian.downloads


# --- what a kernel says of itself ---


@pytest.mark.parametrize(
    ("config", "model"),
    [
        ("CONFIG_PREEMPT=y\n# CONFIG_PREEMPT_LAZY is not set\n", "PREEMPT"),
        ("CONFIG_PREEMPT_LAZY=y\n", "PREEMPT_LAZY"),
        ("CONFIG_PREEMPT=y\nCONFIG_PREEMPT_RT=y\n", "PREEMPT_RT"),
        ("CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n", "PREEMPT_VOLUNTARY (dynamic)"),
        ("CONFIG_PREEMPT_NONE=y\n", "PREEMPT_NONE"),
        ("", "unknown"),
    ],
)
def test_how_it_preempts(config, model, tmp_path):
    found = about(kernel(tmp_path, config=config))
    assert (found.release, found.preemption, found.series) == ("7.3.4", model, "7.3")
    assert str(found) == f"Linux 7.3.4, {model}" and not found.has_class


def test_what_it_carries_counts_more_than_what_lies_beside_it(tmp_path):
    """Someone may have configured anew since."""
    lazy, full = "CONFIG_PREEMPT_LAZY=y\nCONFIG_SCHED_CLASS_EXT=y\n", "CONFIG_PREEMPT=y\n"
    found = about(kernel(tmp_path, config=full, embedded=lazy))
    assert found.preemption == "PREEMPT_LAZY" and found.has_sched_ext
    (tmp_path / "words").mkdir()
    # The program that unpacks it has the same words in it.
    other = about(kernel(tmp_path / "words", more=b"IKCFG_STno configuration", config=full))
    assert other.preemption == "PREEMPT" and not other.has_sched_ext


def test_ours_is_known_by_what_policies_link_to(tmp_path):
    assert about(kernel(tmp_path, more=b"\0saakm_add_policy\0")).has_class


def test_what_a_kernel_does_not_tell_is_not_measured(tmp_path, capsys):
    (tmp_path / "ours").mkdir()
    ours = about(kernel(tmp_path / "ours", b"6.12.9", more=b"\0idle_sleeptime\0"))
    other, names = about(kernel(tmp_path)), ["pipe", "sleep", "newidle"]
    assert measurable_operations(names, ours, True) == names
    assert measurable_operations(["pipe"], other, True) == ["pipe"]
    assert measurable_operations(names, other, False) == ["pipe"]
    assert "Linux 7.3.4" in (said := capsys.readouterr().err) and "sleep, newidle left out" in said
    with pytest.raises(BadInput, match="sleep cannot be measured on this kernel"):
        measurable_operations(["pipe", "sleep"], other, True)


# --- what --kernel may say ---


def test_a_kernel_that_there_is_not(tmp_path):
    with pytest.raises(BadInput, match="there is no kernel 7.9") as error:
        given.check("7.9")
    assert "7.3" in error.value.next_step and "does not exist" in str(error.value)
    with pytest.raises(BadInput, match=r"(?s)there is no kernel .*the directory has no vmlinux"):
        given.check(str(tmp_path))
    with pytest.raises(BadInput, match=r"(?s)there is no kernel .*it is no regular file"):
        given.check("/dev/null")
    (tmp_path / "file").write_text("MZ")
    with pytest.raises(BadInput, match="is not a kernel"):
        given.check(str(tmp_path / "file"))


def test_a_build_directory_means_its_vmlinux(tmp_path):
    vmlinux = kernel(tmp_path)
    assert given.kernel(str(tmp_path)).vmlinux == vmlinux == given.kernel(str(vmlinux)).vmlinux
    other = vmlinux.rename(tmp_path / "vmlinux-of-mine")
    assert given.kernel(str(other)).vmlinux == other


def test_modules_of_a_kernel_that_we_have_built_are_not_built_anew(tmp_path):
    vmlinux = kernel(tmp_path)
    write_stamp(tmp_path / "saakm.stamp", "what it was built of", vmlinux)
    assert given.kernel(str(vmlinux)).inputs == "what it was built of"
    kernel(tmp_path, more=b"somebody has built it since")
    assert given.kernel(str(vmlinux)).inputs != "what it was built of"


def test_who_needs_the_class_is_told_so(tmp_path):
    vmlinux = str(kernel(tmp_path))
    for word in (vmlinux, "7.3"):
        with pytest.raises(BadInput, match="the policy 'fifo' needs SaaKM's class") as error:
            under.chosen("fifo", word)
        assert "7.3" in error.value.why and "scx_fifo" in error.value.next_step
        for known in ("none", "fair", "sched_fifo", "scx_fifo"):
            under.chosen(known, word)
    under.chosen("fifo", str(kernel(tmp_path, more=b"\0saakm_add_policy\0")))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "fifo", "--kernel", "7.3", "--", "true"],
        ["run", "none", "--kernel", "7.3", "--config", "debug", "--", "true"],
        ["run", "none", "--kernel", "7.9", "--", "true"],
        ["run", "none", "--features", "NEXT_BUDDY", "--", "true"],
        ["trace", "vtime", "--kernel", "7.3", "--", "true"],
        ["cost", "--kernel", "7.3", "--schedulers", "fair,rr"],
        ["cost", "--kernel", "7.3", "--load", "rr", "--schedulers", "fair"],
        ["cost", "--kernel", "7.3", "--switches", "--schedulers", "fair"],
        ["cost", "--kernel", "7.3", "--axis", "policies"],
        ["cost", "--features", "NEXT_BUDDY"],
        ["bench", "--kernel", "7.3", "--schedulers", "fair,fifo"],
        ["bench", "--schedulers", "fair,fair:NEXT_BUDDY"],
        ["bench", "--schedulers", "eevdf,eevdf:next_budy=new"],
        ["bench", "--on", "host", "--kernel", "7.3", "--schedulers", "fair"],
        ["bench", "--on", "host", "--features", "NEXT_BUDDY", "--schedulers", "fair"],
        ["build", "--kernel", "7.4"],
        ["build", "modules", "--kernel", "7.3"],
        ["build", "--kernel", "7.3", "--config", "debug"],
    ],
    ids=" ".join,
)
def test_refused_before_anything_is_built(words, monkeypatch, tmp_path):
    def built(*_):
        pytest.fail("something is built")

    monkeypatch.chdir(tmp_path)
    for place in (
        "unpatched.build",
        "kernel.build_kernel",
        "ready.build_kernel",
        "ready.build_modules",
    ):
        monkeypatch.setattr(f"saakm.builder.{place}", built)
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, BadInput) and error.status == 2, error
    assert error.why and error.next_step


@pytest.mark.parametrize(
    "words",
    [
        ["run", "none", "--kernel", "", "--", "true"],
        ["run", "none", "--features", ",", "--", "true"],
        ["cost", "--kernel", ""],
        ["bench", "--features", " "],
        ["build", "--kernel", ""],
    ],
    ids=" ".join,
)
def test_an_empty_name_does_not_mean_ours(words):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and "it is empty" in done.output


def test_a_kernel_of_another_architecture_is_refused(tmp_path):
    header = b"\x7fELF\2\1\1" + bytes(9) + b"\2\0"
    vmlinux = kernel(tmp_path)
    said = vmlinux.read_bytes()
    vmlinux.write_bytes(header + b"\x3e\0" + said)
    assert given.kernel(str(vmlinux)).vmlinux == vmlinux
    vmlinux.write_bytes(header + b"\xb7\0" + said)  # arm64
    with pytest.raises(BadInput, match="is not for this machine"):
        given.check(str(vmlinux))


def test_of_an_earlier_class_what_does_not_fit_is_left_out(tmp_path, monkeypatch, capsys):
    """Some of the checkout's modules may need more than it has; the others are at hand."""
    built = []

    def build(kernel, jobs=None, sources=None):
        (source,) = sources
        if source.name == "eevdf":
            raise SaakmError("it does not compile", "there is no block_delay", "mend it")
        built.append(source.name)
        return [tmp_path / "mine.ko"]

    monkeypatch.setattr(ready, "build_modules", build)
    monkeypatch.setattr(ready, "build_saakmctl", lambda: tmp_path)
    earlier = str(kernel(tmp_path, more=b"\0saakm_add_policy\0"))
    found = ready.build_all("base", tmp_path / "mine", earlier)
    assert found.module == tmp_path / "mine.ko" and found.kernel.vmlinux == Path(earlier)
    assert {"fifo", "rr", "vtime"} < set(built) and built[-1] == "mine"
    assert capsys.readouterr().err == "saakm: not built for this kernel's class: eevdf\n"


# --- features ---


def test_features_are_a_list_of_names():
    assert features.parse(" NEXT_BUDDY, NO_RUN_TO_PARITY,") == ("NEXT_BUDDY", "NO_RUN_TO_PARITY")
    assert features.parse("") == ()
    for wrong in ("next_buddy", "A;reboot", "A B", "NO_A,A", "A,A"):
        with pytest.raises(BadInput):
            features.parse(wrong)


def test_an_unknown_feature_is_refused_with_those_there_are():
    there = ["PLACE_LAG", "NO_NEXT_BUDDY"]
    features.refuse_unknown(["NEXT_BUDDY", "NO_PLACE_LAG"], there)
    with pytest.raises(BadInput, match="no scheduler feature NO_BUDDY") as error:
        features.refuse_unknown(["NEXT_BUDDY", "NO_BUDDY"], there)
    assert "PLACE_LAG NO_NEXT_BUDDY" in error.value.why


def test_features_of_our_own_kernels():
    with pytest.raises(BadInput, match="the base kernel has no scheduler features"):
        VmOptions(features="NEXT_BUDDY").check()
    VmOptions(features="NEXT_BUDDY", config="debug").check()
    VmOptions(features="NEXT_BUDDY", config="features").check()


# --- what a command runs under ---


def test_what_a_command_runs_under(monkeypatch):
    monkeypatch.setattr("saakm.builder.peers.build", lambda name: Path("/built", name))
    run = {word: under.chosen(word).words(["true"]) for word in
           ("none", "fair", "sched_fifo", "scx_rr", "rr")}  # fmt: skip
    assert run == {
        "none": ["true"],
        "fair": ["true"],
        "sched_fifo": ["chrt", "-f", "1", "true"],
        "scx_rr": ["/built/scx_rr", "-p", "true"],
        "rr": ["saakmctl", "exec", "rr", "--", "true"],
    }
    names = {word: under.chosen(word).name for word in run}
    assert names == {word: word if word != "none" else "fair" for word in run}


# --- results of several kernels ---

OURS = Linux(release="6.12.117", preemption="PREEMPT")
OTHER = Linux(release="7.3.4", preemption="PREEMPT_LAZY", patched=False)


def run_of(scheduler="fair", linux=OURS, value=1.0, number=1, **machine):
    return RunRecord(
        workload="hackbench", variant="pipes-1", family="pipes", point="1", definition="d",
        scheduler=scheduler, build="", round=number, traced=False, kernel=linux.release,
        machine=Shape(on="guest", cpus=4, **machine), unit="s", better="lower", meaning="time",
        value=value, linux=linux,
    )  # fmt: skip


def test_another_kernel_has_columns_of_its_own():
    records = [run_of(), run_of("fifo"), run_of(linux=OTHER, value=9.0),
               run_of(linux=OTHER, value=5.0, features=("NEXT_BUDDY",))]  # fmt: skip
    refuse_mixture(records)
    names = ["fair", "fifo", "fair@7.3.4", "fair:NEXT_BUDDY@7.3.4"]
    assert list(map(column_of(records), records)) == names
    (figure,) = figures.figures(records)
    assert figure.values == dict(zip(names, ([1.0], [1.0], [9.0], [5.0])))
    assert [column_of(records[2:3])(run) for run in records[2:3]] == ["fair"]
    out = io.StringIO()
    comparison.show([figure], "fair", Console(file=out, width=120))
    assert "fair, fifo: Linux 6.12.117, PREEMPT\n" in out.getvalue()
    assert "fair:NEXT_BUDDY@7.3.4, fair@7.3.4: Linux 7.3.4, PREEMPT_LAZY\n" in out.getvalue()


def test_two_kernels_never_share_a_column():
    rebuilt = replace(run_of("fifo"), kernel="another build")
    with pytest.raises(BadInput, match="do not belong together"):
        refuse_mixture([run_of(), rebuilt])
    with pytest.raises(BadInput, match="do not belong together"):
        refuse_mixture([run_of(linux=OTHER), replace(run_of(linux=OTHER), kernel="another build")])


def cost_row(scheduler="fair", **more):
    usual = {"spread": 0.0, "cpus": 2, "seeds": [1], "values": [1.0], **more}
    return Row(scheduler, "pipe", 8000.0, **usual)


def test_costs_of_two_kernels_are_no_report(tmp_path):
    for release in ("6.12.117", "7.3.4"):
        rows = [cost_row(kernel=release, preemption="PREEMPT")]
        (tmp_path / f"{release}.json").write_text(json.dumps(plain(rows)))
    inputs.read([tmp_path / "7.3.4.json"])
    with pytest.raises(BadInput, match="do not belong together") as error:
        inputs.read(sorted(tmp_path.glob("*.json")))
    assert "6.12.117" in error.value.why and "7.3.4" in error.value.why


def test_a_table_of_costs_names_the_kernel_and_how_to_repeat_it():
    row = cost_row(kernel="7.3.4", preemption="PREEMPT", patched=False, features=["NEXT_BUDDY"])
    command = sections.command([row])
    assert "--kernel 7.3" in command and "--features NEXT_BUDDY" in command
    assert "--kernel" not in sections.command([cost_row(kernel="6.12.117")])


@pytest.mark.parametrize(
    "this",
    [
        About("7.3.4", "gcc", "PREEMPT", False, {}),
        About("6.12.117", "gcc", "PREEMPT", False, {}),
        About("6.12.117", "gcc", "PREEMPT_LAZY", True, {}),
    ],
    ids=str,
)
def test_a_baseline_refuses_another_kernel(this):
    before = baseline.Baseline({"kernel": "6.12.117"}, [cost_row()])
    file = Path("base.json")
    baseline.refuse_another(file, before, About("6.12.118", "gcc", "PREEMPT", True, {}))
    with pytest.raises(BadInput, match=r"base\.json is of another kernel"):
        baseline.refuse_another(file, before, this)
