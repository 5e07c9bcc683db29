# SPDX-License-Identifier: GPL-2.0
"""The cache: whose it is, what clean takes, and what becomes of damaged files in it."""

import contextlib
import errno
import fcntl
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import call
import pytest

from saakm import cli
from saakm.base import cache, files, paths, process, progress
from saakm.base.errors import SaakmError
from saakm.base.locks import locked
from saakm.builder import kernel, modules, pinned, programs, source
from saakm.builder.kernel import Kernel
from saakm.commands import clean, run
from saakm.vm import accel, exchange
from saakm.vm.options import VmOptions
from saakm.vm.qemu import Qemu

REPO = Path(__file__).resolve().parents[2]
PLACES = ("trees", "build", "cargo", "ccache", "logs", "guests")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of one's own, not made yet."""
    place = tmp_path / "cache"
    monkeypatch.setattr(paths, "CACHE", place)
    for name in PLACES:
        monkeypatch.setattr(paths, name.upper(), place / name)
    return place


def saakm(*arguments, place):
    return call.saakm(*arguments, timeout=120, SAAKM_CACHE=str(place))


def fill(place, *names):
    for name in names:
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / "file").write_text("x")


# --- the mark ---


def test_a_new_cache_is_marked_as_backup_programs_know_it(place):
    cache.make(place / "trees" / "x")
    assert (
        (place / cache.MARK).read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    )
    assert cache.is_marked() and (place / "trees/x").is_dir()


def test_what_is_there_already_is_not_marked(place):
    fill(place, "photos")
    cache.make(place / "trees")
    assert not cache.is_marked()


@pytest.mark.parametrize("options", [[], ["--all"]])
@pytest.mark.parametrize("tag", [None, "Signature: 8a477f597d28d172789f06886806bc55\n# of cargo\n"])
def test_clean_refuses_what_is_not_marked(place, options, tag):
    fill(place, "build", "cargo", "logs")
    if tag:
        (place / cache.MARK).write_text(tag)
    done = saakm("clean", *options, place=place)
    assert done.returncode == 1 and "is not emptied" in done.stderr and "next: " in done.stderr
    assert all((place / name / "file").exists() for name in ("build", "cargo", "logs"))


def test_clean_removes_builds_and_keeps_the_source_unless_told(place):
    cache.make(place)
    fill(place, "build", "trees", "logs")
    (place / "build/file").write_bytes(b"x" * 64 * 2**20)
    done = saakm("clean", place=place)
    assert "freed 0.1 GiB" in done.stdout
    assert {path.name for path in place.iterdir()} == {"trees", cache.MARK}
    assert saakm("clean", "--all", place=place).returncode == 0
    assert not place.exists()
    assert "freed 0.0 GiB" in saakm("clean", "--all", place=place).stdout


def test_clean_keeps_what_somebody_else_put_there(place):
    cache.make(place / "trees")
    (place / "thesis.tex").write_text("all of it")
    done = saakm("clean", "--all", place=place)
    assert done.returncode == 0 and f"kept {place / 'thesis.tex'}" in done.stdout
    assert (place / "thesis.tex").read_text() == "all of it" and not (place / "trees").exists()
    assert cache.is_marked()  # and can be used on


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_clean_follows_no_link(place, tmp_path, options):
    outside = tmp_path / "outside"
    fill(outside, "build", "deep")
    cache.make(place / "logs")
    (place / "build").symlink_to(outside / "build")
    (place / "logs" / "link").symlink_to(outside / "deep")
    assert saakm("clean", *options, place=place).returncode == 0
    assert not (place / "build").is_symlink() and not (place / "logs").exists()
    assert (outside / "build/file").exists() and (outside / "deep/file").exists()


def test_clean_by_a_link_to_the_cache_empties_it_and_keeps_the_link(place, tmp_path):
    cache.make(place / "build")
    link = tmp_path / "link"
    link.symlink_to(place)
    assert saakm("clean", "--all", place=link).returncode == 0
    assert link.is_symlink() and list(place.iterdir()) == []


def test_clean_removes_the_environment_that_it_runs_in_last_and_outside_of_the_meter(
    place, monkeypatch
):
    """After that nothing can be loaded that the end of a meter needs."""
    done = []

    @contextlib.contextmanager
    def meter(title, total=None):
        yield clean_meter
        done.append(title)

    clean_meter = progress.Meter("x", None, None)
    monkeypatch.setattr(clean, "meter", meter)
    monkeypatch.setattr(clean, "_remove", lambda path: done.append(path.name))
    cache.make(place)
    fill(place, "venv-0123456789ab", "trees")
    (place / "venv-0123456789ab/ready").touch()
    (place / "venv-0123456789ab.lock").touch()
    with contextlib.suppress(OSError):
        clean.clean(True)
    ends = ["venv-0123456789ab", "venv-0123456789ab.lock"]
    assert done == ["counting", "trees", "removing (MiB)", *ends]
    assert not (place / "venv-0123456789ab/ready").exists()


def test_clean_and_the_front_door_know_the_same_names():
    text = (REPO / "saakm").read_text()
    lines = re.findall(r"^\t\t([a-z].*) \| (.*)\) ;;$", text, re.M)
    names = " | ".join(" | ".join(line) for line in lines).split(" | ")
    assert {"build", "series", "trees"} <= set(names)
    known = [name.replace("?", "x").replace("*", "x") for name in names if name != "lost+found"]
    known = [name for name in known if not name.startswith(".")]
    assert all(clean._OURS.fullmatch(name) for name in known)
    plain = re.findall(r"(?<=\|)[a-z]+(?=\|)", clean._OURS.pattern)
    assert len(plain) > 10 and set(plain) <= set(names)


def test_clean_takes_nothing_that_is_mounted(place, tmp_path, monkeypatch):
    fill(place, "build", "logs")
    cache.mark()
    mounts = tmp_path / "mountinfo"
    where = str(place / "build" / "my files").replace(" ", "\\040")
    mounts.write_text(f"1 1 8:1 / / rw - ext4 x rw\n2 1 8:1 /home {where} rw - ext4 x rw\n")
    monkeypatch.setattr(clean, "_MOUNTS", mounts)
    with pytest.raises(SaakmError, match="my files is not emptied"):
        clean.clean()
    assert (place / "logs" / "file").exists()


@pytest.mark.parametrize("name", ["cargo", "qemu", "mutate", "series"])
def test_clean_takes_nothing_that_somebody_works_in(place, name):
    with locked(place / name / "lock"), pytest.raises(SaakmError) as error:
        clean.clean(True)
    assert error.value.why.endswith(str(place / name))
    clean.clean(True)
    assert not place.exists()


@pytest.mark.parametrize("where", ["x", "x/saakm-modules/checkout"])
def test_clean_waits_for_nobody(place, where):
    cache.make(place / "build" / where)
    with (place / "build" / where / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SaakmError, match="is in use"):
            clean.clean(False)
    directory = exchange.new_exchange()
    with pytest.raises(SaakmError, match="is in use"):
        clean.clean(True)
    exchange.drop_exchange(directory)
    clean.clean(True)
    assert not place.exists()


# --- where it may be ---


def test_hidden_is_what_the_guest_mounts_over():
    init = (paths.GUEST_FILES / "init").read_text()
    places = set(re.findall(r"^mount -t \w+ \w+ (/\S+)$", init, re.M))
    places |= set(re.search(r"^for dir in (.*); do mount", init, re.M)[1].split())
    assert {"/proc", "/sys", "/run", "/tmp", "/var/tmp"} <= places
    assert all(cache.hidden_by_guest(Path(place)) for place in places | {"/dev"})


@pytest.mark.parametrize(
    "where", ["/tmp/x", "/run/user/0/x", "/dev/shm/x", "/root/../tmp/x", "/var/run/x"]
)
def test_no_guest_is_built_for_in_a_cache_that_it_will_not_see(monkeypatch, where):
    monkeypatch.setattr(paths, "CACHE", Path(where))
    with pytest.raises(SaakmError, match="no guest can boot from the cache"):
        VmOptions().check()


def test_other_places_are_seen(tmp_path):
    for where in ("/root/.cache/saakm", "/tmpx/y", "/home/u/tmp"):
        assert cache.hidden_by_guest(Path(where)) is None


def test_a_link_through_a_hidden_place_is_hidden(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "HIDDEN", (tmp_path / "hidden",))
    (tmp_path / "hidden").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "hidden")
    assert cache.hidden_by_guest(tmp_path / "link" / "x") == tmp_path / "hidden"


def test_a_program_that_the_guest_does_not_see_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "HIDDEN", (tmp_path,))
    program = tmp_path / "program"
    program.touch()
    with pytest.raises(SaakmError, match="the guest does not see") as error:
        run.refuse_hidden_program([str(program)])
    assert "--exact" in error.value.next_step
    run.refuse_hidden_program(["hackbench"])
    run.refuse_hidden_program([str(tmp_path / "made there")])


# --- a disk that does not take it ---


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (OSError(errno.ENOSPC, "No space left on device", "/x/y"), "the disk is full"),
        (
            PermissionError(errno.EACCES, "Permission denied", "{cache}/logs/x"),
            "cannot write to the cache",
        ),
        (OSError(errno.EROFS, "Read-only file system", "{parent}"), "cannot write to the cache"),
    ],
)
def test_faults_of_the_disk_are_sentences(place, monkeypatch, capsys, error, what):
    if error.filename:
        error.filename = error.filename.format(cache=place, parent=place.parent)

    def fail(**_):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr().err
    assert end.value.code == 1 and said.startswith(f"saakm: {what}") and "next: " in said
    assert error.strerror in said


def test_other_faults_keep_their_traceback(place, monkeypatch):
    def fail(**_):
        raise PermissionError(errno.EACCES, "Permission denied", "/etc/shadow")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(PermissionError):
        cli.main()


def test_a_file_in_the_place_of_the_cache(tmp_path):
    (tmp_path / "file").touch()
    done = saakm("docs", place=tmp_path / "file")
    assert done.returncode == 1 and "cannot write to the cache" in done.stderr


def test_a_build_that_fills_the_disk_says_so(place):
    with pytest.raises(SaakmError) as error:
        process.run_logged(
            ["sh", "-c", "echo ld: No space left on device; exit 1"], place / "log", "the build"
        )
    assert error.value.next_step.startswith("free space")


def test_a_disk_that_is_too_small_is_refused_before_tar_runs(place, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "TARBALL", tmp_path / "tarball")
    (tmp_path / "tarball").write_bytes(b"x" * 1000)
    monkeypatch.setattr(source.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 5}))
    with pytest.raises(SaakmError, match="cannot unpack") as error:
        source.default_tree()
    assert "GiB free" in error.value.why


# --- files that are whole or not there ---


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    file = tmp_path / "file"
    files.write_text(file, "old")
    with pytest.raises(RuntimeError), files.replacing(file) as scratch:
        scratch.write_text("ne")
        raise RuntimeError
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]
    files.write_text(file, "new")
    assert file.read_text() == "new" and list(tmp_path.iterdir()) == [file]


DAMAGED = ["", "{", '{"mark": [', "[1, 2]", "null", "\x00\x00", '{"mark": 5, "sha256": null}']


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_note_on_the_tarball_is_made_again(place, tmp_path, text):
    tarball = tmp_path / "tarball"
    tarball.write_bytes(b"abc")
    right = pinned.verified_hash(tarball)
    (paths.TREES / "tarball.json").write_text(text)
    assert pinned.verified_hash(tarball) == right
    assert json.loads((paths.TREES / "tarball.json").read_text())["sha256"] == right


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_counts_of_steps_are_forgotten(tmp_path, text):
    (tmp_path / "steps.json").write_text(text)
    assert kernel._counted(tmp_path / "steps.json") == ({"mark": 5} if "5" in text else {})


@pytest.mark.parametrize("text", [*DAMAGED, '{"KEY": "x"}', '{"KEY": [1]}', '{"KEY": null}'])
def test_a_damaged_note_on_kvm_is_made_again(place, monkeypatch, text):
    cache.make(place)
    monkeypatch.setattr(accel, "_MEMO", place / "accel.json")
    qemu = Qemu(Path("/usr/bin/qemu"), "7.2", "of a test")
    monkeypatch.setattr(accel, "_boot", lambda vmlinux, program: (True, "booted"))
    accel.probe(Path("/b/vmlinux"), qemu)
    (key,) = json.loads((place / "accel.json").read_text())
    (place / "accel.json").write_text(text.replace("KEY", key))
    assert accel.probe(Path("/b/vmlinux"), qemu) == (True, "booted")
    monkeypatch.setattr(accel, "_boot", lambda vmlinux, program: (False, "asked again"))
    assert accel.probe(Path("/b/vmlinux"), qemu) == (True, "booted")


class Builds:
    """build_kernel() with a make that only writes vmlinux, if it is not there."""

    def __init__(self, place, monkeypatch):
        self.links = 0
        tree = place / "trees" / "key" / "linux"
        cache.make(tree)
        monkeypatch.setattr(source, "default_tree", lambda: ("key", tree))
        monkeypatch.setattr(kernel, "sync", lambda *_: None)
        monkeypatch.setattr(kernel, "configure_if_changed", lambda *_: None)
        monkeypatch.setattr(kernel, "make", self._make)

    def _make(self, tree, build, config, what, jobs):
        if not (build / "vmlinux").exists():
            self.links += 1
            (build / "vmlinux").write_text("a kernel")


def test_a_truncated_kernel_is_linked_again(place, monkeypatch):
    builds = Builds(place, monkeypatch)
    vmlinux = kernel.build_kernel("base").vmlinux
    kernel.build_kernel("base")
    assert builds.links == 1
    vmlinux.write_text("a ker")
    assert kernel.build_kernel("base").vmlinux.read_text() == "a kernel" and builds.links == 2
    # A stamp that is damaged, or an earlier version's, vouches for nothing.
    for text in ("", "{", "a" * 64):
        (vmlinux.parent / "saakm.stamp").write_text(text)
        kernel.build_kernel("base")
    assert builds.links == 5
    vmlinux.unlink()
    kernel.build_kernel("base")
    assert builds.links == 6


def test_a_build_that_is_interrupted_is_not_taken_for_finished(place, monkeypatch):
    builds = Builds(place, monkeypatch)

    def interrupted(tree, build, config, what, jobs):
        (build / "vmlinux").write_text("half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "make", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kernel.build_kernel("base")
    assert kernel.build_kernel("base").vmlinux.read_text() == "a kernel" and builds.links == 1


def test_a_truncated_module_is_built_again(place, tmp_path, monkeypatch):
    policy = tmp_path / "mine"
    fill(policy.parent, "mine")
    (policy / "Kbuild").write_text("obj-m := mine.o\n")
    built = []

    def compile(command, log, what, env):
        copy = Path(next(word for word in command if word.startswith("M=")).removeprefix("M="))
        built.append(copy)
        (copy / "mine.ko").write_text("a module")

    monkeypatch.setattr(modules, "run_logged", compile)
    it = Kernel("base", place / "build", "inputs")
    (module,) = modules.build_modules(it, sources=[policy])
    modules.build_modules(it, sources=[policy])
    assert len(built) == 1
    module.write_text("a mod")
    modules.build_modules(it, sources=[policy])
    assert len(built) == 2 and module.read_text() == "a module"


def test_a_damaged_record_of_the_tree_has_it_unpacked_again(place, tmp_path, monkeypatch):
    tarball = tmp_path / "linux.tar.xz"
    inside = tmp_path / "inside" / "linux"
    inside.mkdir(parents=True)
    (inside / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 5\n")
    subprocess.run(["tar", "-cJf", tarball, "-C", inside.parent, "linux"], check=True)
    monkeypatch.setattr(source, "TARBALL", tarball)
    _, tree = source.default_tree()
    notes = tree.parent / "manifest.json"
    notes.write_text('{"added": ["kernel/sched/saakm/class.c"], "patched": []}')
    (tree / "ours").touch()
    source.default_tree()
    assert (tree / "ours").exists()
    fill(tree.parent, "pristine")
    notes.write_text('{"added": ["kern')
    source.default_tree()
    assert not (tree / "ours").exists() and (tree / "Makefile").exists()
    assert not notes.exists() and not (tree.parent / "pristine").exists()
    # And one that was interrupted, whatever it left.
    (tree.parent / "unpacked").unlink()
    (tree / "half").touch()
    source.default_tree()
    assert not (tree / "half").exists()


# --- several at once ---


def test_two_threads_compile_one_program(place, tmp_path, monkeypatch):
    """Both are inside the compiler at once, whatever else the machine does."""
    code = tmp_path / "program.c"
    code.write_text("int main(void) { return 0; }\n")
    both, scratches = threading.Barrier(2, timeout=60), []

    def compile(command, log, what):
        scratch = Path(command[command.index("-o") + 1])
        scratches.append(scratch)
        scratch.write_text("a program")
        both.wait()

    monkeypatch.setattr(programs, "run_logged", compile)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(programs.compile_static(code))) for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and results[0] == results[1] and len(set(scratches)) == 2
    assert results[0].read_text() == "a program"
    assert list(results[0].parent.iterdir()) == [results[0]]


OWNER = """
import sys
from saakm.vm import exchange
print(exchange.new_exchange(), flush=True)
sys.stdin.readline()
"""


def owner(place):
    child = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPO / "src"), "SAAKM_CACHE": str(place)},
    )
    return child, Path(child.stdout.readline().strip())


def test_directories_of_guests_live_as_long_as_their_owner(place):
    """Whatever the numbers of processes are, which differ between containers."""
    child, theirs = owner(place)
    mine = exchange.new_exchange()
    assert theirs.is_dir() and set(exchange.living()) == {theirs, mine}
    child.kill()
    child.communicate()
    assert exchange.living() == [mine]
    again = exchange.new_exchange()
    assert not theirs.exists() and mine.is_dir()
    for directory in (mine, again):
        exchange.drop_exchange(directory)
    assert exchange.living() == []


def test_an_owner_that_ends_takes_its_directory_along(place):
    child, theirs = owner(place)
    child.communicate("\n")
    assert not theirs.exists()


def test_directories_of_another_machine_are_left_to_it(place):
    """It may hold its lock where this machine does not see it."""
    for name, owner in (("ours", exchange._machine()), ("theirs", "another"), ("old", "another")):
        (cache.make(paths.GUESTS / name) / "owner.lock").write_text(f"{owner}\n")
    os.utime(paths.GUESTS / "old", (0, 0))
    assert [path.name for path in exchange.living()] == ["theirs"]
    mine = exchange.new_exchange()
    left = {path.name for path in paths.GUESTS.iterdir() if path.is_dir()}
    assert left == {"theirs", mine.name}
    exchange.drop_exchange(mine)


def test_directories_of_earlier_versions_go_when_they_are_old(place):
    """They hold no lock: nobody knows whether their owner lives, in which container ever."""
    for name in ("1-young", "999999999-old"):
        cache.make(paths.GUESTS / name)
    os.utime(paths.GUESTS / "999999999-old", (0, 0))
    mine = exchange.new_exchange()
    left = {path.name for path in paths.GUESTS.iterdir() if path.is_dir()}
    assert left == {"1-young", mine.name}
    exchange.drop_exchange(mine)
