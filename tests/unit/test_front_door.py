# SPDX-License-Identifier: GPL-2.0
"""./saakm itself, and the one list of packages that it and doctor read."""

import os
import pwd
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from saakm.base import cache
from saakm.builder import pinned
from saakm.commands import doctor
from saakm.commands.doctor import read_packages

REPO = Path(__file__).resolve().parents[2]
# As if all packages were installed; those named in ABSENT are not.
DPKG_QUERY = """case " $ABSENT " in *" $3 "*) exit 1 ;; esac
printf installed"""


def front_door(fake, *arguments, **environment):
    """With the commands in `fake` first; apt-get fails, before anything is downloaded."""
    return subprocess.run(
        [str(REPO / "saakm"), *arguments],
        capture_output=True,
        text=True,
        cwd=fake,
        stdin=subprocess.DEVNULL,
        env={"PATH": f"{fake}:/usr/bin:/bin", **environment},
    )


@pytest.fixture
def fake(tmp_path):
    directory = tmp_path / "bin"
    directory.mkdir()
    for name, body in {"apt-get": "exit 100", "dpkg-query": DPKG_QUERY, "id": "echo 0"}.items():
        command(directory, name, body)
    return directory


def command(directory, name, body):
    (directory / name).write_text(f"#!/bin/sh\n{body}\n")
    (directory / name).chmod(0o755)


def rust(directory, version):
    for name in ("cargo", "rustc"):
        command(directory, name, f"echo '{name} {version} (f2d3ce0bd 2026-03-21)'")


def test_every_package_has_a_probe_and_a_purpose():
    packages = read_packages()
    assert {"linux-source-6.12", "qemu-system-x86", "rt-tests", "git"} <= {
        name for name, _, _ in packages
    }
    for name, probe, purpose in packages:
        assert " " not in name and " " not in probe and len(purpose) > 5, name


def test_the_least_version_of_rust_is_the_one_saakmctl_asks_for():
    workspace = tomllib.loads((REPO / "crates/Cargo.toml").read_text())["workspace"]
    least = workspace["package"]["rust-version"]
    probes = {name: probe for name, probe, _ in read_packages()}
    assert probes["cargo-web"] == f"cargo>={least}" and probes["rustc-web"] == f"rustc>={least}"


def test_shell_syntax():
    for script in (
        "saakm",
        "src/saakm/guest/init",
        "src/saakm/guest/agent",
        "src/saakm/guest/shell",
    ):
        shell = "bash" if script == "saakm" else "dash"
        done = subprocess.run([shell, "-n", str(REPO / script)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_without_root_it_prints_the_command_to_type(fake, tmp_path):
    command(fake, "dpkg-query", "exit 1")
    command(fake, "id", "echo 1000")
    done = front_door(fake, "--help", HOME=str(tmp_path), SAAKM_CACHE=str(tmp_path / "c"))
    assert done.returncode == 1
    assert "next: sudo apt-get install " in done.stderr and "linux-source-6.12" in done.stderr


@pytest.mark.parametrize(
    ("version", "installs"),
    [("0.66.0", True), ("1.9.9", True), ("1.85.0", False), ("1.96.0", False), ("", True)],
)
def test_rust_is_installed_where_it_is_missing_or_too_old(fake, tmp_path, version, installs):
    rust(fake, version)
    done = front_door(
        fake,
        "--help",
        SAAKM_CACHE=str(tmp_path / "c"),
        ABSENT="cargo-web rustc-web ca-certificates",
    )
    wanted = "cargo-web rustc-web ca-certificates" if installs else "ca-certificates"
    assert f"installing missing packages: {wanted}\n" in done.stderr
    next_command = f"apt-get install --no-install-recommends {wanted}\n"
    assert done.returncode == 1 and f"next: mend that, then: {next_command}" in done.stderr


def test_a_cargo_that_does_not_run_is_named_and_nothing_installed(fake, tmp_path):
    """As rustup's, under a HOME that is not the one it was installed with."""
    rust(fake, "1.85.0")
    command(fake, "cargo", "echo 'error: rustup could not choose a version' >&2; exit 1")
    done = front_door(
        fake,
        "--help",
        HOME=str(tmp_path),
        SAAKM_CACHE=str(tmp_path / "c"),
        ABSENT="cargo-web ca-certificates",
    )
    assert done.returncode == 1 and "saakm: cargo does not run" in done.stderr
    assert f"{fake}/cargo, with HOME={tmp_path}: error: rustup could not choose" in done.stderr
    assert "RUSTUP_HOME" in done.stderr and "installing" not in done.stderr


def test_the_simulator_needs_no_rust(fake, tmp_path):
    """What else is missing is installed."""
    for name in ("cargo", "rustc"):
        command(fake, name, "echo 'error: rustup could not choose a version' >&2; exit 1")
    cache, absent = str(tmp_path / "c"), "cargo-web rustc-web ca-certificates"
    done = front_door(fake, "sim", "--list", HOME="", SAAKM_CACHE=cache, ABSENT=absent)
    first, second, third = done.stderr.splitlines()[:3]
    assert first.startswith("saakm: cargo does not run, which sim does without: error: rustup ")
    assert second.startswith("saakm: rustc does not run, which sim does without: error: rustup ")
    assert third == "saakm: installing missing packages: ca-certificates"


@pytest.mark.parametrize("mirror_has_it", [True, False])
def test_the_kernels_source_is_the_pinned_one_while_the_mirror_has_it(
    fake, tmp_path, mirror_has_it
):
    wanted = pinned.pin()
    found = f'[ "$*" = "show {wanted.package}={wanted.version}" ]'
    command(fake, "apt-cache", found if mirror_has_it else "exit 100")
    command(fake, "apt-get", '[ "$1" = update ]')
    done = front_door(
        fake, "--help", SAAKM_CACHE=str(tmp_path / "c"), ABSENT=f"{wanted.package} libelf-dev"
    )
    name = f"{wanted.package}={wanted.version}" if mirror_has_it else wanted.package
    assert f" {name} libelf-dev\n" in done.stderr.rpartition("then: apt-get install")[2]


def test_apt_tells_how_far_it_is_and_why_it_failed(fake, tmp_path):
    says = "echo 'pmstatus:gcc:37.5:Installing gcc' >&3; echo 'E: Write error' >&2; exit 100"
    command(fake, "apt-get", f'[ "$1" = update ] || {{ {says}; }}')
    cache_directory = tmp_path / "c"
    done = front_door(fake, "--help", SAAKM_CACHE=str(cache_directory), ABSENT="libelf-dev")
    assert done.returncode == 1
    assert re.search(r"saakm: installing packages: 37 %, \d+ s so far\n", done.stderr)
    log = cache_directory / "logs/apt.log"
    assert f"why:  E: Write error; all it said is in {log}" in done.stderr
    assert log.read_text() == "E: Write error\n"


def test_pip_tells_how_far_it_is_and_why_it_failed(fake, tmp_path):
    """Of an index that has the first package only, and a wrong one."""
    locked = re.findall(r"(?m)^(\S+)==(\S+)", (REPO / "requirements.lock").read_text())
    name, version = locked[0]
    (tmp_path / f"{name.replace('-', '_')}-{version}-py3-none-any.whl").write_text("wrong")
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "SAAKM_SKIP_PACKAGES": "1"}
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "c"), **settings)
    assert done.returncode == 1 and done.stdout == ""
    told = rf"saakm: fetching Python packages: 1 of {len(locked)}, \d+ s so far\n"
    assert re.search(told, done.stderr), done.stderr
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert "saakm: pip could not install what" in done.stderr
    assert not list((tmp_path / "c").glob("venv-*/ready"))


def test_apt_can_ask_nobody_and_holds_no_lock(fake, tmp_path):
    """A question to a terminal would wait for ever: apt's words go to its log."""
    command(fake, "apt-get", "[ ! -e /proc/self/fd/9 ] && readlink /proc/self/fd/0; exit 100")
    subprocess.run(
        [str(REPO / "saakm"), "--help"],
        capture_output=True,
        stdin=subprocess.PIPE,
        env={
            "PATH": f"{fake}:/usr/bin:/bin",
            "SAAKM_CACHE": str(tmp_path / "c"),
            "ABSENT": "libelf-dev",
        },
    )
    assert (tmp_path / "c/logs/apt.log").read_text() == "/dev/null\n"


def test_who_waits_for_another_to_prepare_the_cache_says_so(fake, tmp_path):
    for name in ("apt-get", "flock"):
        command(fake, name, f'echo "{name} $*" >>{tmp_path}/done; [ "$1" = 9 ]')
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "c"), ABSENT="libelf-dev")
    assert f"saakm: another ./saakm prepares {tmp_path}/c: waiting for it\n" in done.stderr
    assert (tmp_path / "done").read_text().startswith("flock -n 9\nflock 9\napt-get update")


def test_an_old_cargo_that_comes_before_the_packages_is_named(fake, tmp_path):
    rust(fake, "1.79.0")
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "c"))
    assert done.returncode == 1
    assert "saakm: cargo is too old" in done.stderr and f"{fake}/cargo comes before" in done.stderr
    assert "next: update it" in done.stderr


@pytest.mark.parametrize(("version", "ok"), [("1.84.0", False), ("1.85.0", True), ("2.0.1", True)])
def test_doctor_says_the_same_of_rust(fake, monkeypatch, version, ok):
    rust(fake, version)
    monkeypatch.setenv("PATH", f"{fake}:/usr/bin:/bin")
    monkeypatch.setenv("ABSENT", "cargo-web")
    finding = doctor._package("cargo-web", "cargo>=1.85", "building saakmctl")
    assert finding.ok is ok and f"{fake}/cargo {version}" in finding.detail
    assert finding.fix == ("" if ok else "apt-get install cargo-web")
    monkeypatch.setenv("ABSENT", "")
    finding = doctor._package("cargo-web", "cargo>=1.85", "building saakmctl")
    assert ok or "PATH" in finding.fix


# --- where the cache is ---

HOME = pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SAAKM_CACHE": "/x/cache", "HOME": "/h"}, "/x/cache"),
        ({"SAAKM_CACHE": "", "HOME": "/h"}, "/h/.cache/saakm"),
        ({"HOME": "/h"}, "/h/.cache/saakm"),
        ({}, f"{HOME}/.cache/saakm"),
        ({"HOME": ""}, f"{HOME}/.cache/saakm"),
        ({"SAAKM_CACHE": "build"}, None),
        ({"SAAKM_CACHE": "."}, None),
        ({"HOME": "h"}, None),
        ({"SAAKM_CACHE": "/with blank"}, None),
        ({"SAAKM_CACHE": "/with:colon"}, None),
    ],
)
def test_bash_and_python_agree_where_the_cache_is(tmp_path, environment, expected):
    """The front door up to the point where it would begin, and Python without it."""
    script = (REPO / "saakm").read_text().partition("\nfind_cache\n")[0]
    environment = {"PATH": "/usr/bin:/bin", **environment}
    bash = subprocess.run(
        ["bash", "-c", f'{script}\nfind_cache; printf %s "$SAAKM_CACHE"', "saakm"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    code = (
        "from saakm.base import cache, paths\ncache.refuse_unusable()\nprint(paths.CACHE, end='')"
    )
    python = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(REPO / "src")},
    )
    if expected:
        assert (bash.stdout, python.stdout) == (expected, expected)
    else:
        assert bash.returncode and python.returncode
        assert "cannot be the cache" in bash.stderr and "cannot be the cache" in python.stderr


def test_a_user_without_a_home_gets_a_sentence(fake):
    command(fake, "id", "echo 54321")
    done = front_door(fake, "--help")
    assert done.returncode == 1 and "there is no place for the cache" in done.stderr
    assert "SAAKM_CACHE=DIR" in done.stderr


def entries(directory):
    return {path.name for path in directory.iterdir()}


def test_a_new_cache_is_marked_and_one_that_was_marked_stays(fake, tmp_path, monkeypatch):
    front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "c"), ABSENT="gcc libelf-dev")
    assert cache.MARK in entries(tmp_path / "c")
    monkeypatch.setattr("saakm.base.paths.CACHE", tmp_path / "c")
    assert cache.is_marked()
    (tmp_path / "c" / "something new").touch()
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "c"), ABSENT="libelf-dev")
    assert "apt-get failed" in done.stderr  # it came as far as that


@pytest.mark.parametrize("stranger", ["letter.txt", ".profile", "build", "CACHEDIR.TAG"])
def test_a_directory_of_somebody_else_is_left_alone(fake, tmp_path, stranger):
    home = tmp_path / "home"
    home.mkdir()
    (home / stranger).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# of cargo\n")
    done = front_door(fake, "--help", SAAKM_CACHE=str(home), ABSENT="libelf-dev")
    assert done.returncode == 1 and "files that are not SaaKM's" in done.stderr
    assert "next: give a directory in SAAKM_CACHE that is new or empty" in done.stderr
    assert entries(home) == {stranger}


def test_the_cache_of_an_earlier_version_is_taken_over(fake, tmp_path, monkeypatch):
    old = tmp_path / "old"
    for name in ("build", "trees", "venv-0123456789ab", "cargo", "guests"):
        (old / name).mkdir(parents=True)
    (old / "venv-0123456789ab.lock").touch()
    front_door(fake, "--help", SAAKM_CACHE=str(old), ABSENT="libelf-dev")
    monkeypatch.setattr("saakm.base.paths.CACHE", old)
    assert cache.is_marked()


def test_a_cache_that_cannot_be_made_or_written(fake, tmp_path):
    (tmp_path / "file").touch()
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "file"))
    assert done.returncode == 1 and "cannot make the cache" in done.stderr
    command(fake, "cp", "echo 'cp: No space left on device' >&2; exit 1")
    done = front_door(fake, "--help", SAAKM_CACHE=str(tmp_path / "full"))
    assert "cannot write to the cache" in done.stderr and "No space left on device" in done.stderr
